// What the CTAs of a cluster need to work together (sm_90).
#pragma once
#include <cstdint>

namespace skgemm::ptx {

// PTX ISA 9.7.13.5, "barrier.cluster": all threads of all CTAs arrive, and each waits for all of them. Orders no
// accesses of memory but what fences order (9.7.13.4, "fence.mbarrier_init"): the default, a release, waits for all
// stores to be seen by the whole device.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
// 9.7.9.23, "mapa": where CTA `rank` of the cluster has what this one has at a shared-memory address.
__device__ __forceinline__ uint32_t cluster_address(uint32_t address, int rank) {
  uint32_t mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}
// 9.7.13.15.13, "mbarrier.arrive", at such an address. Releases to this CTA only, which is enough for what wgmma has
// read when its group is complete.
__device__ __forceinline__ void mbarrier_arrive_at(uint32_t cluster_address) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address) : "memory");
}

}  // namespace skgemm::ptx
