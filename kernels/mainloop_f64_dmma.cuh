// fp64 on tensor cores: m16n8k8 on sm_90 (m8n8k4 runs at half its rate there), four m8n8k4 elsewhere; the same
// fragments (algorithm 3, MacLoop).
//
// An mma's rows, columns and k may be any of the tile's, as long as both operands agree, and are chosen so that
// fragments come by 16-byte loads without bank conflicts (fragment_at), those of one operand of NT and TN one by one.
#pragma once
#include "kernels/dmma_ring.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/shared_access.cuh"
#include "kernels/ptx/warpgroup.cuh"

namespace skgemm {

inline constexpr int kDmmaSums = 64;    // of a thread, at the most
inline constexpr int kSumsOfBlock = 8;  // of 16x16: two mma side by side

// Reads the fragments of blocks of one operand: for the mma's rows f[k of the two][row of the pair], for its columns
// f[column of the pair][k], in the order in which the mma wants its registers. Where neighbours in that order are
// neighbours in memory they come together, else one by one: moving them from register to register costs more.
template <bool kKMajor, bool kRows>
class FragmentReader {
  static constexpr bool kTogether = kKMajor != kRows;

 public:
  // Of the blocks from byte `first` of a stage on, from k-half `half` of a step on.
  __device__ __forceinline__ FragmentReader(int lane, int first, int half) {
#pragma unroll
    for (int s = 0; s < 2; ++s) at_[s] = first + at(dmma_smem::fragment_at(kKMajor, lane, s), half);
  }

  // A block's elements of that half or, one further, the next.
  __device__ __forceinline__ void read(double (&f)[2][2], uint32_t block, int half) const {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const uint32_t piece = block + at(at_[s], half);
      if constexpr (kTogether) {
        const double2 v = ptx::load_shared_f64x2(piece);
        f[s][0] = v.x;
        f[s][1] = v.y;
      } else {
        f[0][s] = ptx::load_shared_f64(piece);
        f[1][s] = ptx::load_shared_f64(piece + 8);
      }
    }
  }

 private:
  static __device__ __forceinline__ int at(int first, int half) { return dmma_smem::half_at(kKMajor, first, half); }

  int at_[2];
};

// Which operand the mma has for its rows: that of which fewer elements must be read one by one.
template <bool kYKMajor>
inline constexpr bool kRowsOfY = !kYKMajor;

template <bool kXKMajor, bool kYKMajor>
class MainloopDmma {
 public:
  using Sums = double (&)[kDmmaSums];

  __device__ __forceinline__ MainloopDmma(DmmaRing ring, int first_barrier)
      : ring_(ring), first_barrier_(first_barrier) {}

  // Sums of the next `steps` stages: afterwards the warp has width/16 blocks of 16x16, in the order of DmmaPlace.
  __device__ __forceinline__ void sum(Sums sums, int width, int steps) {
    switch (width / dmma_smem::kWidthStep) {
      case 1:
        return sum<true, 1>(sums, steps);
      case 2:
        return sum<true, 2>(sums, steps);
      case 3:
        return sum<true, 3>(sums, steps);
      case 4:
        return sum<true, 4>(sums, steps);
      case 6:
        return sum<false, 3>(sums, steps);
      default:
        return sum<false, 4>(sums, steps);
    }
  }

 private:
  static constexpr int kRowBlocks = 2;  // of a warp
  static constexpr bool kYRows = kRowsOfY<kYKMajor>;

  // What this thread needs of shared memory: worked out for each unit, so that it takes no registers between.
  struct Reader {
    FragmentReader<kXKMajor, !kYRows> x;
    FragmentReader<kYKMajor, kYRows> y;
  };

  template <int kColumnBlocks>
  struct Fragments {
    double x[kRowBlocks][2][2];
    double y[kColumnBlocks][2][2];
  };

  template <int kColumnBlocks>
  static __device__ __forceinline__ void read(Fragments<kColumnBlocks>& f, const Reader& from, uint32_t stage,
                                              int half) {
#pragma unroll
    for (int i = 0; i < kRowBlocks; ++i) from.x.read(f.x[i], stage + i * dmma_smem::kBlockBytes, half);
#pragma unroll
    for (int j = 0; j < kColumnBlocks; ++j) from.y.read(f.y[j], stage + j * dmma_smem::kBlockBytes, half);
  }

