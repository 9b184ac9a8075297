// What a handle may be told to force on its products, and what can be wrong with it.
#pragma once
#include <cstdint>

#include "skgemm.h"
#include "src/status.h"

namespace skgemm {

Status check_schedule(skgemm_schedule_t schedule, int64_t parameter);
Status check_tile(int32_t width, skgemm_orientation_t orientation);
Status check_cluster(int32_t m, int32_t n);

}  // namespace skgemm
