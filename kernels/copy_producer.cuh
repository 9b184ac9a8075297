// Fills the ring by cp.async: lines at any multiple of 8 bytes, in pieces of 16 bytes where all lines start at such.
#pragma once
#include "kernels/dmma_ring.cuh"
#include "kernels/element.cuh"
#include "kernels/ptx/cp_async.cuh"

namespace skgemm {

// One operand's part of a stage: up to four blocks of 16 rows (or columns) by 16 k. What does not exist is not read: k
// past the end becomes zeros; of rows past the end nothing is used, so that they hold copies of others or what was
// there.
template <bool kKMajor, int kPiece>
class BlockCopier {
  static constexpr int kElements = kPiece / 8;                                   // of a piece
  static constexpr int kPieces = dmma_smem::kLineBytes / kPiece;                 // of a line
  static constexpr int kLines = dmma_smem::kProducerThreads / kPieces;           // that all threads copy at a time
  static constexpr int kPasses = dmma_smem::kBlock / kLines;
  static constexpr int kMostBlocks = dmma_smem::kRowBlocks;
  static_assert(dmma_smem::kMaxWidth <= kMostBlocks * dmma_smem::kBlock);

 public:
  __device__ __forceinline__ BlockCopier(const CopiedLines& x, int thread)
      : x_(x), piece_(thread % kPieces), line_(thread / kPieces) {
    const int chunk = piece_ * kPiece / 16;
    at_ = line_ * dmma_smem::kLineBytes + ((chunk ^ (line_ & 7)) << 4) + piece_ * kPiece % 16;
  }

  // To the tile that begins at row (or column) `first`, at k-step `step`.
  __device__ __forceinline__ void seek(int64_t first, int entry, int step) {
    extent_ = static_cast<int>(min(x_.extent - first, int64_t{dmma_smem::kRows}));
    const int64_t k = int64_t{step} * dmma_smem::kTileK;
    from_ = x_.data + entry * x_.batch_pitch;
    if constexpr (kKMajor)
      from_ += min(first + line_, x_.extent - 1) * x_.pitch + (k + piece_ * kElements) * 8;
    else
      from_ += (k + line_) * x_.pitch + (first + piece_ * kElements) * 8;
  }

  // The next step, of which `k_left` elements of k exist, to shared memory at `to`.
  __device__ __forceinline__ void copy(uint32_t to, int blocks, int k_left) {
    if (k_left >= dmma_smem::kTileK && extent_ >= blocks * dmma_smem::kBlock)
      copy<true>(to + at_, blocks, k_left);
    else
      copy<false>(to + at_, blocks, k_left);
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

// Copies both operands of each k-step of the worker's units, and tells the consumers the units of all but the first
// one.
template <bool kXKMajor, bool kYKMajor>
class CopyProducer {
 public:
  __device__ __forceinline__ CopyProducer(const DmmaParams& p, DmmaRing ring, DmmaUnitQueue units, int thread)
      : p_(p), ring_(ring), units_(units), thread_(thread) {}

  // alpha == 0: neither A nor B is read, they may be no memory at all (BLAS), and the consumers wait for no stage.
  __device__ __forceinline__ void run(int worker) {
    const bool reads = read_scalar<double>(p_.alpha) != 0;
    if (p_.wide)
      run<16>(worker, reads);
    else
      run<8>(worker, reads);
  }

 private:
  template <int kPiece>
  __device__ __forceinline__ void run(int worker, bool reads) {
    BlockCopier<kXKMajor, kPiece> x(p_.x, thread_);
    BlockCopier<kYKMajor, kPiece> y(p_.y, thread_);
    ShortUnitCursor cursor(p_.schedule, worker);
    ShortUnit unit;
    while (cursor.next(unit)) {
      const TileOrigin origin = origin_of(p_, unit);
      if (thread_ == 0) units_.push(queued(p_, origin, unit, cursor.done()));
      if (!reads) continue;
      x.seek(origin.x, origin.entry, unit.step_begin);
      y.seek(origin.y, origin.entry, unit.step_begin);
      ring_.make_uniform();
#pragma unroll 1
      for (int step = unit.step_begin; step < unit.step_end; ++step) {
        const int k_left = static_cast<int>(min(p_.k - int64_t{step} * dmma_smem::kTileK, int64_t{dmma_smem::kTileK}));
        ring_.wait_empty();
        x.copy(ring_.address(), dmma_smem::kRowBlocks, k_left);
        y.copy(ring_.address() + dmma_smem::kRows * dmma_smem::kLineBytes, p_.width / dmma_smem::kBlock, k_left);
        ptx::cp_async_arrive(ring_.full());
        ring_.advance();
      }
    }
  }

  const DmmaParams& p_;
  DmmaRing ring_;
  DmmaUnitQueue units_;
  int thread_;
};

}  // namespace skgemm
