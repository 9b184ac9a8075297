// What the warps of the wgmma kernels pass on: stages, and units with the place of each CTA's part of a tile.
#pragma once
#include "kernels/cluster_place.cuh"
#include "kernels/stage_ring.cuh"
#include "kernels/unit_queue.cuh"
#include "kernels/wgmma_params.h"

namespace skgemm {

using TmaRing = StageRing<wgmma_smem::kFullAt, wgmma_smem::kEmptyAt>;
using WgmmaUnitQueue =
    UnitQueue<wgmma_smem::kUnitsAt, wgmma_smem::kUnitFullAt, wgmma_smem::kUnitEmptyAt, wgmma_smem::kConsumerWarps>;

// A k-step of a CTA's part of a tile: the first row of X and column of Y, the first k, the batch entry.
struct StepOrigin {
  int x, y, k, entry;
};
__device__ __forceinline__ StepOrigin origin_of(const WgmmaParams& p, const ClusterPlace& place, const ShortUnit& u) {
  const ShortTileCoord tile = p.schedule.space.coord(u.tile);
  const int row = (p.swapped ? tile.n : tile.m) * p.cluster_rows + place.row;
  const int column = (p.swapped ? tile.m : tile.n) * p.cluster_columns + place.column;
  return {row * wgmma_smem::kRows, column * p.width, u.step_begin * wgmma_smem::kTileK, tile.batch};
}

__device__ __forceinline__ QueuedUnit queued(const WgmmaParams& p, const StepOrigin& origin, const ShortUnit& u,
                                             bool last) {
  const int along = p.swapped ? origin.y : origin.x, line = p.swapped ? origin.x : origin.y;
  const int size = p.out == DataType::f32 ? 4 : 2;
  return queued(p.schedule,
                {.c = p.c + origin.entry * p.c_batch_pitch + line * p.c_pitch + int64_t{along} * size,
                 .along = (p.swapped ? p.columns : p.rows) - along,
                 .lines = (p.swapped ? p.rows : p.columns) - line},
                u, last);
}

}  // namespace skgemm
