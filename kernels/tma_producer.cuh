// Fills the ring by TMA: walks the CTA's units as the consumers do (schedule.h) and copies the boxes of the operands
// whose lines the TMA can take. One thread's work.
#pragma once
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/tma_ring.cuh"
#include "kernels/wgmma_params.h"

namespace skgemm {

// A k-step of a tile: the first row of X and column of Y, the first k, the batch entry.
struct StepOrigin {
  int x, y, k, entry;
};
__device__ __forceinline__ StepOrigin origin_of(const WgmmaParams& p, const Unit& u) {
  const TileCoord tile = p.schedule.space.coord(u.tile);
  return {static_cast<int>(p.swapped ? tile.n : tile.m) * wgmma_smem::kRows,
          static_cast<int>(p.swapped ? tile.m : tile.n) * p.width,
          static_cast<int>(u.step_begin) * wgmma_smem::kTileK, static_cast<int>(tile.batch)};
}

template <bool kXKMajor, bool kYKMajor>
class TmaProducer {
 public:
  static __device__ __forceinline__ void run(const WgmmaParams& p, TmaRing ring, int64_t cta) {
    UnitCursor cursor(p.schedule, cta);
    Unit u;
    bool more = cursor.next(u);
    StepOrigin step = origin_of(p, u);
    ptx::wait_for_grids_before();  // this late: where the first unit lies is known by now
    while (more) {
      for (int steps = static_cast<int>(u.step_end - u.step_begin); steps > 0; --steps) {
        ring.wait_empty();
        copy(p, ring, step);
        ring.advance();
        step.k += wgmma_smem::kTileK;
      }
      more = cursor.next(u);
      if (more) step = origin_of(p, u);
    }
  }

  // Starts the copies of those operands that the TMA can take.
  static __device__ __forceinline__ void copy(const WgmmaParams& p, const TmaRing& ring, const StepOrigin& step) {
    using namespace wgmma_smem;
    const int lines = (p.x.tma ? kRows : 0) + (p.y.tma ? p.loaded : 0);
    ptx::mbarrier_arrive_expect(ring.full(), lines * kLineBytes);
    if (p.x.tma) copy<kXKMajor>(p.x, ring, 0, step, step.x, kRows);
    if (p.y.tma) copy<kYKMajor>(p.y, ring, kXBytes, step, step.y, p.loaded);
  }

 private:
  template <bool kKMajor>
  static __device__ __forceinline__ void copy(const Lines& x, const TmaRing& ring, int to, const StepOrigin& step,
                                              int first, int extent) {
    using namespace wgmma_smem;
    const int entry = x.batch_pitch == 0 ? 0 : step.entry;
    const uint32_t tile = ring.address() + to;
    if constexpr (kKMajor) {
      ptx::tma_load(tile, &x.map, ring.full(), step.k, first, entry);
    } else {
#pragma unroll 1
      for (int block = 0; block < extent; block += kBlock) {
        ptx::tma_load(tile + block * kLineBytes, &x.map, ring.full(), first + block, step.k, entry);
      }
    }
  }
};

}  // namespace skgemm
