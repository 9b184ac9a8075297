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
  FragmentReader() = default;
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

  __device__ __forceinline__ MainloopDmma(DmmaRing ring, int width, int first_barrier)
      : ring_(ring), first_barrier_(first_barrier) {
    const int warp = ptx::uniform(ptx::thread_index() / 32) % dmma_smem::kConsumerWarps;
    const int lane = ptx::thread_index() % 32, part = warp / 2;
    const bool shares_k = dmma_smem::shares_k(width);
    const int half = shares_k ? part : 0;
    const int block = dmma_smem::kRowBlocks + (shares_k ? 0 : part * (width / 2 / dmma_smem::kBlock));
    from_ = {FragmentReader<kXKMajor, !kYRows>(lane, warp % 2 * kRowBlocks * dmma_smem::kBlockBytes, half),
             FragmentReader<kYKMajor, kYRows>(lane, block * dmma_smem::kBlockBytes, half)};
  }

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
  static constexpr int kRowBlocks = 2;                                            // of a warp
  static constexpr int kVectorBytes = 32 * 16, kBlockVectors = kSumsOfBlock / 2;  // as warps exchange sums
  static constexpr bool kYRows = kRowsOfY<kYKMajor>;

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
    // A stage is given back after the wait for the next one, not behind its loads: an arrival overtakes loads issued
    // before it, but the multiplications issued by then have waited for theirs.
    uint32_t behind = 0;
#pragma unroll 1
    for (int left = steps; left > 0; --left) {
      ring_.wait_full();
      if (ptx::lane_index() == 0 && behind != 0) ptx::mbarrier_arrive(behind);
#pragma unroll 1
      for (int half = 0; half < (kSharesK ? 1 : 2); ++half) {
        Fragments<kColumnBlocks> f;
        read(f, from_, ring_.address(), half);
        multiply(sums, f);
      }
      behind = ring_.empty();
      ring_.advance();
    }
    if (ptx::lane_index() == 0 && behind != 0) ptx::mbarrier_arrive(behind);
    if constexpr (kSharesK) join<kColumnBlocks>(sums);
      // The others are undefined: no sum of the unit before lives on in a register meanwhile.
#pragma unroll
    for (int i = kRowBlocks * kColumnBlocks * kSumsOfBlock; i < kDmmaSums; ++i) asm volatile("" : "=d"(sums[i]));
  }

  // Of two warps with halves of k, each adds up one of the two rows of blocks: gives the other its part of the other
  // row, and moves its own to the front.
  template <int kColumnBlocks>
  __device__ __forceinline__ void join(Sums sums) const {
    const int warp = ptx::uniform(ptx::thread_index() / 32) % dmma_smem::kConsumerWarps;
    const uint32_t all = ring_.end() + ptx::lane_index() * kVectorBytes / 32;
    constexpr int kWarpBytes = kColumnBlocks * kBlockVectors * kVectorBytes;
    const uint32_t to = all + warp * kWarpBytes, from = all + (warp ^ 2) * kWarpBytes;
    const int barrier = first_barrier_ + warp % 2;
    if (warp < 2)
      join<kColumnBlocks, 0>(sums, to, from, barrier);
    else
      join<kColumnBlocks, 1>(sums, to, from, barrier);
  }
  template <int kColumnBlocks, int kOwn>
  static __device__ __forceinline__ void join(Sums sums, uint32_t to, uint32_t from, int barrier) {
    ptx::named_barrier<64>(barrier);  // the sums of the tile before are read
#pragma unroll
    for (int i = 0; i < kColumnBlocks * kBlockVectors; ++i) {
      const double* const v = sums + (i / kBlockVectors * kRowBlocks + 1 - kOwn) * kSumsOfBlock + i % kBlockVectors * 2;
      ptx::store_shared_f64x2(to + i * kVectorBytes, v[0], v[1]);
    }
    ptx::named_barrier<64>(barrier);
#pragma unroll
    for (int i = 0; i < kColumnBlocks * kBlockVectors; ++i) {
      const double* const own = sums + (i / kBlockVectors * kRowBlocks + kOwn) * kSumsOfBlock + i % kBlockVectors * 2;
      const double2 v = ptx::load_shared_f64x2(from + i * kVectorBytes);
      sums[2 * i] = own[0] + v.x;
      sums[2 * i + 1] = own[1] + v.y;
    }
  }

  DmmaRing ring_;
  Reader from_;        // what this thread reads of a stage
  int first_barrier_;  // of two, for the pairs of warps that share k
};

}  // namespace skgemm