  // Of a block sum 4h + 2r + c is that of the mma's row r of the pair, and column h of the pair of mma column 2t + c.
  template <int kColumnBlocks>
  static __device__ __forceinline__ void multiply(Sums sums, const Fragments<kColumnBlocks>& f) {
#pragma unroll
    for (int j = 0; j < kColumnBlocks; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int i = 0; i < kRowBlocks; ++i) {
          auto& d = *reinterpret_cast<double(*)[4]>(sums + (j * kRowBlocks + i) * kSumsOfBlock + 4 * h);
          if constexpr (kYRows)
            add_product(d, f.y[j], f.x[i][h]);
          else
            add_product(d, f.x[i], f.y[j][h]);
        }
      }
    }
  }
  static __device__ __forceinline__ void add_product(double (&d)[4], const double (&rows)[2][2],
                                                     const double (&column)[2]) {
#if __CUDA_ARCH__ >= 900
    ptx::mma_m16n8k8_f64(d, {rows[0][0], rows[0][1], rows[1][0], rows[1][1]}, column);
#else
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int r = 0; r < 2; ++r) ptx::mma_m8n8k4_f64(d[2 * r], d[2 * r + 1], rows[k][r], column[k]);
    }
#endif
  }

  template <bool kSharesK, int kColumnBlocks>
  __device__ __forceinline__ void sum(Sums sums, int steps) {
#pragma unroll
    for (int i = 0; i < kRowBlocks * kColumnBlocks * kSumsOfBlock; ++i) sums[i] = 0;
    ring_.make_uniform();
    const int warp = ptx::uniform(ptx::thread_index() / 32) % dmma_smem::kConsumerWarps;
    const int lane = ptx::thread_index() % 32, part = warp / 2;
    const int first_half = kSharesK ? part : 0, first_block = kSharesK ? 0 : part * kColumnBlocks;
    const Reader from{
        FragmentReader<kXKMajor, !kYRows>(lane, warp % 2 * kRowBlocks * dmma_smem::kBlockBytes, first_half),
        FragmentReader<kYKMajor, kYRows>(lane, (dmma_smem::kRowBlocks + first_block) * dmma_smem::kBlockBytes,
                                         first_half)};
#pragma unroll 1
    for (int left = steps; left > 0; --left) {
      ring_.wait_full();
#pragma unroll
      for (int half = 0; half < (kSharesK ? 1 : 2); ++half) {
        Fragments<kColumnBlocks> f;
        read(f, from, ring_.address(), half);
        multiply(sums, f);
      }
      if (lane == 0) ptx::mbarrier_arrive(ring_.empty());
      ring_.advance();
    }
    if constexpr (kSharesK) join<kColumnBlocks>(sums);
      // No sum of the unit before lives on in a register meanwhile.
#pragma unroll
    for (int i = kRowBlocks * kColumnBlocks * kSumsOfBlock; i < kDmmaSums; ++i) sums[i] = 0;
  }

  // Of two warps with halves of k, each adds up one half of the blocks: gives the other its part of those, and moves
  // its own to the front.
  template <int kColumnBlocks>
  __device__ __forceinline__ void join(Sums sums) const {
    constexpr int kHalf = kColumnBlocks * kSumsOfBlock, kVectorBytes = 32 * 16;
    constexpr int kWarpBytes = kHalf / 2 * kVectorBytes;
    const int warp = ptx::thread_index() / 32 % dmma_smem::kConsumerWarps, lane = ptx::thread_index() % 32;
    const bool second = warp >= 2;
    const uint32_t to = ring_.end() + warp * kWarpBytes + lane * 16;
    const uint32_t from = ring_.end() + (warp ^ 2) * kWarpBytes + lane * 16;
    ptx::named_barrier<64>(first_barrier_ + warp % 2);  // the sums of the tile before are read
#pragma unroll
    for (int i = 0; i < kHalf; i += 2) {
      ptx::store_shared_f64x2(to + i / 2 * kVectorBytes, second ? sums[i] : sums[kHalf + i],
                              second ? sums[i + 1] : sums[kHalf + i + 1]);
    }
    ptx::named_barrier<64>(first_barrier_ + warp % 2);
#pragma unroll
    for (int i = 0; i < kHalf; i += 2) {
      const double2 v = ptx::load_shared_f64x2(from + i / 2 * kVectorBytes);
      sums[i] = (second ? sums[kHalf + i] : sums[i]) + v.x;
      sums[i + 1] = (second ? sums[kHalf + i + 1] : sums[i + 1]) + v.y;
    }
  }

  DmmaRing ring_;
  int first_barrier_;  // of two, for the pairs of warps that share k
};

}  // namespace skgemm
