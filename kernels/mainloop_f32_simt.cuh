// Exact fp32 on CUDA cores: 8x8 results a thread, operands as 16-byte loads along m and n. Both tiles lie in shared
// memory as k lines of neighbouring m or n (a k-major operand is transposed by the copy), so every load is free of
// conflicts: the eight lanes along m read 128 consecutive bytes, the four along n read 64, the rest is broadcast.
#pragma once
#include "kernels/gemm_kernel.cuh"

namespace skgemm {

template <bool kAKMajor, bool kBKMajor>
struct MainloopF32 {
  using Smem = SmemLayout<DataType::f32, kAKMajor, kBKMajor>;
  using Acc = float;
  static constexpr int kWarpM = 64, kWarpN = 32;  // 8 x 4 lanes, each with two groups of 4 both ways
  static constexpr int kAccumulators = 64;
  static constexpr int kRun = 4;
  static constexpr int kSubSteps = Smem::kConfig.tile_k;

  struct Fragments {
    float4 a[2], b[2];
  };

  __device__ __forceinline__ MainloopF32(const char* smem, int thread)
      : a_(smem + Smem::A::offset_of_k(0, lane_m(thread))),
        b_(smem + Smem::kBOffset + Smem::B::offset_of_k(0, lane_n(thread))) {}

  __device__ __forceinline__ void load(Fragments& f, int stage, int sub) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      f.a[half] = *reinterpret_cast<const float4*>(a_ + stage + Smem::A::offset_of_k(sub, half * kWarpM / 2));
      f.b[half] = *reinterpret_cast<const float4*>(b_ + stage + Smem::B::offset_of_k(sub, half * kWarpN / 2));
    }
  }

  static __device__ __forceinline__ void multiply(Acc (&acc)[kAccumulators], const Fragments& f) {
    const float a[8] = {f.a[0].x, f.a[0].y, f.a[0].z, f.a[0].w, f.a[1].x, f.a[1].y, f.a[1].z, f.a[1].w};
    const float b[8] = {f.b[0].x, f.b[0].y, f.b[0].z, f.b[0].w, f.b[1].x, f.b[1].y, f.b[1].z, f.b[1].w};
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int m = 0; m < 8; ++m) acc[n * 8 + m] = fmaf(a[m], b[n], acc[n * 8 + m]);
    }
  }

  static __device__ __forceinline__ TilePoint origin(int thread) { return {lane_m(thread), lane_n(thread)}; }
  static __device__ __forceinline__ TilePoint step(int run) {
    const int n = run / 2;
    return {run % 2 * (kWarpM / 2), n / 4 * (kWarpN / 2) + n % 4};
  }

 private:
  // Eight lanes along m read 128 neighbouring bytes, four along n 64; the other lanes' reads are broadcasts.
  static __device__ __forceinline__ int lane_m(int thread) {
    return thread / 32 % 2 * kWarpM + thread % 32 / 2 % 8 * 4;
  }
  static __device__ __forceinline__ int lane_n(int thread) {
    return thread / 64 * kWarpN + (thread % 32 / 16 * 2 + thread % 2) * 4;
  }

  const char *a_, *b_;  // this lane's first elements of stage 0
};

template <bool kA, bool kB>
struct MainloopOf<DataType::f32, kA, kB> {
  using Type = MainloopF32<kA, kB>;
};

}  // namespace skgemm
