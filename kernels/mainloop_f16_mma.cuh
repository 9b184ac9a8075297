// fp16 and bf16 on tensor cores with fp32 sums: mma.sync m16n8k16 from ldmatrix fragments.
// C is column-major and an mma hands each thread pairs of neighbouring columns, so the transposed product is computed:
// the mma's rows are C's columns (operand B) and its columns are C's rows (operand A).
#pragma once
#include "kernels/gemm_kernel.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/mma.cuh"

namespace skgemm {

template <DataType kIn, bool kAKMajor, bool kBKMajor>
struct MainloopHalf {
  using Smem = SmemLayout<kIn, kAKMajor, kBKMajor>;
  using Acc = float;
  static constexpr int kWarpM = 64, kWarpN = 64, kBlocks = 4;  // a warp's extents, in blocks of 16
  static constexpr int kAccumulators = kWarpM * kWarpN / 32;
  static constexpr int kRun = 2;  // neighbouring accumulators that lie along m
  static constexpr int kSubSteps = Smem::kConfig.tile_k / 16;

  struct Fragments {
    uint32_t a[kBlocks][4], b[kBlocks][4];
  };

  __device__ __forceinline__ MainloopHalf(const char* smem, int thread)
      : a_row_(ptx::shared_address(smem) + ABlock::lane_offset(warp_m(thread), thread % 32)),
        b_row_(ptx::shared_address(smem) + Smem::kBOffset + BBlock::lane_offset(warp_n(thread), thread % 32)) {}

  __device__ __forceinline__ void load(Fragments& f, int stage, int sub) const {
    const uint32_t a = a_row_ + stage,
                   b = b_row_ + stage;  // stages start at multiples of 128, so that the XOR may come last
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      load_block<kAKMajor>(f.a[i], (a ^ ABlock::flip(16 * i, 16 * sub)) + ABlock::add(16 * i, 16 * sub));
      load_block<kBKMajor>(f.b[i], (b ^ BBlock::flip(16 * i, 16 * sub)) + BBlock::add(16 * i, 16 * sub));
    }
  }

  // acc[(bi*8 + aj)*4 + 2h + e] is C(16-block aj/2, half aj%2, 2t + e; 16-block bi, row g + 8h).
  static __device__ __forceinline__ void multiply(Acc (&acc)[kAccumulators], const Fragments& f) {
    multiply_half(acc, f, 0);
    multiply_half(acc, f, 1);
  }
  static __device__ __forceinline__ void multiply_half(Acc (&acc)[kAccumulators], const Fragments& f, int half) {
#pragma unroll
    for (int bi = half * kBlocks / 2; bi < (half + 1) * kBlocks / 2; ++bi) {
#pragma unroll
      for (int i = 0; i < 2 * kBlocks; ++i) {
        const int aj = bi % 2 == 0 ? i : 2 * kBlocks - 1 - i;  // serpentine: neighbours share a register operand
        auto& d = reinterpret_cast<Acc(&)[4]>(acc[(bi * 2 * kBlocks + aj) * 4]);
        const uint32_t* b = f.a[aj / 2] + aj % 2 * 2;
        if constexpr (kIn == DataType::f16)
          ptx::mma_m16n8k16_f16(d, f.b[bi], b[0], b[1]);
        else
          ptx::mma_m16n8k16_bf16(d, f.b[bi], b[0], b[1]);
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
  using ABlock = HalfBlock<typename Smem::A, kAKMajor, false>;
  using BBlock = HalfBlock<typename Smem::B, kBKMajor, true>;
  static __device__ __forceinline__ int warp_m(int thread) { return thread / 32 % 2 * kWarpM; }
  static __device__ __forceinline__ int warp_n(int thread) { return thread / 64 * kWarpN; }

  template <bool kKMajor>
  static __device__ __forceinline__ void load_block(uint32_t (&r)[4], uint32_t row) {
    if constexpr (kKMajor)
      ptx::ldmatrix_x4(r, row);
    else
      ptx::ldmatrix_x4_trans(r, row);
  }

  uint32_t a_row_, b_row_;  // what this lane gives to ldmatrix for the warp's first blocks of stage 0
};

template <bool kA, bool kB>
struct MainloopOf<DataType::f16, kA, kB> {
  using Type = MainloopHalf<DataType::f16, kA, kB>;
};
template <bool kA, bool kB>
struct MainloopOf<DataType::bf16, kA, kB> {
  using Type = MainloopHalf<DataType::bf16, kA, kB>;
};

}  // namespace skgemm
