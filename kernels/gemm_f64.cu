// The fp64 kernels: one instantiation for each pair of operand layouts. Four warps of consumers run cta_main; two more
// copy what they multiply.
#include "kernels/copy_producer.cuh"
#include "kernels/dmma_ops.cuh"

namespace skgemm {
namespace {

template <bool kXKMajor, bool kYKMajor>
__global__ void __launch_bounds__(dmma_smem::kThreads, dmma_smem::kCtasPerSm)
    gemm_dmma(const __grid_constant__ DmmaParams p) {
  using namespace dmma_smem;
  extern __shared__ __align__(kAlignment) char smem[];
  const uint32_t address = ptx::shared_address(smem);
  const int thread = ptx::thread_index(), warp = ptx::uniform(thread / 32);
  const int worker = static_cast<int>(blockIdx.x);
  ptx::let_next_grid_start();
  if (thread == 0) {
    DmmaRing::init<kMaxStages>(address, p.stages, kProducerThreads, kConsumerWarps);
    DmmaUnitQueue::init(address);
  }
  __syncthreads();

  const DmmaUnitQueue units(smem, address);
  if (warp >= kConsumerWarps) {
    const DmmaRing ring(address, p.stages, stage_bytes(p.width));
    ptx::wait_for_grids_before();
    CopyProducer<kXKMajor, kYKMajor>(p, ring, units, thread - 32 * kConsumerWarps).run(worker);
    return;
  }
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
