// The ring of stages between the producers and the consumer warpgroups: for each stage a barrier that its bytes have
// arrived and one that all consumer warps have read them. Each side walks it with a position of its own.
#pragma once
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ring_position.cuh"
#include "kernels/wgmma_smem.h"

namespace skgemm {

class TmaRing {
 public:
  __device__ __forceinline__ TmaRing(uint32_t smem, int stages, int stage_bytes)
      : smem_(smem), stages_(stages), stage_bytes_(stage_bytes) {}

  // By one thread (ptx::elect_one), before any use. `loaders`: CTAs of the cluster that this one's consumers tell when
  // they have read a stage, and whose consumers tell this one.
  static __device__ __forceinline__ void init(uint32_t smem, int stages, int loaders) {
    constexpr int kOperands = 2;  // each by a producer of its own
#pragma unroll
    for (int i = 0; i < wgmma_smem::kMaxStages; ++i) {
      if (i >= stages) break;
      ptx::mbarrier_init(smem + wgmma_smem::kFullAt + 8 * i, kOperands);
      ptx::mbarrier_init(smem + wgmma_smem::kEmptyAt + 8 * i, loaders * wgmma_smem::kConsumerWarps);  // from each warp
    }
    ptx::mbarrier_init_fence();
  }

  __device__ __forceinline__ uint32_t full() const { return smem_ + wgmma_smem::kFullAt + 8 * stage(); }
  __device__ __forceinline__ uint32_t empty() const { return smem_ + wgmma_smem::kEmptyAt + 8 * stage(); }
  __device__ __forceinline__ uint32_t first_empty() const { return smem_ + wgmma_smem::kEmptyAt; }
  __device__ __forceinline__ int stage() const { return position_.at; }
  __device__ __forceinline__ uint32_t address() const { return smem_ + stage() * stage_bytes_; }
  __device__ __forceinline__ void wait_full() const { ptx::mbarrier_wait(full(), position_.phase); }
  __device__ __forceinline__ void wait_empty() const { ptx::mbarrier_wait(empty(), position_.phase ^ 1); }
  // Its position known to the compiler as the same for all lanes.
  __device__ __forceinline__ void make_uniform() {
    position_ = {ptx::uniform(position_.at), ptx::uniform(position_.phase)};
  }
  __device__ __forceinline__ void advance() { position_.advance(stages_); }

 private:
  uint32_t smem_;
  int stages_, stage_bytes_;
  RingPosition position_;
};

}  // namespace skgemm
