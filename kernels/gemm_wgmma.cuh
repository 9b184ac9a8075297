// The wgmma kernel: a warpgroup of producers (one thread by TMA, or four warps by rows) feeds two warpgroups of
// consumers, each of which runs cta_main for its rows.
#pragma once
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/row_producer.cuh"
#include "kernels/wgmma_ops.cuh"

namespace skgemm {

// Registers of a thread: as many for each at launch, then what its role needs. A warpgroup that takes more waits until
// the others have given them.
inline constexpr int kLaunchRegisters = 65536 / wgmma_smem::kThreads / 8 * 8;
inline constexpr int kProducerRegisters = 104, kConsumerRegisters = 200;
static_assert(kProducerRegisters + wgmma_smem::kConsumers * kConsumerRegisters <=
              (1 + wgmma_smem::kConsumers) * kLaunchRegisters);

// Parameters lie in constant memory, and the first read of a line of it takes as long as one of global memory: each
// warp reads a line, so that nobody waits for several in turn.
__device__ __forceinline__ void warm_parameters(const WgmmaParams& p, uint32_t anywhere, int warp) {
  constexpr int kLine = 64;
  static_assert(sizeof(WgmmaParams) <= kLine * wgmma_smem::kThreads / 32);
  const int word = min(warp * kLine, static_cast<int>(sizeof p) - 4) / 4;
  // A read whose value has no use is left out.
  ptx::store_shared_4(anywhere + 4 * warp, reinterpret_cast<const uint32_t*>(&p)[word]);
}

template <DataType kIn, bool kXKMajor, bool kYKMajor>
__global__ void __launch_bounds__(wgmma_smem::kThreads, 1) gemm_wgmma(const __grid_constant__ WgmmaParams p) {
  extern __shared__ char unaligned[];
  const uint32_t begin = ptx::shared_address(unaligned);
  const uint32_t address = (begin + wgmma_smem::kAlignment - 1) & ~(wgmma_smem::kAlignment - 1u);
  char* const smem = unaligned + (address - begin);
  const int warp = __shfl_sync(~0u, ptx::thread_index() / 32, 0);  // the same for all lanes, and known to be

  warm_parameters(p, address + wgmma_smem::kOutputAt, warp);
  const bool tma = p.x.tma || p.y.tma, by_rows = !p.x.tma || !p.y.tma;
  if (warp == 4) {
    TmaRing::init(address, p.stages, tma + by_rows * RowProducer<kXKMajor, kYKMajor>::kArrivals);
  } else if (ptx::thread_index() == 0) {
    if (p.x.tma) ptx::tma_prefetch_map(&p.x.map);
    if (p.y.tma) ptx::tma_prefetch_map(&p.y.map);
  }
  __syncthreads();
  ptx::let_next_grid_start();

  if (warp < 4) {
    ptx::give_registers<kProducerRegisters>();
    const TmaRing ring(address, p.stages, p.stage_bytes);
    if (by_rows) {
      auto* const queue = reinterpret_cast<StepOrigin*>(smem + wgmma_smem::kQueueAt);
      auto* const parked = reinterpret_cast<UnitCursor::Position*>(smem + wgmma_smem::kWalkAt);
      RowProducer<kXKMajor, kYKMajor>(p, ring, parked, queue, static_cast<int>(blockIdx.x)).run();
    } else if (ptx::thread_index() == 0) {
      TmaProducer<kXKMajor, kYKMajor>::run(p, ring, blockIdx.x);
    }
  } else {
    ptx::take_registers<kConsumerRegisters>();
    WgmmaOps<kIn, kXKMajor, kYKMajor> ops(p, smem, address, warp / 4 - 1);
    cta_main(ops, p.schedule, blockIdx.x);
  }
}

template <DataType kIn>
const void* wgmma_of_layout(bool x_k_major, bool y_k_major) {
  if (x_k_major)
    return y_k_major ? reinterpret_cast<const void*>(gemm_wgmma<kIn, true, true>)
                     : reinterpret_cast<const void*>(gemm_wgmma<kIn, true, false>);
  return y_k_major ? reinterpret_cast<const void*>(gemm_wgmma<kIn, false, true>)
                   : reinterpret_cast<const void*>(gemm_wgmma<kIn, false, false>);
}

}  // namespace skgemm
