#include "src/look_at.h"

#include <cuda_runtime_api.h>

namespace skgemm::gpu {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) (void)cudaGetLastError();
  return value;
}

}  // namespace

DeviceModel look_at(int device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) (void)cudaGetLastError();
  DeviceModel m{.name = properties.name,
                .compute_capability = attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
                                      attribute(cudaDevAttrComputeCapabilityMinor, device),
                .sms = attribute(cudaDevAttrMultiProcessorCount, device),
                .clock_ghz = attribute(cudaDevAttrClockRate, device) * 1e-6, .dram_gbs = 0, .l2_gbs = 0,
                .l2_bytes = attribute(cudaDevAttrL2CacheSize, device),
                .smem_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)};
  // Two transfers a clock, bytes of the bus; of the peak about nine tenths can be read.
  m.dram_gbs = 0.9 * 2e-6 * attribute(cudaDevAttrMemoryClockRate, device) *
               attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  return with_known_rates(m);
}

}  // namespace skgemm::gpu
