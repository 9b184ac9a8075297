// Fills the ring through registers, for operands whose lines start at any address: every line segment is read as the
// aligned 16-byte pieces around it, shifted into place, and written as the TMA would have. Loads run kAhead tasks ahead
// of the stores, over the ends of steps and units, so that enough bytes are under way to hide the latency of memory.
// The four warps of the producers' warpgroup. A task is a quarter of a line: 16 elements.
#pragma once
#include "kernels/aligned_read.cuh"
#include "kernels/ptx/shared_access.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/tma_producer.cuh"

namespace skgemm {

template <bool kXKMajor, bool kYKMajor>
class RowProducer {
  static constexpr int kAhead = 3;
  static constexpr int kElements = 16, kPieces = 2;  // of a task
  static constexpr int kWords = 4 * (kPieces + 1);
  static constexpr int kParts = wgmma_smem::kBlock / kElements;  // of a line: neighbouring threads, for whole sectors
  static constexpr int kLinesPerRound = 128 / kParts;            // of all threads' tasks number i

  struct Raw {
    uint32_t word[kWords];
    int what;  // 16*elements that exist, the others being zero, + bytes of word[0] before the first. < 0: no task

    __device__ __forceinline__ int shift() const { return what & 15; }
    __device__ __forceinline__ int valid() const { return what >> 4; }

    __device__ __forceinline__ void put(int i, const uint4& piece) {
      word[4 * i] = piece.x;
      word[4 * i + 1] = piece.y;
      word[4 * i + 2] = piece.z;
      word[4 * i + 3] = piece.w;
    }
  };

 public:
  static constexpr int kArrivals = 4;  // a stage's, one a warp
  static constexpr int kQueue = 8;     // loads are fewer steps ahead of stores
  static_assert(kAhead < kQueue);

  __device__ __forceinline__ RowProducer(const WgmmaParams& p, TmaRing ring, UnitCursor::Position* parked,
                                         StepOrigin* queue, int cta)
      : p_(p),
        ring_(ring),
        cta_(cta),
        parked_(parked + ptx::thread_index() / 32),
        fetched_(queue),
        line_(ptx::thread_index() % 128 / kParts),
        part_(ptx::thread_index() % kParts),
        x_tasks_(p.x.tma ? 0 : wgmma_smem::kRows / kLinesPerRound),
        tasks_(x_tasks_ + (p.y.tma ? 0 : (p.loaded + kLinesPerRound - 1) / kLinesPerRound)),
        task_(tasks_) {}

