// PTX ISA 10.1, "%tid".
#pragma once

namespace skgemm::ptx {

// threadIdx.x, read anew at each use: what is worked out from it does not outlive its part of the kernel in registers.
__device__ __forceinline__ int thread_index() {
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  return t;
}

}  // namespace skgemm::ptx
