// What a consumer warpgroup does on the device: the operations that cta_main drives, for its 64 rows of every tile.
#pragma once
#include "kernels/cta_main.h"
#include "kernels/epilogue_tma.cuh"
#include "kernels/fixup_device.cuh"
#include "kernels/mainloop_f16_wgmma.cuh"

namespace skgemm {

template <DataType kIn, bool kXKMajor, bool kYKMajor>
class WgmmaOps {
  using Team = WarpgroupTeam<wgmma_smem::kConsumers>;

 public:
  __device__ __forceinline__ WgmmaOps(const WgmmaParams& p, char* smem, uint32_t address, int warpgroup)
      : p_(p),
        smem_(address),
        warpgroup_(warpgroup),
        mainloop_(TmaRing(address, p.stages, p.stage_bytes), warpgroup),
        fixup_(p.counters, p.slots,
               Team{warpgroup, p.width / 8, reinterpret_cast<uint32_t*>(smem + wgmma_smem::kSeenAt) + warpgroup}),
        alpha_(read_scalar<float>(p.alpha)),
        beta_(read_scalar<float>(p.beta)) {}

  __device__ __forceinline__ void mainloop(const Unit& u) {
    const int steps = static_cast<int>(u.step_end - u.step_begin);
    if (origin(u).row < p_.rows)
      mainloop_.sum(sums_, p_.width, steps);
    else
      mainloop_.skip(steps);
  }

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const { return fixup_.arrivals(counter); }
  __device__ __forceinline__ void clear(int64_t counter) const { fixup_.clear(counter); }
  __device__ __forceinline__ void publish(int64_t slot) const { fixup_.publish(sums_, slot); }
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    return fixup_.arrive(counter, last);
  }
  __device__ __forceinline__ void collect(const Schedule& s, const Unit& u) { fixup_.collect(sums_, s, u); }

  __device__ __forceinline__ void epilogue(const Unit& u) {
    const TileOrigin tile = origin(u);
    if (tile.row >= p_.rows) return;
    if (p_.out == DataType::f32)
      EpilogueTma<float>(p_, smem_, warpgroup_, chunks_).store(sums_, tile, alpha_, beta_);
    else
      EpilogueTma<Element<kIn>>(p_, smem_, warpgroup_, chunks_).store(sums_, tile, alpha_, beta_);
  }

  // Before the CTA's shared memory goes.
  __device__ __forceinline__ void finish() const {
    if (ptx::thread_index() % 128 == 0) ptx::tma_wait_read<0>();
  }

 private:
  __device__ __forceinline__ TileOrigin origin(const Unit& u) const {
    const TileCoord tile = p_.schedule.space.coord(u.tile);
    return {static_cast<int>(p_.swapped ? tile.n : tile.m) * wgmma_smem::kRows + warpgroup_ * 64,
            static_cast<int>(p_.swapped ? tile.m : tile.n) * p_.width, static_cast<int>(tile.batch)};
  }

  const WgmmaParams& p_;
  uint32_t smem_;
  int warpgroup_;
  MainloopWgmma<kIn, kXKMajor, kYKMajor> mainloop_;
  FixupDevice<float, kWgmmaSums, Team> fixup_;
  float alpha_, beta_;
  uint32_t chunks_ = 0;
  alignas(16) float sums_[kWgmmaSums];
};

}  // namespace skgemm
