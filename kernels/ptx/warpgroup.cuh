// What warps of different roles in one CTA need: their registers and their barriers.
#pragma once

namespace skgemm::ptx {

// PTX ISA 9.7.19.5, "setmaxnreg" (sm_90a): registers of each of a warpgroup's threads, taken from or given to the CTA's
// pool. A multiple of 8.
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
// PTX ISA 9.7.13.1, "barrier": barrier `id` (0 is __syncthreads) of kThreads threads.
template <int kThreads>
__device__ __forceinline__ void named_barrier(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
}

}  // namespace skgemm::ptx
