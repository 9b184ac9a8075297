// What a consumer warpgroup does on the device: the operations that cta_main drives, for its 64 rows of every tile.
#pragma once
#include "kernels/cta_main.h"
#include "kernels/epilogue_wgmma.cuh"
#include "kernels/fixup_device.cuh"
#include "kernels/mainloop_f16_wgmma.cuh"
#include "kernels/ptx/dependent_launch.cuh"

namespace skgemm {

template <DataType kIn, bool kXKMajor, bool kYKMajor>
class WgmmaOps {
  using Team = WarpgroupTeam<wgmma_smem::kConsumers>;
  // What a warp keeps in shared memory while the sums have the registers.
  struct Parked {
    Output out;
    UnitCursor::Position position;
    Unit unit;
  };
  static_assert(sizeof(Parked) <= wgmma_smem::kParkedBytes);

 public:
  __device__ __forceinline__ WgmmaOps(const WgmmaParams& p, char* smem, uint32_t address, int warpgroup)
      : p_(p),
        warpgroup_(warpgroup),
        parked_(reinterpret_cast<Parked*>(smem + wgmma_smem::kParkedAt +
                                          (ptx::thread_index() / 32 - 4) * wgmma_smem::kParkedBytes)),
        buffers_(address + wgmma_smem::kOutputAt + (p.swapped ? ptx::thread_index() / 32 - 4 : 4 * warpgroup) *
                                                       wgmma_smem::kOutputBytes),
        mainloop_(TmaRing(address, p.stages, p.stage_bytes), warpgroup),
        fixup_(p.counters, p.slots,
               Team{warpgroup, p.width / 8, reinterpret_cast<uint32_t*>(smem + wgmma_smem::kSeenAt) + warpgroup}) {}

  // Where the results of the unit's tile go, and what they are scaled by, is known before the operands arrive.
  __device__ __forceinline__ void park(const UnitCursor& cursor, const Unit& u) {
    const Output out = output_of(u);
    __syncwarp();  // the lanes have read what was here
    if (ptx::thread_index() % 32 == 0) *parked_ = {out, cursor.position(), u};
    __syncwarp();
  }
  __device__ __forceinline__ void unpark(Unit& u) const { u = parked_->unit; }
  __device__ __forceinline__ void unpark(UnitCursor& cursor) const { cursor.resume(parked_->position); }

  __device__ __forceinline__ void mainloop(const Unit& u) {
    const int steps = static_cast<int>(u.step_end - u.step_begin);
    if (exists_ && parked_->out.alpha != 0) {
      mainloop_.sum(sums_, p_.width, steps);
    } else {  // no such rows, or alpha == 0: what A and B hold, NaN too, counts for nothing (BLAS)
      mainloop_.skip(steps);
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
  __device__ __forceinline__ void collect(const Schedule& s, const Unit& u) { fixup_.collect(sums_, s, u); }

  __device__ __forceinline__ void epilogue(const Unit&) {
    const Output& out = parked_->out;
    if (out.along <= 0 || out.lines <= 0) return;
    if (p_.swapped)
      store<true>(out);
    else
      store<false>(out);
  }

 private:
  __device__ __forceinline__ Output output_of(const Unit& u) {
    const TileCoord tile = p_.schedule.space.coord(u.tile);
    const int row = static_cast<int>(p_.swapped ? tile.n : tile.m) * wgmma_smem::kRows + warpgroup_ * 64;
    const int column = static_cast<int>(p_.swapped ? tile.m : tile.n) * p_.width;
    const int along = p_.swapped ? column : row;
    const int line = p_.swapped ? row + ptx::thread_index() / 32 % 4 * 16 : column;
    const int size = p_.out == DataType::f32 ? 4 : 2;
    exists_ = row < p_.rows;
    ptx::wait_for_grids_before();  // this late, but before anything is read that they wrote
    return {.data = p_.c + tile.batch * p_.c_batch_pitch + line * p_.c_pitch + int64_t{along} * size,
            .along = (p_.swapped ? p_.columns : p_.rows) - along,
            .lines = (p_.swapped ? p_.rows : p_.columns) - line,
            .alpha = read_scalar<float>(p_.alpha),
            .beta = read_scalar<float>(p_.beta)};
  }

  template <bool kSwapped>
  __device__ __forceinline__ void store(const Output& out) {
    if (out.beta == 0)
      store<kSwapped, false>(out);
    else
      store<kSwapped, true>(out);
  }
  template <bool kSwapped, bool kReadC>
  __device__ __forceinline__ void store(const Output& out) {
    if (p_.out == DataType::f32)
      store_floats<kSwapped, kReadC>(p_, sums_, Output(out));
    else
      HalfEpilogue<Element<kIn>, kSwapped>(p_, out, buffers_, warpgroup_).template store<kReadC>(sums_, p_.width);
  }

  const WgmmaParams& p_;
  int warpgroup_;
  Parked* const parked_;  // this warp's
  uint32_t buffers_;  // for results on their way to C: this warp's, or its warpgroup's
  MainloopWgmma<kIn, kXKMajor, kYKMajor> mainloop_;
  FixupDevice<float, kWgmmaSums, Team> fixup_;
  bool exists_;  // the warpgroup's rows, or their first at least
  alignas(16) float sums_[kWgmmaSums];
};

}  // namespace skgemm
