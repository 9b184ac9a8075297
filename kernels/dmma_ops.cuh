// What the consumer warps do on the device: the operations that cta_main drives.
#pragma once
#include "kernels/cta_main.h"
#include "kernels/element.cuh"
#include "kernels/epilogue_dmma.cuh"
#include "kernels/fixup_device.cuh"
#include "kernels/ptx/dependent_launch.cuh"

namespace skgemm {

template <bool kXKMajor, bool kYKMajor>
class DmmaOps {
  static constexpr int kBarriers = 3;  // of a worker, from 1 on

 public:
  __device__ __forceinline__ DmmaOps(const DmmaParams& p, char* smem, uint32_t address, int number)
      : p_(p),
        smem_(smem),
        mainloop_(DmmaRing(address, p.stages, dmma_smem::stage_bytes(p.width)), p.width, 2 + kBarriers * number),
        fixup_(p.counters, p.slots,
               {.number = 0,
                .numbers = 1,
                .used_vectors = dmma_smem::blocks_of_warp(p.width) * kSumsOfBlock / 2,
                .barrier_id = 1 + kBarriers * number,
                .shared = reinterpret_cast<uint32_t*>(smem + dmma_smem::kSeenAt)}) {
    ptx::wait_for_grids_before();  // before anything is read that they wrote, or written that they read
    const DmmaFactors by{read_scalar<double>(p.alpha), read_scalar<double>(p.beta)};
    if (ptx::thread_index() % 32 == 0) factors() = by;
    __syncwarp();
  }

  __device__ __forceinline__ void mainloop(const QueuedUnit& u) {
    const bool filled = factors().alpha != 0;  // else no stage is (CopyProducer)
    mainloop_.sum(sums_, p_.width, ptx::uniform(filled ? u.steps : 0));
  }

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const { return fixup_.arrivals(counter); }
  __device__ __forceinline__ void clear(int64_t counter) const { fixup_.clear(counter); }
  __device__ __forceinline__ void publish(int64_t slot) const { fixup_.publish(sums_, slot); }
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    return fixup_.arrive(counter, last);
  }
  __device__ __forceinline__ void collect(const QueuedSlots& s, const QueuedUnit& u) { fixup_.collect(sums_, s, u); }

  __device__ __forceinline__ void epilogue(const QueuedUnit& u) const {
    if (p_.swapped)
      store<true>(u);
    else
      store<false>(u);
  }

 private:
  // alpha and beta, which the sums leave no registers for.
  __device__ __forceinline__ DmmaFactors& factors() const {
    return reinterpret_cast<DmmaFactors*>(smem_ +
                                          dmma_smem::kFactorsAt)[ptx::thread_index() / 32 % dmma_smem::kConsumerWarps];
  }

  template <bool kSwapped>
  __device__ __forceinline__ void store(const QueuedUnit& u) const {
    const int along = kSwapped ? p_.width : dmma_smem::kRows, lines = kSwapped ? dmma_smem::kRows : p_.width;
    if (p_.c_vector && u.along >= along && u.lines >= lines)
      store<kSwapped, true>(u);
    else
      store<kSwapped, false>(u);
  }
  template <bool kSwapped, bool kVectors>
  __device__ __forceinline__ void store(const QueuedUnit& u) const {
    const DmmaFactors by = factors();
    const int thread = ptx::thread_index() % dmma_smem::kConsumerThreads;
    if (by.beta == 0)
      store_blocks<kSwapped, kRowsOfY<kYKMajor>, false, kVectors>(p_, sums_, u, by, thread);
    else
      store_blocks<kSwapped, kRowsOfY<kYKMajor>, true, kVectors>(p_, sums_, u, by, thread);
  }

  const DmmaParams& p_;
  char* smem_;
  MainloopDmma<kXKMajor, kYKMajor> mainloop_;
  FixupDevice<double, kDmmaSums, WarpgroupTeam> fixup_;
  alignas(16) double sums_[kDmmaSums];
};

}  // namespace skgemm
