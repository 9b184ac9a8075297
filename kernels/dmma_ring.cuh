// What the warps of the fp64 kernels pass on: stages, and units with the place of each tile.
#pragma once
#include "kernels/dmma_params.h"
#include "kernels/stage_ring.cuh"
#include "kernels/unit_queue.cuh"

namespace skgemm {

using DmmaRing = StageRing<dmma_smem::kFullAt, dmma_smem::kEmptyAt>;

struct DmmaUnitPlaces {
  static constexpr int kUnits = dmma_smem::kUnits, kUnitsAt = dmma_smem::kUnitsAt;
  static constexpr int kUnitsBytes = kUnits * dmma_smem::kUnitBytes;
  static constexpr int kFullAt = dmma_smem::kUnitFullAt, kEmptyAt = dmma_smem::kUnitEmptyAt;
  static constexpr int kReaders = dmma_smem::kConsumerWarps;
};
using DmmaUnitQueue = UnitQueue<DmmaUnitPlaces>;

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
  const int64_t lengths = (p.swapped ? p.y.extent : p.x.extent) - along;
  const int64_t lines = (p.swapped ? p.x.extent : p.y.extent) - line;
  constexpr int64_t kTile = 128;  // more than a tile has
  return queued(p.schedule,
                {.c = p.c + origin.entry * p.c_batch_pitch + line * p.c_pitch + along * 8,
                 .along = static_cast<int>(min(lengths, kTile)),
                 .lines = static_cast<int>(min(lines, kTile))},
                u, last);
}

}  // namespace skgemm
