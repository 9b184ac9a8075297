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
// The same into all CTAs of the cluster whose bits are set in `ctas`, at the same shared-memory address of each and
// completing on the barrier at the same address.
__device__ __forceinline__ void tma_load_to(uint16_t ctas, uint32_t to, const CUtensorMap* map, uint32_t barrier,
                                            int at, int line, int entry) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at), "r"(line), "r"(entry), "h"(ctas)
      : "memory");
}
// 9.7.9.27.1.4, "cp.async.bulk.prefetch.tensor": only into L2.
__device__ __forceinline__ void tma_prefetch(const CUtensorMap* map, int at, int line, int entry) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1, %2, %3}];" ::"l"(map), "r"(at), "r"(line),
               "r"(entry)
               : "memory");
}
// 9.7.9.16, "prefetch.tensormap".
__device__ __forceinline__ void tma_prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

}  // namespace skgemm::ptx
