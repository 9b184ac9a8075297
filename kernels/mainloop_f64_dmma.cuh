// fp64 on tensor cores: m16n8k8 on sm_90 (m8n8k4 runs at half its rate there), four m8n8k4 elsewhere; the same
// fragments. As for half types the mma's rows are C's columns (operand B) and its columns C's rows (operand A).
#pragma once
#include "kernels/gemm_kernel.cuh"
#include "kernels/ptx/mma.cuh"

namespace skgemm {

template <bool kAKMajor, bool kBKMajor>
struct MainloopF64 {
  using Smem = SmemLayout<DataType::f64, kAKMajor, kBKMajor>;
  using Acc = double;
  static constexpr int kWarpM = 32, kWarpN = 32, kBlocks = 2;  // a warp's extents, in blocks of 16
  static constexpr int kAccumulators = kWarpM * kWarpN / 32;
  static constexpr int kRun = 2;
  static constexpr int kSubSteps = Smem::kConfig.tile_k / 8;

  struct Fragments {
    double a[2 * kBlocks][2];  // [8-block][j]: row g at k t + 4j
    double b[kBlocks][4];      // [16-block][2*j + r]: row g + 8r at k t + 4j
  };

  __device__ __forceinline__ MainloopF64(const char* smem, int thread)
      : smem_(smem),
        a_lane_(ABlock::lane_offset(warp_m(thread), thread % 32)),
        b_lane_(BBlock::lane_offset(warp_n(thread), thread % 32)) {}

  __device__ __forceinline__ void load(Fragments& f, int stage, int sub) const {
    const char *a = smem_ + stage, *b = a + Smem::kBOffset;
#pragma unroll
    for (int block = 0; block < 2 * kBlocks; ++block) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int k = 8 * sub + 4 * j;
        f.a[block][j] = element(a + (a_lane_ ^ ABlock::flip(8 * block, k)) + ABlock::add(8 * block, k));
        f.b[block / 2][2 * j + block % 2] =
            element(b + (b_lane_ ^ BBlock::flip(8 * block, k)) + BBlock::add(8 * block, k));
      }
    }
  }

  // acc[((bi*4 + aj)*2 + r)*2 + x] is C(8*aj + 2t + x, 16*bi + g + 8r) of the warp's tile.
  static __device__ __forceinline__ void multiply(Acc (&acc)[kAccumulators], const Fragments& f) {
#pragma unroll
    for (int bi = 0; bi < kBlocks; ++bi) {
#pragma unroll
      for (int aj = 0; aj < 2 * kBlocks; ++aj) {
        auto& d = reinterpret_cast<Acc(&)[4]>(acc[(bi * 2 * kBlocks + aj) * 4]);
#if __CUDA_ARCH__ >= 900
        ptx::mma_m16n8k8_f64(d, f.b[bi], f.a[aj]);
#else
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          const int r = part % 2, j = part / 2;
          ptx::mma_m8n8k4_f64(d[2 * r], d[2 * r + 1], f.b[bi][2 * j + r], f.a[aj][j]);
        }
#endif
      }
    }
  }

  static __device__ __forceinline__ TilePoint origin(int thread) {
    const int lane = thread % 32;
    return {warp_m(thread) + lane % 4 * 2, warp_n(thread) + lane / 4};
  }
  static __device__ __forceinline__ TilePoint step(int run) {
    return {run / 2 % (2 * kBlocks) * 8, run / (4 * kBlocks) * 16 + run % 2 * 8};
  }

 private:
  using ABlock = F64Block<typename Smem::A, kAKMajor>;
  using BBlock = F64Block<typename Smem::B, kBKMajor>;
  static __device__ __forceinline__ int warp_m(int thread) { return thread / 32 % 2 * kWarpM; }
  static __device__ __forceinline__ int warp_n(int thread) { return thread / 64 * kWarpN; }

  static __device__ __forceinline__ double element(const char* at) { return *reinterpret_cast<const double*>(at); }

  const char* smem_;
  int a_lane_, b_lane_;
};

template <bool kA, bool kB>
struct MainloopOf<DataType::f64, kA, kB> {
  using Type = MainloopF64<kA, kB>;
};

}  // namespace skgemm
