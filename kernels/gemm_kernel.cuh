// The gemm kernel: cta_main driven by device operations.
#pragma once
#include "kernels/device_ops.cuh"

namespace skgemm {

template <DataType kIn, bool kAKMajor, bool kBKMajor>
__global__ void __launch_bounds__(config_of(kIn).threads, config_of(kIn).ctas_per_sm)
    gemm(const __grid_constant__ GemmParams params) {
  extern __shared__ __align__(128) char smem[];
  // From shared memory the walk's quotients are worked out when they're needed, not kept in registers for the whole
  // kernel.
  __shared__ ShortSchedule schedule;
  if (threadIdx.x == 0) schedule = params.schedule;
  __syncthreads();
  DeviceOps<kIn, kAKMajor, kBKMajor> ops(params, schedule, smem);
  cta_main(ops, schedule, static_cast<int32_t>(blockIdx.x));
}

template <DataType kIn>
const void* gemm_of_layout(bool a_k_major, bool b_k_major) {
  if (a_k_major)
    return b_k_major ? reinterpret_cast<const void*>(gemm<kIn, true, true>)
                     : reinterpret_cast<const void*>(gemm<kIn, true, false>);
  return b_k_major ? reinterpret_cast<const void*>(gemm<kIn, false, true>)
                   : reinterpret_cast<const void*>(gemm<kIn, false, false>);
}

}  // namespace skgemm
