// From a shape to a plan: argmin of the predicted time over schedules, grid sizes and, where they are run-time data,
// tile widths and orientations. Pure and deterministic: no CUDA, no environment, no state (design D10, D12).
#pragma once
#include <cstddef>

#include "heuristics/cost_model.h"
#include "heuristics/device_model.h"
#include "heuristics/plan.h"

namespace skgemm {

struct Shape {
  int64_t m, n, k, batch;
  DataType in, out;
  bool a_k_major, b_k_major;      // contiguous along k: A with op T, B with op N
  // The largest power of two (128 at most, C's 16) that divides address, pitch of lines and batch pitch, bytes.
  int a_align, b_align, c_align;
  bool small_extents;             // m, n, k and batch are below 2^31
  bool a_shared = false, b_shared = false;  // by all entries of a batch

  bool operator==(const Shape&) const = default;
};

// Which way round a kernel with a run-time width computes C.
enum class Orientation : uint8_t { automatic, straight, swapped };

struct Limits {
  int sms = 0;                                 // 0: all; fewer than the device has: that many CTAs at most
  size_t workspace_bytes = size_t{1} << 30;  // what a plan may ask for
  ScheduleKind forced = ScheduleKind{};        // ScheduleKind{} (0): the model chooses
  int64_t forced_parameter = 0;                // split or grid of a forced schedule; 0: the model chooses
  int forced_width = 0;                        // where it is run-time data, rounded up as needed; 0: the model chooses
  Orientation forced_orientation = Orientation::automatic;  // likewise
  ClusterShape forced_cluster = {0, 0};  // where a kernel can cluster its CTAs; {0, 0}: the model chooses

  bool operator==(const Limits&) const = default;
};

// How many workers run at once: CTAs, or clusters, which then count as an SM each. The device spreads a grid over all
// its SMs, so only a grid of no more CTAs than the limit keeps one. None where the device has no room for such
// clusters.
struct Room {
  int64_t sms, ctas_per_sm;
  int64_t ctas() const { return sms * ctas_per_sm; }
};
Room room_for(const KernelRow& row, const DeviceModel& device, const Limits& limits, ClusterShape cluster = {});

// The product as the plan's kernel finds it: operands that are copied first lie aligned.
Shape shape_in_kernel(const Plan& plan, const Shape& shape);
// A tile of a kernel with a run-time width, as the cost model takes it.
Candidate candidate_of(const Shape& shape, const KernelRow& row, const TileShape& tile);
// The costs that a plan's time was predicted with, copies apart.
CostConstants costs_of(const Plan& plan, const Shape& shape, const DeviceModel& device, int64_t sms);

// The best plan; m, n, k, batch >= 1. Its kernel is nullptr, and why_not the reason, where no kernel exists for the
// device (find_kernel) or the product has more tiles or k-steps than a kernel can walk (Schedule::is_short).
Plan select(const Shape& shape, const DeviceModel& device, const Limits& limits = {});

}  // namespace skgemm
