// Fills the ring: an operand by TMA where it takes it (sm_90), else by cp.async, lines at any multiple of 8 bytes.
// Elsewhere in pieces of 16 bytes where all lines start at such.
#pragma once
#include "kernels/dmma_ring.cuh"
#include "kernels/element.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/tma.cuh"

namespace skgemm {

// One operand's part of a stage: blocks of 16 rows (or columns) by 16 k. What does not exist is not read: k
// past the end becomes zeros; of rows past the end nothing is used, so that they hold copies of others or what was
// there.
template <bool kKMajor, int kPiece>
class BlockCopier {
  static constexpr int kElements = kPiece / 8;                          // of a piece
  static constexpr int kPieces = dmma_smem::kLineBytes / kPiece;        // of a line
  static constexpr int kLines = dmma_smem::kProducerThreads / kPieces;  // that all threads copy at a time
  static constexpr int kPasses = dmma_smem::kBlock / kLines;
  static constexpr int kMostBlocks = dmma_smem::kMaxWidth / dmma_smem::kBlock;

 public:
  static constexpr bool kBoxes = false;
  __device__ __forceinline__ BlockCopier(const CopiedLines& x, int thread)
      : x_(x), piece_(thread % kPieces), line_(thread / kPieces) {
    at_ = dmma_smem::piece_at(line_, piece_ * kPiece / 16) + piece_ * kPiece % 16;
  }

  // To the tile that begins at row (or column) `first`, at k-step `step`.
  __device__ __forceinline__ void seek(int64_t first, int entry, int step) {
    extent_ = static_cast<int>(min(x_.extent - first, int64_t{dmma_smem::kMaxWidth}));
    const int64_t k = int64_t{step} * dmma_smem::kTileK;
    from_ = x_.data + entry * x_.batch_pitch;
    if constexpr (kKMajor)
      from_ += min(first + line_, x_.extent - 1) * x_.pitch + (k + piece_ * kElements) * 8;
    else
      from_ += (k + line_) * x_.pitch + (first + piece_ * kElements) * 8;
  }

  // A step, of which `k_left` elements of k exist, to shared memory at `to`.
  __device__ __forceinline__ void copy(uint32_t to, int blocks, int k_left) const {
    if (k_left >= dmma_smem::kTileK && extent_ >= blocks * dmma_smem::kBlock)
      copy<true>(to + at_, blocks, k_left);
    else
      copy<false>(to + at_, blocks, k_left);
  }
  __device__ __forceinline__ void advance() {
    from_ += kKMajor ? int64_t{dmma_smem::kTileK * 8} : dmma_smem::kTileK * x_.pitch;
  }

 private:
  template <bool kWhole>
  __device__ __forceinline__ void copy(uint32_t to, int blocks, int k_left) const {
    const char* from = from_;
    const int64_t walk = kLines * x_.pitch;
    if constexpr (kKMajor) {  // a line is a row: walks rows, as far as there are any
#pragma unroll
      for (int block = 0; block < kMostBlocks; ++block) {
        if (block >= blocks) break;
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
          copy_piece<kWhole>(place(to, block, pass), from, k_left > piece_ * kElements);
          if (kWhole || line_ + block * dmma_smem::kBlock + (pass + 1) * kLines < extent_) from += walk;
        }
      }
    } else {  // a line is one k: walks k
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
        for (int block = 0; block < kMostBlocks; ++block) {
          if (block >= blocks) break;
          const int row = block * dmma_smem::kBlock;
          copy_piece<kWhole>(place(to, block, pass), from + row * 8,
                             k_left > line_ + pass * kLines && extent_ > row + piece_ * kElements);
        }
        from += walk;
      }
    }
  }

  template <bool kWhole>
  static __device__ __forceinline__ void copy_piece(uint32_t to, const char* from, bool exists) {
    if constexpr (kWhole)
      ptx::cp_async<kPiece>(to, from);
    else
      ptx::cp_async_or_zero<kPiece>(to, from, exists);
  }
  // Where the line of a block is that is `pass` passes behind the first.
  static __device__ __forceinline__ uint32_t place(uint32_t to, int block, int pass) {
    const int line = pass * kLines;
    return (to ^ (line & 7) << 4) + block * dmma_smem::kBlockBytes + line * dmma_smem::kLineBytes;
  }

  const CopiedLines& x_;
  int piece_, line_, extent_ = 0;
  uint32_t at_;
  const char* from_ = nullptr;
};

// The same by TMA: all rows and k of the boxes, zeros where none exist.
template <bool kKMajor>
class BoxLoader {
 public:
  static constexpr bool kBoxes = true;
  __device__ __forceinline__ BoxLoader(const CopiedLines& x, int thread) : x_(x) {}

