// Room in shared memory for units of the schedule on their way to those who do them (unit_queue.cuh).
#pragma once

namespace skgemm {

inline constexpr int kQueuedUnits = 4, kQueuedUnitBytes = 64;

}  // namespace skgemm
