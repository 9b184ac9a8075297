// Asynchronous copies of tensor boxes between global and shared memory. PTX ISA 9.7.9.27, "cp.async.bulk" and its kin
// (sm_90). Coordinates are (element along a line, line, batch entry); what lies outside the tensor reads as zero and is
// not written.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace skgemm::ptx {

// 9.7.9.27.1.2, "cp.async.bulk.tensor", to shared memory; its bytes complete on `barrier`.
__device__ __forceinline__ void tma_load(uint32_t to, const CUtensorMap* map, uint32_t barrier, int at, int line,
                                         int entry) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(
          to),
      "l"(map), "r"(barrier), "r"(at), "r"(line), "r"(entry)
      : "memory");
}
// The same from shared memory, in this thread's bulk group.
__device__ __forceinline__ void tma_store(const CUtensorMap* map, uint32_t from, int at, int line, int entry) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from),
               "r"(at), "r"(line), "r"(entry)
               : "memory");
}
// 9.7.9.27.1.5, "cp.async.bulk.prefetch.tensor": to L2.
__device__ __forceinline__ void tma_prefetch(const CUtensorMap* map, int at, int line, int entry) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1, %2, %3}];" ::"l"(map), "r"(at), "r"(line),
               "r"(entry)
               : "memory");
}
// 9.7.9.16, "prefetch.tensormap".
__device__ __forceinline__ void tma_prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// 9.7.9.27.2.1, "cp.async.bulk.commit_group".
__device__ __forceinline__ void tma_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// 9.7.9.27.2.2, "cp.async.bulk.wait_group": until all but this thread's kPending newest groups have read shared memory.
template <int kPending>
__device__ __forceinline__ void tma_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// 9.7.13.4, "fence.proxy": puts this thread's ordinary accesses of shared memory before the copies that follow a
// barrier.
__device__ __forceinline__ void fence_shared_for_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace skgemm::ptx