  __device__ __forceinline__ void seek(int64_t first, int entry, int step) {
    first_ = static_cast<int>(first);
    k_ = step * dmma_smem::kTileK;
    entry_ = x_.batch_pitch == 0 ? 0 : entry;
  }
  // By one thread, that has told the barrier of the bytes.
  __device__ __forceinline__ void load(uint32_t to, int blocks, uint32_t barrier) const {
    if constexpr (kKMajor) {
      ptx::tma_load(to, &x_.map, barrier, k_, first_, entry_);
    } else {
#pragma unroll 1
      for (int row = first_; blocks > 0; --blocks, row += dmma_smem::kBlock, to += dmma_smem::kBlockBytes)
        ptx::tma_load(to, &x_.map, barrier, row, k_, entry_);
    }
  }
  __device__ __forceinline__ void advance() { k_ += dmma_smem::kTileK; }

 private:
  const CopiedLines& x_;
  int first_ = 0, k_ = 0, entry_ = 0;
};

// Brings both operands of each k-step of the worker's units, and tells the consumers of the units.
template <bool kXKMajor, bool kYKMajor>
class CopyProducer {
 public:
  __device__ __forceinline__ CopyProducer(const DmmaParams& p, DmmaRing ring, DmmaUnitQueue units, int thread)
      : p_(p), ring_(ring), units_(units), thread_(thread) {}

  // How many arrivals fill a stage: of the thread that loads by TMA, and of all that copy.
  static __device__ __forceinline__ int filling(const DmmaParams& p) {
    return (p.x.boxed || p.y.boxed ? 1 : 0) + (p.x.boxed && p.y.boxed ? 0 : dmma_smem::kProducerThreads);
  }

  // alpha == 0: neither A nor B is read, they may be no memory at all (BLAS), and the consumers wait for no stage.
  __device__ __forceinline__ void run(int worker) {
    const bool reads = read_scalar<double>(p_.alpha) != 0;
#if __CUDA_ARCH__ == 900
    if (p_.x.boxed && p_.y.boxed) {
      if (thread_ < 32 && ptx::elect_one()) produce<BoxLoader<kXKMajor>, BoxLoader<kYKMajor>>(worker, reads);
    } else if (p_.x.boxed) {
      produce<BoxLoader<kXKMajor>, BlockCopier<kYKMajor, 8>>(worker, reads);
    } else if (p_.y.boxed) {
      produce<BlockCopier<kXKMajor, 8>, BoxLoader<kYKMajor>>(worker, reads);
    } else {
      produce<BlockCopier<kXKMajor, 8>, BlockCopier<kYKMajor, 8>>(worker, reads);
    }
#else
    if (p_.wide)
      produce<BlockCopier<kXKMajor, 16>, BlockCopier<kYKMajor, 16>>(worker, reads);
    else
      produce<BlockCopier<kXKMajor, 8>, BlockCopier<kYKMajor, 8>>(worker, reads);
#endif
  }

 private:
  template <class X, class Y>
  static constexpr bool kAllBoxes = X::kBoxes&& Y::kBoxes;                  // and one thread does it all
  static constexpr int kXBytes = dmma_smem::kRows * dmma_smem::kLineBytes;  // of a stage, then Y's

  template <class X, class Y>
  __device__ __forceinline__ void produce(int worker, bool reads) {
    X x(p_.x, thread_);
    Y y(p_.y, thread_);
    ShortUnitCursor cursor(p_.schedule, worker);
    ShortUnit unit;
    while (cursor.next(unit)) {
      const TileOrigin origin = origin_of(p_, unit);
      if (kAllBoxes<X, Y> || thread_ == 0) units_.push(queued(p_, origin, unit, cursor.done()));
      if (!reads) continue;
      x.seek(origin.x, origin.entry, unit.step_begin);
      y.seek(origin.y, origin.entry, unit.step_begin);
#pragma unroll 1
      for (int step = unit.step_begin; step < unit.step_end; ++step) {
        ring_.wait_empty();
        fill(x, y, step + 1 < p_.schedule.space.steps ? dmma_smem::kTileK : p_.last_k);
        ring_.advance();
      }
    }
  }

  template <class X, class Y>
  __device__ __forceinline__ void fill(X& x, Y& y, int k_left) {
    const uint32_t to = ring_.address();
    const int columns = p_.width / dmma_smem::kBlock;
    if constexpr (X::kBoxes || Y::kBoxes) {
      // Beside copies by all, warps take turns: one that loads by TMA is late for its own copies.
      if (kAllBoxes<X, Y> || (thread_ / 32 == ring_.stage() % dmma_smem::kProducerWarps && ptx::elect_one())) {
        ptx::mbarrier_arrive_expect(ring_.full(),
                                    (X::kBoxes ? kXBytes : 0) + (Y::kBoxes ? columns * dmma_smem::kBlockBytes : 0));
        if constexpr (X::kBoxes) x.load(to, dmma_smem::kRowBlocks, ring_.full());
        if constexpr (Y::kBoxes) y.load(to + kXBytes, columns, ring_.full());
      }
    }
    if constexpr (!X::kBoxes) x.copy(to, dmma_smem::kRowBlocks, k_left);
    if constexpr (!Y::kBoxes) y.copy(to + kXBytes, columns, k_left);
    if constexpr (!kAllBoxes<X, Y>) ptx::cp_async_arrive(ring_.full());
    x.advance();
    y.advance();
  }

  const DmmaParams& p_;
  DmmaRing ring_;
  DmmaUnitQueue units_;
  int thread_;
};

}  // namespace skgemm