  __device__ __forceinline__ void run() {
    Raw raw[kAhead];
    ptx::wait_for_grids_before();
#pragma unroll
    for (int i = 0; i < kAhead; ++i) fetch(raw[i]);
    while (true) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (raw[i].what < 0) return;
        store(raw[i]);
        fetch(raw[i]);
      }
    }
  }

 private:
  // ---- Loads: on to the next task.
  __device__ __forceinline__ void fetch(Raw& raw) {
    if (task_ == tasks_ && !next_step()) {
      raw.what = -1;
      return;
    }
    const Segment x = task_ < x_tasks_
                          ? segment<kXKMajor>(p_.x, p_.rows, step_.x, task_ * kLinesPerRound)
                          : segment<kYKMajor>(p_.y, p_.columns, step_.y, (task_ - x_tasks_) * kLinesPerRound);
    ++task_;
    load(raw, x);
  }

  __device__ __forceinline__ bool next_step() {
    if (steps_ == 0) {
      UnitCursor cursor(p_.schedule, cta_);
      if (begun_) cursor.resume(*parked_);
      begun_ = true;
      Unit u;
      if (!cursor.next(u)) return false;
      __syncwarp();
      *parked_ = cursor.position();  // the same from all lanes
      __syncwarp();
      step_ = origin_of(p_, u);
      steps_ = static_cast<int>(u.step_end - u.step_begin);
    } else {
      step_.k += wgmma_smem::kTileK;
    }
    --steps_;
    task_ = 0;
    if (ptx::thread_index() == 0) fetched_[fetched_steps_++ % kQueue] = step_;
    return true;
  }

  struct Segment {
    const char *from, *end;  // of this batch entry: nothing behind it is read
    int valid;               // elements that exist along k, where zeros must follow
  };
  // What a thread loads of an operand in its task for the lines from `round` on. Rows and columns that don't exist only
  // reach results that aren't stored, so the last one stands for them; what doesn't exist along k must become zero.
  template <bool kKMajor>
  __device__ __forceinline__ Segment segment(const Lines& x, int extent, int first, int round) const {
    const char* const matrix = x.data + step_.entry * x.batch_pitch;
    int across, along, valid;
    if constexpr (kKMajor) {
      across = min(first + round + line_, extent - 1);
      along = step_.k + part_ * kElements;
      valid = min(p_.k - along, kElements);
      along = min(along, p_.k - 1);
    } else {
      const int line = round + line_;
      across = step_.k + line % wgmma_smem::kBlock;
      along = min(first + line / wgmma_smem::kBlock * wgmma_smem::kBlock + part_ * kElements, extent - 1);
      valid = across < p_.k ? kElements : 0;
      across = min(across, p_.k - 1);
    }
    return {matrix + across * x.pitch + int64_t{along} * 2,
            matrix + ((kKMajor ? extent : p_.k) - 1) * x.pitch + int64_t{kKMajor ? p_.k : extent} * 2, max(valid, 0)};
  }
  static __device__ __forceinline__ void load(Raw& raw, const Segment& x) {
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(x.from) & 15);
    raw.what = x.valid << 4 | shift;
    const char* const aligned = x.from - shift;
    if (aligned + 16 * (kPieces + 1) <= x.end) {
#pragma unroll
      for (int i = 0; i <= kPieces; ++i) raw.put(i, __ldg(reinterpret_cast<const uint4*>(aligned) + i));
    } else {
#pragma unroll
      for (int i = 0; i <= kPieces; ++i) raw.put(i, read_piece(aligned + 16 * i, x.end));
    }
  }

  // ---- Stores.
  __device__ __forceinline__ void store(Raw& raw) {
    using namespace wgmma_smem;
    if (stored_ == 0) {
      ring_.wait_empty();
      if ((p_.x.tma || p_.y.tma) && ptx::thread_index() == 0) {
        TmaProducer<kXKMajor, kYKMajor>::copy(p_, ring_, fetched_[stored_steps_++ % kQueue]);
      }
      __syncwarp();
    }
    shift(raw);
    const int line = line_ + (stored_ < x_tasks_ ? stored_ : stored_ - x_tasks_) * kLinesPerRound;
    if (stored_ < x_tasks_ || line < p_.loaded) {
      const uint32_t to = ring_.address() + (stored_ < x_tasks_ ? 0 : kXBytes) + line * kLineBytes;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        ptx::store_shared_16(to + (((kPieces * part_ + i) ^ (line & 7)) << 4),
                             {raw.word[4 * i], raw.word[4 * i + 1], raw.word[4 * i + 2], raw.word[4 * i + 3]});
      }
    }
    if (++stored_ == tasks_) {
      ptx::fence_shared_for_async();
      __syncwarp();
      if (ptx::thread_index() % 32 == 0) ptx::mbarrier_arrive(ring_.full());
      ring_.advance();
      stored_ = 0;
    }
  }
  // The task's elements to the front of its words, zeros behind those that exist.
  static __device__ __forceinline__ void shift(Raw& raw) {
    uint32_t(&w)[kWords] = raw.word;
    shift_down(w, raw.shift());
    if (raw.valid() < kElements) {
#pragma unroll
      for (int i = 0; i < kElements / 2; ++i) {
        if (2 * i + 1 >= raw.valid()) w[i] = 2 * i < raw.valid() ? w[i] & 0xffff : 0;
      }
    }
  }

  const WgmmaParams& p_;
  TmaRing ring_;
  const int cta_;
  UnitCursor::Position* const parked_;  // this warp's: where the walk over the units stands
  bool begun_ = false;
  StepOrigin* const fetched_;  // thread 0's: the steps whose loads have begun, for the other operand's TMA
  unsigned fetched_steps_ = 0, stored_steps_ = 0;
  const int line_, part_;
  const int x_tasks_, tasks_;  // of a thread in a step
  StepOrigin step_{};          // where the loads are
  int steps_ = 0, task_;       // what they have left of the unit, and the next task of the step
  int stored_ = 0;             // tasks of the step that are in the ring
};

}  // namespace skgemm
