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
// warp reads two lines, if there are so many, so that nobody waits for several in turn.
__device__ __forceinline__ void warm_parameters(const WgmmaParams& p, uint32_t address, int warp) {
  constexpr int kLine = 64, kWarps = wgmma_smem::kThreads / 32;
  static_assert(sizeof(WgmmaParams) <= 2 * kLine * kWarps);
  const auto* const words = reinterpret_cast<const uint32_t*>(&p);
  const int word = warp * (kLine / 4), last = static_cast<int>(sizeof p) / 4 - 1;
  // A read whose value has no use is left out.
  ptx::store_shared_4(address + wgmma_smem::kWarmAt + 4 * warp,
                      words[min(word, last)] + words[min(word + kWarps * kLine / 4, last)]);
}

// By one thread: both producers fill a stage, and the consumers of all CTAs that this one's loads go to empty it.
__device__ __forceinline__ void init_ring(const WgmmaParams& p, uint32_t address) {
  constexpr int kOperands = 2;
  const int loaders = p.cluster_rows + p.cluster_columns - 1;
  TmaRing::init<wgmma_smem::kMaxStages>(address, p.stages, kOperands, loaders * wgmma_smem::kConsumerWarps);
  ptx::mbarrier_init_fence();
}

// Until all barriers of the CTA are there. Each role calls it when it has done what can be done without. What is used
// of other CTAs of the cluster waits for meet_others besides.
__device__ __forceinline__ void meet(const WgmmaParams& p) {
  if (p.cluster_rows * p.cluster_columns > 1) ptx::cluster_arrive();
  __syncthreads();
}
__device__ __forceinline__ void meet_others(const WgmmaParams& p) {
  if (p.cluster_rows * p.cluster_columns > 1) ptx::cluster_wait();
}

template <bool kIsX, bool kKMajor>
__device__ __forceinline__ void load(const WgmmaParams& p, const ClusterPlace& place, const TmaRing& ring,
                                     const WgmmaUnitQueue& units) {
  TmaProducer<kIsX, kKMajor> producer(p, place, ring, units);
  meet(p);
  meet_others(p);
  if (ptx::elect_one()) producer.run();
}

// Tells of the first unit, ahead of X's producer, which has its loads to issue.
__device__ __forceinline__ void announce_first(const WgmmaParams& p, const ClusterPlace& place, char* smem,
                                               uint32_t address) {
  ShortUnitCursor cursor(p.schedule, place.worker);
  ShortUnit unit;
  cursor.next(unit);
  const QueuedUnit first = queued(p, origin_of(p, place, unit), unit, cursor.done());
  if (ptx::elect_one()) WgmmaUnitQueue(smem, address).push(first);
}

// By a warp for each consumer warpgroup.
__device__ __forceinline__ void store(const WgmmaParams& p, const ClusterPlace& place, char* smem, uint32_t address,
                                      int warpgroup) {
  if (ptx::elect_one()) {
    if (warpgroup == 0)
      WgmmaUnitQueue::init(address);
    else
      ChunkRing::init(address);
    ptx::mbarrier_init_fence();
    ptx::tma_prefetch_map(warpgroup == 0 ? &p.x.map : &p.y.map);
  }
  meet(p);
  if (warpgroup == 0) announce_first(p, place, smem, address);
  meet_others(p);
  if (!p.c_vector) return;
  ptx::wait_for_grids_before();
  ChunkRing(p, smem, address, warpgroup).store_all(p);
}

template <DataType kIn, bool kXKMajor, bool kYKMajor>
__device__ __forceinline__ void consume(const WgmmaParams& p, const ClusterPlace& place, char* smem, uint32_t address,
                                        int warpgroup) {
  if (ptx::thread_index() / 32 == wgmma_smem::kProducerWarps && ptx::elect_one()) init_ring(p, address);
  meet(p);
  meet_others(p);
  WgmmaOps<kIn, kXKMajor, kYKMajor> ops(p, place, smem, address, warpgroup);
  QueuedUnits<WgmmaUnitQueue> units(p.schedule, WgmmaUnitQueue(smem, address));
  cta_main(ops, units);
  ops.finish();
}

template <DataType kIn, bool kXKMajor, bool kYKMajor>
__global__ void __launch_bounds__(wgmma_smem::kThreads, 1) gemm_wgmma(const __grid_constant__ WgmmaParams p) {
  extern __shared__ char unaligned[];
  const uint32_t begin = ptx::shared_address(unaligned);
  const uint32_t address = (begin + wgmma_smem::kAlignment - 1) & ~(wgmma_smem::kAlignment - 1u);
  char* const smem = unaligned + (address - begin);
  const int warp = ptx::uniform(ptx::thread_index() / 32);
  ptx::let_next_grid_start();
  warm_parameters(p, address, warp);
  const ClusterPlace place(p);

  if (warp >= wgmma_smem::kProducerWarps) {
    ptx::take_registers<kConsumerRegisters>();
    consume<kIn, kXKMajor, kYKMajor>(p, place, smem, address, warp / wgmma_smem::kGroupWarps - 1);
    return;
  }
  ptx::give_registers<kProducerRegisters>();
  const TmaRing ring(address, p.stages, p.stage_bytes);
  const WgmmaUnitQueue units(smem, address);
  if (warp == 0)
    load<true, kXKMajor>(p, place, ring, units);
  else if (warp == 1)
    load<false, kYKMajor>(p, place, ring, units);
  else
    store(p, place, smem, address, warp - 2);
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
