#include "src/abi/native_modes.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "kernels/catalogue.h"

namespace skgemm {

Status check_schedule(skgemm_schedule_t schedule, int64_t parameter) {
  if (schedule < SKGEMM_SCHEDULE_AUTO || schedule > SKGEMM_SCHEDULE_TWO_TILE) {
    return Status::invalid("schedule is " + std::to_string(schedule) + ", it must be a value of skgemm_schedule_t");
  }
  const bool takes_one = schedule == SKGEMM_SCHEDULE_FIXED_SPLIT || schedule == SKGEMM_SCHEDULE_STREAM_K;
  if (parameter < 0 || (parameter != 0 && !takes_one)) {
    return Status::invalid("the schedule's parameter is " + std::to_string(parameter) +
                           ", it must be 0 or, for FIXED_SPLIT and STREAM_K, positive");
  }
  return Status::success();
}

Status check_tile(int32_t width, skgemm_orientation_t orientation) {
  constexpr int32_t kWidest = 256;
  if (width < 0 || width > kWidest || width % 8 != 0) {
    return Status::invalid("the tile's width is " + std::to_string(width) +
                           ", it must be 0 (the model chooses) or a "
                           "multiple of 8 up to " +
                           std::to_string(kWidest));
  }
  if (orientation < SKGEMM_ORIENTATION_AUTO || orientation > SKGEMM_ORIENTATION_SWAPPED) {
    return Status::invalid("orientation is " + std::to_string(orientation) +
                           ", it must be a value of skgemm_orientation_t");
  }
  return Status::success();
}

Status check_cluster(int32_t m, int32_t n) {
  const ClusterShape asked{m, n};
  if (asked == ClusterShape{0, 0} || std::ranges::find(kClusterShapes, asked) != std::end(kClusterShapes))
    return Status::success();
  return Status::invalid("the cluster is " + std::to_string(m) + " x " + std::to_string(n) +
                         " CTAs, it must be 0 x 0 "
                         "(the model chooses), or 1, 2 or 4 along m and along n and at most 8 in all");
}

}  // namespace skgemm
