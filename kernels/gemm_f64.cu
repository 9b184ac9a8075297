// The fp64 kernels: one instantiation for each pair of operand layouts. Of each worker four warps run cta_main, four
// more copy what they multiply.
#include "kernels/copy_producer.cuh"
#include "kernels/dmma_ops.cuh"

namespace skgemm {
namespace {

// sm_90: as many registers for each thread at launch, then what its role needs. Elsewhere a CTA is one worker, and all
// threads have what consumers need.
#if __CUDA_ARCH__ == 900
inline constexpr int kWorkers = dmma_smem::kMostWorkers, kProducerRegisters = 56, kConsumerRegisters = 200;
__device__ __forceinline__ void give_registers() { ptx::give_registers<kProducerRegisters>(); }
__device__ __forceinline__ void take_registers() { ptx::take_registers<kConsumerRegisters>(); }
__device__ __forceinline__ void init_fence() { ptx::mbarrier_init_fence(); }
#else
inline constexpr int kWorkers = 1;
__device__ __forceinline__ void give_registers() {}
__device__ __forceinline__ void take_registers() {}
__device__ __forceinline__ void init_fence() {}
#endif

template <bool kXKMajor, bool kYKMajor>
__global__ void __launch_bounds__(kWorkers* dmma_smem::kWorkerThreads, 1)
    gemm_dmma(const __grid_constant__ DmmaParams p) {
  using Producer = CopyProducer<kXKMajor, kYKMajor>;
  constexpr int kConsumers = kWorkers * dmma_smem::kConsumerThreads;  // the first threads, then the producers
  static_assert(dmma_smem::kConsumerThreads == dmma_smem::kProducerThreads);
  const int number = kWorkers == 1 ? 0 : ptx::uniform(ptx::thread_index() / dmma_smem::kConsumerThreads) % kWorkers;
  const int thread = ptx::thread_index() % dmma_smem::kConsumerThreads;
  const bool consumes = ptx::uniform(ptx::thread_index()) < kConsumers;
  extern __shared__ char unaligned[];
  const uint32_t begin = ptx::shared_address(unaligned);
  const uint32_t first = (begin + dmma_smem::kAlignment - 1) & ~(dmma_smem::kAlignment - 1u);
  const uint32_t address = first + number * dmma_smem::kWorkerBytes;
  char* const smem = unaligned + (address - begin);
  const int worker = static_cast<int>(blockIdx.x + number * gridDim.x);
  ptx::let_next_grid_start();
  if (consumes && thread == 0) {
    DmmaRing::init<dmma_smem::kMaxStages>(address, p.stages, Producer::filling(p), dmma_smem::kConsumerWarps);
    DmmaUnitQueue::init(address);
    init_fence();
  }
  __syncthreads();

  const DmmaUnitQueue units(smem, address);
  if (!consumes) {
    give_registers();
    if (worker >= p.schedule.ctas) return;
    const DmmaRing ring(address, p.stages, dmma_smem::stage_bytes(p.width));
    ptx::wait_for_grids_before();
    Producer(p, ring, units, thread).run(worker);
    return;
  }
  take_registers();
  if (worker >= p.schedule.ctas) return;
  DmmaOps<kXKMajor, kYKMajor> ops(p, smem, address, number);
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
