// Asynchronous copies from global to shared memory. PTX ISA 9.7.9.25.3, "cp.async" (sm_80+).
#pragma once
#include <cstdint>

namespace skgemm::ptx {

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Copies 16 bytes, or does nothing unless `go`; past L1. Both addresses 16-byte aligned.
__device__ __forceinline__ void cp_async_16(uint32_t to, const void* from, bool go) {
  asm volatile(
      "{.reg .pred go; setp.ne.b32 go, %2, 0; @go cp.async.cg.shared.global.L2::128B [%0], [%1], 16;}" ::"r"(to),
      "l"(from), "r"(static_cast<int>(go))
      : "memory");
}
// The same for 4 bytes, through L1.
__device__ __forceinline__ void cp_async_4(uint32_t to, const void* from, bool go) {
  asm volatile("{.reg .pred go; setp.ne.b32 go, %2, 0; @go cp.async.ca.shared.global [%0], [%1], 4;}" ::"r"(to),
               "l"(from), "r"(static_cast<int>(go))
               : "memory");
}

// Copies `kBytes` (4 or 8) through L1, or reads nothing and stores zeros unless `exists`.
template <int kBytes>
__device__ __forceinline__ void cp_async_or_zero(uint32_t to, const void* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
               "r"(exists ? kBytes : 0)
               : "memory");
}
// PTX ISA 9.7.9.25.3.2, "cp.async.commit_group".
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// PTX ISA 9.7.9.25.3.3, "cp.async.wait_group": waits until at most kPending of this thread's newest groups are under
// way.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace skgemm::ptx
