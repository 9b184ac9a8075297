// The fp64 kernels: one instantiation for each pair of operand layouts. Four warps of consumers run cta_main; two more
// copy what they multiply.
#include "kernels/copy_producer.cuh"
#include "kernels/dmma_ops.cuh"

namespace skgemm {
namespace {

// sm_90: as many registers for each thread at launch, then what its role needs, for two CTAs. Elsewhere all have what
// consumers need, and a multiprocessor one CTA.
#if __CUDA_ARCH__ == 900
inline constexpr int kCtasPerSm = dmma_smem::kCtasPerSm, kProducerRegisters = 64, kConsumerRegisters = 192;
__device__ __forceinline__ void give_registers() { ptx::give_registers<kProducerRegisters>(); }
__device__ __forceinline__ void init_fence() { ptx::mbarrier_init_fence(); }
__device__ __forceinline__ void take_registers() { ptx::take_registers<kConsumerRegisters>(); }
#else
inline constexpr int kCtasPerSm = 1;
__device__ __forceinline__ void give_registers() {}
__device__ __forceinline__ void take_registers() {}
__device__ __forceinline__ void init_fence() {}
#endif

template <bool kXKMajor, bool kYKMajor>
__global__ void __launch_bounds__(dmma_smem::kThreads, kCtasPerSm)
    gemm_dmma(const __grid_constant__ DmmaParams p) {
  constexpr int kConsumerWarps = dmma_smem::kConsumerWarps;
  extern __shared__ char unaligned[];
  const uint32_t begin = ptx::shared_address(unaligned);
  const uint32_t address = (begin + dmma_smem::kAlignment - 1) & ~(dmma_smem::kAlignment - 1u);
  char* const smem = unaligned + (address - begin);
  using Producer = CopyProducer<kXKMajor, kYKMajor>;
  const int thread = ptx::thread_index(), warp = ptx::uniform(thread / 32);
  const int worker = static_cast<int>(blockIdx.x);
  ptx::let_next_grid_start();
  if (thread == 0) {
    DmmaRing::init<dmma_smem::kMaxStages>(address, p.stages, Producer::filling(p), kConsumerWarps);
    DmmaUnitQueue::init(address);
    init_fence();
  }
  __syncthreads();

  const DmmaUnitQueue units(smem, address);
  if (warp >= kConsumerWarps) {
    give_registers();
    const DmmaRing ring(address, p.stages, dmma_smem::stage_bytes(p.width));
    ptx::wait_for_grids_before();
    Producer(p, ring, units, thread - 32 * kConsumerWarps).run(worker);
    return;
  }
  take_registers();
  DmmaOps<kXKMajor, kYKMajor> ops(p, smem, address);
  QueuedUnits<DmmaUnitQueue> queued(p.schedule, units);
  cta_main(ops, queued);
}

}  // namespace

const void* dmma_function(bool x_k_major, bool y_k_major) {
  if (x_k_major)
    return y_k_major ? reinterpret_cast<const void*>(gemm_dmma<true, true>)
                     : reinterpret_cast<const void*>(gemm_dmma<true, false>);
  return y_k_major ? reinterpret_cast<const void*>(gemm_dmma<false, true>)
                   : reinterpret_cast<const void*>(gemm_dmma<false, false>);
}

}  // namespace skgemm
