// Warpgroup matrix multiply-accumulate, asynchronous, d += x*y with x 64 rows x 16 and y 16 x width, fp32 sums.
// PTX ISA 9.7.15, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate" (sm_90a). With w = warp in the warpgroup,
// g = lane/4 and t = lane%4, d[4j + 2h + e] is row 16w + g + 8h, column 8j + 2t + e.
#pragma once
#include "kernels/types.h"

namespace skgemm::ptx {

// 9.7.15.7.1, "wgmma.fence": orders this warp's register and shared-memory accesses before the wgmma that follow.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// 9.7.15.7.2, "wgmma.commit_group".
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// 9.7.15.7.3, "wgmma.wait_group": until at most kPending of the newest groups are under way.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// The same for all groups, after which the first kSums sums may be read: registers are no memory, so that without the
// empty instructions the compiler could read them ahead of the wait.
template <int kSums>
__device__ __forceinline__ void wgmma_wait_for(float (&sums)[128]) {
  wgmma_wait<0>();
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i]));
}

// 9.7.15.5.1.2.2, "Matrix descriptor format", for operands of 128-byte lines with the 128-byte swizzle. `stride`: bytes
// from a group of eight lines to the next. `leading`: bytes between blocks of 64 elements; only for operands whose
// lines run along m or n. The tile's address is a multiple of 1024 (plus whole multiples of 32 bytes along a line).
__device__ __forceinline__ uint64_t wgmma_descriptor(uint32_t address, uint32_t leading, uint32_t stride) {
  const uint32_t low = (address >> 4 & 0x3fff) | (leading >> 4) << 16, high = stride >> 4 | 1u << 30;
  return static_cast<uint64_t>(high) << 32 | low;
}

template <DataType kType, int kWidth>
struct Of {};
#include "wgmma_operands.inc"

}  // namespace skgemm::ptx
