// What a consumer warpgroup does on the device: the operations that cta_main drives, for its 64 rows of every tile.
#pragma once
#include "kernels/cta_main.h"
#include "kernels/epilogue_wgmma.cuh"
#include "kernels/fixup_device.cuh"
#include "kernels/mainloop_f16_wgmma.cuh"
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/wgmma_ring.cuh"

namespace skgemm {

template <DataType kIn, bool kXKMajor, bool kYKMajor>
class WgmmaOps {
 public:
  __device__ __forceinline__ WgmmaOps(const WgmmaParams& p, const ClusterPlace& place, char* smem, uint32_t address,
                                      int warpgroup)
      : p_(p),
        warpgroup_(warpgroup),
        mainloop_(TmaRing(address, p.stages, p.stage_bytes), place.sharing_x(p) | place.sharing_y(p), warpgroup),
        fixup_(p.counters, p.slots,
               {.number = place.rank * wgmma_smem::kConsumers + warpgroup,
                .numbers = p.cluster_rows * p.cluster_columns * wgmma_smem::kConsumers,
                .used_vectors = p.width / 8,
                .barrier_id = 1 + warpgroup,
                .shared = reinterpret_cast<uint32_t*>(smem + wgmma_smem::kSeenAt) + warpgroup}),
        chunks_(p, smem, address, warpgroup),
        put_(p.swapped ? HalfEpilogue<Element<kIn>, true>::put_at() : HalfEpilogue<Element<kIn>, false>::put_at()) {
    ptx::wait_for_grids_before();  // before anything is read that they wrote, or written that they read
    by_ = {read_scalar<float>(p.alpha), read_scalar<float>(p.beta)};
  }

  __device__ __forceinline__ void mainloop(const QueuedUnit& u) {
    // Without rows or columns there is nothing to sum, and with alpha == 0 no stage is filled (reads_nothing).
    const bool exists = (p_.swapped ? u.lines : u.along) > 64 * warpgroup_ && (p_.swapped ? u.along : u.lines) > 0;
    if (ptx::uniform(exists && by_.alpha != 0)) {
      mainloop_.sum(sums_, p_.width, u.steps, [&] { prepare_epilogue(u); });
    } else {
      mainloop_.skip(by_.alpha != 0 ? u.steps : 0);
      prepare_epilogue(u);
#pragma unroll
      for (float& sum : sums_) sum = 0;
    }
  }

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const { return fixup_.arrivals(counter); }
  __device__ __forceinline__ void clear(int64_t counter) const { fixup_.clear(counter); }
  __device__ __forceinline__ void publish(int64_t slot) const { fixup_.publish(sums_, slot); }
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    return fixup_.arrive(counter, last);
  }
  // Works out again where the tile goes: meanwhile the registers are needed for loads under way.
  __device__ __forceinline__ void collect(const QueuedSlots& s, const QueuedUnit& u) {
    fixup_.collect(sums_, s, u);
    locate(u);
  }

  __device__ __forceinline__ void epilogue(const QueuedUnit& u) {
    if (out_.along <= 0 || out_.lines <= 0) return;
    ended_ = u.last && p_.out != DataType::f32;
    if (p_.swapped)
      store<true>();
    else
      store<false>();
  }
  // After the last unit: lets the warp that stores this warpgroup's chunks go.
  __device__ __forceinline__ void finish() {
    if (!p_.c_vector || ended_) return;
    chunks_.wait_empty();
    chunks_.push({}, 0, true);
  }

 private:
  // Where the warpgroup's part of the unit's tile goes.
  __device__ __forceinline__ void locate(const QueuedUnit& u) {
    const int rows = 64 * warpgroup_, size = p_.out == DataType::f32 ? 4 : 2;
    out_ = {u.c + (p_.swapped ? rows * p_.c_pitch : rows * size), u.along - (p_.swapped ? 0 : rows),
            u.lines - (p_.swapped ? rows : 0)};
  }
  // What the epilogue begins with, ahead of it: that, and a free buffer.
  __device__ __forceinline__ void prepare_epilogue(const QueuedUnit& u) {
    locate(u);
    chunks_.wait_empty();
  }

  template <bool kSwapped>
  __device__ __forceinline__ void store() {
    if (by_.beta == 0)
      store<kSwapped, false>();
    else
      store<kSwapped, true>();
  }
  template <bool kSwapped, bool kReadC>
  __device__ __forceinline__ void store() {
    if (p_.out == DataType::f32)
      store_floats<kSwapped, kReadC>(p_, sums_, out_, by_);
    else
      HalfEpilogue<Element<kIn>, kSwapped>(p_, out_, by_, put_, warpgroup_)
          .template store<kReadC>(sums_, chunks_, ended_);
  }

  const WgmmaParams& p_;
  int warpgroup_;
  MainloopWgmma<kIn, kXKMajor, kYKMajor> mainloop_;
  FixupDevice<float, kWgmmaSums, WarpgroupTeam> fixup_;
  ChunkRing chunks_;
  bool ended_ = false;  // the last chunk is on its way
  uint32_t put_;        // this lane's place in a chunk
  Output out_;          // of the unit that is summed
  Factors by_;
  alignas(16) float sums_[kWgmmaSums];
};

}  // namespace skgemm
