// Asynchronous copies of tensor boxes from global to shared memory. PTX ISA 9.7.9.27, "cp.async.bulk" and its kin
// (sm_90). Coordinates are (element along a line, line, batch entry); the first must be a multiple of 16 bytes (else an
// illegal instruction, measured on an H200). What lies outside the tensor reads as zero.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace skgemm::ptx {

// 9.7.9.27.1.2, "cp.async.bulk.tensor", to shared memory; its bytes complete on `barrier`.
__device__ __forceinline__ void tma_load(uint32_t to, const CUtensorMap* map, uint32_t barrier, int at, int line,
                                         int entry) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at), "r"(line), "r"(entry)
      : "memory");
}
// 9.7.9.16, "prefetch.tensormap".
__device__ __forceinline__ void tma_prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// 9.7.13.4, "fence.proxy": puts this thread's ordinary accesses of shared memory before those of the wgmma that
// follow a barrier.
__device__ __forceinline__ void fence_shared_for_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace skgemm::ptx
