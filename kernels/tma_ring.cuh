// The ring of stages between the producers and the consumer warpgroups: for each stage a barrier that its bytes have
// arrived and one that all consumer warps have read them. Each side walks it with a position of its own.
#pragma once
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/wgmma_smem.h"

namespace skgemm {

class TmaRing {
 public:
  __device__ __forceinline__ TmaRing(uint32_t smem, int stages, int stage_bytes)
      : smem_(smem), stages_(stages), stage_bytes_(stage_bytes) {}

  // By one warp, before any use. `filled_by`: arrivals that make a stage full.
  static __device__ __forceinline__ void init(uint32_t smem, int stages, int filled_by) {
    const int i = ptx::thread_index() % 32;
    if (i < stages) {
      ptx::mbarrier_init(smem + wgmma_smem::kFullAt + 8 * i, filled_by);
      ptx::mbarrier_init(smem + wgmma_smem::kEmptyAt + 8 * i, 4 * wgmma_smem::kConsumers);  // an arrival a warp
    }
    ptx::mbarrier_init_fence();
  }

  __device__ __forceinline__ uint32_t full() const { return smem_ + wgmma_smem::kFullAt + 8 * stage_; }
  __device__ __forceinline__ uint32_t empty() const { return smem_ + wgmma_smem::kEmptyAt + 8 * stage_; }
  __device__ __forceinline__ uint32_t address() const { return smem_ + stage_ * stage_bytes_; }
  __device__ __forceinline__ void wait_full() const { ptx::mbarrier_wait(full(), phase_); }
  __device__ __forceinline__ void wait_empty() const { ptx::mbarrier_wait(empty(), phase_ ^ 1); }
  __device__ __forceinline__ void advance() {
    if (++stage_ == stages_) {
      stage_ = 0;
      phase_ ^= 1;
    }
  }

 private:
  uint32_t smem_;
  int stages_, stage_bytes_;
  int stage_ = 0;
  uint32_t phase_ = 0;
};

}  // namespace skgemm
