// Fills the ring through registers, for operands whose lines start at any address: every line segment is read as the
// aligned 16-byte pieces around it, shifted into place, and written as the TMA would have. Loads run kAhead tasks ahead
// of the stores, over the ends of steps and units, so that enough bytes are under way to hide the latency of memory.
// The four warps of the producers' warpgroup. A task is half a line: 32 elements.
#pragma once
#include "kernels/ptx/thread_index.cuh"
#include "kernels/tma_producer.cuh"

namespace skgemm {

template <bool kXKMajor, bool kYKMajor>
class RowProducer {
  static constexpr int kAhead = 2;
  static constexpr int kElements = 32, kPieces = 4;  // of a task
  static constexpr int kWords = 4 * (kPieces + 1);
  static constexpr int kLinesPerRound = 64;  // of all threads' tasks number i

  struct Raw {
    uint32_t word[kWords];
    int shift;  // bytes
    int valid;  // elements that exist; the others are zero. < 0: no task
  };

 public:
  static constexpr int kArrivals = 4;  // a stage's, one a warp
  static constexpr int kQueue = 4;     // loads are fewer steps ahead of stores
  static_assert(kAhead < kQueue);

  __device__ __forceinline__ RowProducer(const WgmmaParams& p, TmaRing ring, StepOrigin* queue, int64_t cta)
      : p_(p),
        ring_(ring),
        cursor_(p.schedule, cta),
        fetched_(queue),
        line_(ptx::thread_index() % 128 / 2),
        half_(ptx::thread_index() % 2),
        x_tasks_(p.x.tma ? 0 : wgmma_smem::kRows / kLinesPerRound),
        tasks_(x_tasks_ + (p.y.tma ? 0 : (p.loaded + kLinesPerRound - 1) / kLinesPerRound)),
        task_(tasks_) {}

  __device__ __forceinline__ void run() {
    Raw raw[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) fetch(raw[i]);
    while (true) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (raw[i].valid < 0) return;
        store(raw[i]);
        fetch(raw[i]);
      }
    }
  }

 private:
  // ---- Loads: on to the next task.
  __device__ __forceinline__ void fetch(Raw& raw) {
    if (task_ == tasks_ && !next_step()) {
      raw.valid = -1;
      return;
    }
    if (task_ < x_tasks_)
      fetch<kXKMajor>(raw, p_.x, p_.rows, step_.x, line_ + task_ * kLinesPerRound, wgmma_smem::kRows);
    else
      fetch<kYKMajor>(raw, p_.y, p_.columns, step_.y, line_ + (task_ - x_tasks_) * kLinesPerRound, p_.loaded);
    ++task_;
  }

  __device__ __forceinline__ bool next_step() {
    if (steps_ == 0) {
      Unit u;
      if (!cursor_.next(u)) return false;
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

  // `line`: of the tile in shared memory, of `lines`; `first`: the tile's first row or column, of `extent`.
  template <bool kKMajor>
  __device__ __forceinline__ void fetch(Raw& raw, const Lines& x, int64_t extent, int first, int line, int lines) {
    using namespace wgmma_smem;
    const int mn = first + (kKMajor ? line : line / kBlock * kBlock + half_ * kElements);
    const int k = step_.k + (kKMajor ? half_ * kElements : line % kBlock);
    const int along = kKMajor ? k : mn, across = kKMajor ? mn : k;
    const int along_end = static_cast<int>(kKMajor ? p_.k : extent);
    const int across_end = static_cast<int>(kKMajor ? extent : p_.k);
    const bool exists = across < across_end && along < along_end && line < lines;
    raw.valid = exists ? min(along_end - along, kElements) : 0;
    const char* const matrix = x.data + step_.entry * x.batch_pitch;
    const char* const from = matrix + across * x.pitch + int64_t{along} * 2;
    // The end of this batch entry: nothing behind it is read.
    const char* const end = matrix + (across_end - 1) * x.pitch + int64_t{along_end} * 2;
    raw.shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
    const char* const aligned = from - raw.shift;
    const int bytes = exists ? raw.shift + 2 * raw.valid : 0;
#pragma unroll
    for (int i = 0; i <= kPieces; ++i) {
      uint4 piece{};
      if (16 * i < bytes) {
        if (aligned + 16 * i + 16 <= end)
          piece = __ldg(reinterpret_cast<const uint4*>(aligned + 16 * i));
        else
          piece = part_of_piece(aligned + 16 * i, end);
      }
      raw.word[4 * i] = piece.x;
      raw.word[4 * i + 1] = piece.y;
      raw.word[4 * i + 2] = piece.z;
      raw.word[4 * i + 3] = piece.w;
    }
  }
  // The elements of 16 bytes that come before `end`.
  static __device__ __forceinline__ uint4 part_of_piece(const char* from, const char* end) {
    uint4 piece{};
#pragma unroll 1
    for (int e = static_cast<int>(end - from) / 2 - 1; e >= 0; --e) {
      const uint32_t element = __ldg(reinterpret_cast<const uint16_t*>(from) + e);
      piece = {piece.x << 16 | element, __funnelshift_l(piece.x, piece.y, 16), __funnelshift_l(piece.y, piece.z, 16),
               __funnelshift_l(piece.z, piece.w, 16)};
    }
    return piece;
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
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to + (((kPieces * half_ + i) ^ (line & 7)) << 4)),
                     "r"(raw.word[4 * i]), "r"(raw.word[4 * i + 1]), "r"(raw.word[4 * i + 2]), "r"(raw.word[4 * i + 3])
                     : "memory");
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
#pragma unroll
    for (int i = 0; i < kWords - 2; ++i) w[i] = raw.shift & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < kWords - 3; ++i) w[i] = raw.shift & 4 ? w[i + 1] : w[i];
#pragma unroll
    for (int i = 0; i < kElements / 2; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], (raw.shift & 2) * 8);
    if (raw.valid < kElements) {
#pragma unroll
      for (int i = 0; i < kElements / 2; ++i) {
        if (2 * i + 1 >= raw.valid) w[i] = 2 * i < raw.valid ? w[i] & 0xffff : 0;
      }
    }
  }

  const WgmmaParams& p_;
  TmaRing ring_;
  UnitCursor cursor_;
  StepOrigin* const fetched_;  // thread 0's: the steps whose loads have begun, for the other operand's TMA
  unsigned fetched_steps_ = 0, stored_steps_ = 0;
  const int line_, half_;
  const int x_tasks_, tasks_;  // of a thread in a step
  StepOrigin step_{};          // where the loads are
  int steps_ = 0, task_;       // what they have left of the unit, and the next task of the step
  int stored_ = 0;             // tasks of the step that are in the ring
};

}  // namespace skgemm
