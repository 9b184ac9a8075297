// Which thread this is, and what all threads of a warp have in common.
#pragma once
#include <cstdint>

namespace skgemm::ptx {

// PTX ISA 10.1, "%tid". threadIdx.x, read anew at each use: what is worked out from it does not outlive its part of the
// kernel in registers.
__device__ __forceinline__ int thread_index() {
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  __builtin_assume(t >= 0);  // so that a division by a power of two is one shift
  return t;
}

// PTX ISA 10.3, "%laneid".
__device__ __forceinline__ uint32_t lane_index() {
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
// The first lane's value, which the compiler then knows to be the same for all lanes.
template <class Value>
__device__ __forceinline__ Value uniform(Value value) {
  return __shfl_sync(~0u, value, 0);
}
// 9.7.14.3 (PTX ISA), "elect.sync": true for one thread of the warp, and the compiler knows that it is one. All threads
// call it.
__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile("{.reg .pred one; elect.sync _|one, 0xffffffff; selp.u32 %0, 1, 0, one;}" : "=r"(elected));
  return elected != 0;
}

}  // namespace skgemm::ptx
