// The wgmma kernel: two warpgroups of consumers each run cta_main for their rows of every tile; a third one feeds them
// (a thread for each operand, by TMA) and stores what they have done.
#pragma once
#include "kernels/ptx/cluster.cuh"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/ptx/shared_access.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/tma_producer.cuh"
#include "kernels/wgmma_ops.cuh"

namespace skgemm {

// Registers of a thread: as many for each at launch, then what its role needs. A warpgroup that takes more waits until
// the others have given them.
inline constexpr int kLaunchRegisters = 65536 / wgmma_smem::kThreads / 8 * 8;
inline constexpr int kProducerRegisters = 120, kConsumerRegisters = 192;
static_assert(kProducerRegisters + wgmma_smem::kConsumers * kConsumerRegisters <=
              (1 + wgmma_smem::kConsumers) * kLaunchRegisters);

// Parameters lie in constant memory, and the first read of a line of it takes as long as one of global memory: each
// warp reads a line, so that nobody waits for several in turn.
__device__ __forceinline__ void warm_parameters(const WgmmaParams& p, uint32_t address, int warp) {
  constexpr int kLine = 64, kWarps = wgmma_smem::kThreads / 32;
  static_assert(sizeof(WgmmaParams) <= kLine * kWarps);
  const int word = min(warp * kLine, static_cast<int>(sizeof p) - 4) / 4;
  // A read whose value has no use is left out.
  ptx::store_shared_4(address + wgmma_smem::kWarmAt + 4 * warp, reinterpret_cast<const uint32_t*>(&p)[word]);
}

// Before all threads meet: barriers and the tensor maps of the TMA, each by a warp that has nothing else to do yet.
__device__ __forceinline__ void prepare(const WgmmaParams& p, uint32_t address, int warp) {
  switch (warp) {
    case 0:
      if (ptx::elect_one()) ptx::tma_prefetch_map(&p.x.map);
      break;
    case 1:
      if (ptx::elect_one()) ptx::tma_prefetch_map(&p.y.map);
      break;
    case 2:
      UnitQueue::init(address, wgmma_smem::kConsumerWarps + 1);  // and Y's producer
      break;
    case 3:
      ChunkRing::init(address);
      break;
    case 4:
      TmaRing::init(address, p.stages, p.cluster_rows + p.cluster_columns - 1);
      break;
  }
}

template <bool kXKMajor, bool kYKMajor>
__device__ __forceinline__ void produce(const WgmmaParams& p, const ClusterPlace& place, char* smem, uint32_t address,
                                        int warp) {
  const TmaRing ring(address, p.stages, p.stage_bytes);
  const UnitQueue units(smem, address);
  if (warp == 0) {
    if (ptx::elect_one()) TmaProducer<true, kXKMajor>(p, place, ring, units).run();
  } else if (warp == 1) {
    if (ptx::elect_one()) TmaProducer<false, kYKMajor>(p, place, ring, units).run();
  } else if (p.c_vector) {
    ptx::wait_for_grids_before();
    ChunkRing(p, smem, address, warp - 2).store_all(p);
  }
}

template <DataType kIn, bool kXKMajor, bool kYKMajor>
__global__ void __launch_bounds__(wgmma_smem::kThreads, 1) gemm_wgmma(const __grid_constant__ WgmmaParams p) {
  extern __shared__ char unaligned[];
  const uint32_t begin = ptx::shared_address(unaligned);
  const uint32_t address = (begin + wgmma_smem::kAlignment - 1) & ~(wgmma_smem::kAlignment - 1u);
  char* const smem = unaligned + (address - begin);
  const int warp = ptx::uniform(ptx::thread_index() / 32);
  const ClusterPlace place(p);

  warm_parameters(p, address, warp);
  prepare(p, address, warp);
  if (p.cluster_rows * p.cluster_columns == 1)
    __syncthreads();
  else
    ptx::cluster_barrier();
  ptx::let_next_grid_start();

  if (warp < wgmma_smem::kProducerWarps) {
    ptx::give_registers<kProducerRegisters>();
    produce<kXKMajor, kYKMajor>(p, place, smem, address, warp);
  } else {
    ptx::take_registers<kConsumerRegisters>();
    WgmmaOps<kIn, kXKMajor, kYKMajor> ops(p, place, smem, address, warp / wgmma_smem::kGroupWarps - 1);
    QueuedUnits units(p, UnitQueue(smem, address));
    cta_main(ops, units);
    ops.finish();
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
