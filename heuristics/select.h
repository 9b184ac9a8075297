// From a shape to a plan: argmin of the predicted time over schedules and grid sizes. Pure and deterministic: no CUDA,
// no environment, no state (design D10, D12).
#pragma once
#include <cstddef>

#include "heuristics/device_model.h"
#include "heuristics/plan.h"

namespace skgemm {

struct Shape {
  int64_t m, n, k, batch;
  DataType in, out;
  bool a_k_major, b_k_major;      // contiguous along k: A with op T, B with op N
  int a_align, b_align, c_align;  // largest power of two (<= 16) that divides address, row pitch and batch pitch, bytes

  bool operator==(const Shape&) const = default;
};

struct Limits {
  int sms = 0;                                 // 0: all
  size_t workspace_bytes = size_t{256} << 20;  // what a plan may ask for
  ScheduleKind forced = ScheduleKind{};        // ScheduleKind{} (0): the model chooses
  int64_t forced_parameter = 0;                // split or grid of a forced schedule; 0: the model chooses

  bool operator==(const Limits&) const = default;
};

// The best plan. m, n, k, batch >= 1 and a kernel for the device must exist (find_kernel); kernel is nullptr otherwise.
Plan select(const Shape& shape, const DeviceModel& device, const Limits& limits = {});

}  // namespace skgemm
