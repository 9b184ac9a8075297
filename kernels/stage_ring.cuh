// The ring of stages between producers and consumers: for each stage a barrier that its bytes have arrived and one that
// all consumer warps have read them. Each side walks it with a position of its own.
#pragma once
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ring_position.cuh"

namespace skgemm {

// The barriers lie at kFullAt and kEmptyAt of shared memory, the stages at its start.
template <int kFullAt, int kEmptyAt>
class StageRing {
 public:
  __device__ __forceinline__ StageRing(uint32_t smem, int stages, int stage_bytes)
      : smem_(smem), stages_(stages), stage_bytes_(stage_bytes) {}

  // By one thread, before any use: how many arrivals fill a stage, and how many empty it.
  template <int kMaxStages>
  static __device__ __forceinline__ void init(uint32_t smem, int stages, int filling, int emptying) {
#pragma unroll
    for (int i = 0; i < kMaxStages; ++i) {
      if (i >= stages) break;
      ptx::mbarrier_init(smem + kFullAt + 8 * i, filling);
      ptx::mbarrier_init(smem + kEmptyAt + 8 * i, emptying);
    }
  }

  __device__ __forceinline__ uint32_t full() const { return smem_ + kFullAt + 8 * stage(); }
  __device__ __forceinline__ uint32_t empty() const { return smem_ + kEmptyAt + 8 * stage(); }
  __device__ __forceinline__ uint32_t first_empty() const { return smem_ + kEmptyAt; }
  __device__ __forceinline__ int stage() const { return position_.at; }
  __device__ __forceinline__ uint32_t address() const { return smem_ + stage() * stage_bytes_; }
  __device__ __forceinline__ uint32_t end() const { return smem_ + stages_ * stage_bytes_; }  // of all stages
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
