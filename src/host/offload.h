// When does a product with host operands pay on the GPU: pure arithmetic on bytes, flops and rates (design D17).
// Transfers and compute overlap in panels, so the larger of the two counts, plus the first panel's share of the
// smaller.
#pragma once
#include <cstdint>

#include "src/gemm_call.h"

namespace skgemm {

// Below this a product is done on a CPU before the driver has woken up; CUDA is not touched for it.
inline constexpr double kLeastOffloadFlops = 2e8;

struct OffloadRates {
  double to_device_gbs, from_device_gbs;  // host memory to device memory and back, staging copies included
  double startup_us;                      // of one staged call
  double gpu_us;                          // device time of the product, by the cost model
  double cpu_gflops;                      // of the CPU BLAS
};

struct OffloadEstimate {
  double gpu_us, cpu_us;
  constexpr bool gpu_pays() const { return gpu_us < cpu_us; }
};

// Bytes of the operands that cross the link: A and B in, C in when it is read, C out.
struct OffloadBytes {
  double to_device, from_device;
};

double flops(const GemmCall& call);
OffloadBytes offload_bytes(const GemmCall& call);
OffloadEstimate estimate_offload(const GemmCall& call, const OffloadRates& rates);

}  // namespace skgemm
