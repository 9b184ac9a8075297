// What the tests of kernels with a run-time width share: the part, the kernel and an aligned fp16 product, NN.
#pragma once
#include "heuristics/select.h"

namespace skgemm {

inline const DeviceModel& h200() { return *find_device("h200"); }
// Whose DRAM costs no time, so that a prediction is the makespan and the copies ahead of it.
inline DeviceModel without_dram() {
  DeviceModel device = h200();
  device.dram_gbs = 1e15;
  return device;
}
inline const KernelRow& wgmma() { return *find_kernel(DataType::f16, 90); }

inline Shape half(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  return {m, n, k, batch, DataType::f16, DataType::f16, false, true, 16, 16, 16, true};
}

}  // namespace skgemm
