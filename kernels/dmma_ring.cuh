// What the warps of the fp64 kernels pass on: stages, and units with the place of each tile.
#pragma once
#include "kernels/dmma_params.h"
#include "kernels/stage_ring.cuh"
#include "kernels/unit_queue.cuh"

namespace skgemm {

using DmmaRing = StageRing<dmma_smem::kFullAt, dmma_smem::kEmptyAt>;
using DmmaUnitQueue =
    UnitQueue<dmma_smem::kUnitsAt, dmma_smem::kUnitFullAt, dmma_smem::kUnitEmptyAt, dmma_smem::kConsumerWarps>;

// Where a unit's tile begins: the first row of X and column of Y, the batch entry.
struct TileOrigin {
  int64_t x, y;
  int entry;
};
__device__ __forceinline__ TileOrigin origin_of(const DmmaParams& p, const ShortUnit& u) {
  const ShortTileCoord tile = p.schedule.space.coord(u.tile);
  return {int64_t{p.swapped ? tile.n : tile.m} * dmma_smem::kRows, int64_t{p.swapped ? tile.m : tile.n} * p.width,
          tile.batch};
}

__device__ __forceinline__ QueuedUnit queued(const DmmaParams& p, const TileOrigin& origin, const ShortUnit& u,
                                             bool last) {
  const int64_t along = p.swapped ? origin.y : origin.x, line = p.swapped ? origin.x : origin.y;
  constexpr int64_t kMost = dmma_smem::kMaxWidth;  // a tile has no more, along either side
  const int64_t lengths = (p.swapped ? p.y.extent : p.x.extent) - along;
  const int64_t lines = (p.swapped ? p.x.extent : p.y.extent) - line;
  return queued(p.schedule,
                {.c = p.c + origin.entry * p.c_batch_pitch + line * p.c_pitch + along * 8,
                 .along = static_cast<int>(min(lengths, kMost)),
                 .lines = static_cast<int>(min(lines, kMost))},
                u, last);
}

}  // namespace skgemm
