// Asynchronous copies from global to shared memory. PTX ISA 9.7.9.25.3, "cp.async" (sm_80+).
#pragma once
#include <cstdint>

namespace skgemm::ptx {

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Copies `kBytes` (4, 8 or 16, and both addresses multiples of that), or does nothing unless `go`. 16 bytes go past L1,
// which no narrower copy can.
template <int kBytes>
__device__ __forceinline__ void cp_async(uint32_t to, const void* from, bool go) {
  if constexpr (kBytes == 16)
    asm volatile(
        "{.reg .pred go; setp.ne.b32 go, %2, 0; @go cp.async.cg.shared.global.L2::128B [%0], [%1], 16;}" ::"r"(to),
        "l"(from), "r"(static_cast<int>(go))
        : "memory");
  else
    asm volatile("{.reg .pred go; setp.ne.b32 go, %2, 0; @go cp.async.ca.shared.global [%0], [%1], %3;}" ::"r"(to),
                 "l"(from), "r"(static_cast<int>(go)), "n"(kBytes)
                 : "memory");
}

// The same, always.
template <int kBytes>
__device__ __forceinline__ void cp_async(uint32_t to, const void* from) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
}

// The same, but reads nothing and stores zeros unless `exists`.
template <int kBytes>
__device__ __forceinline__ void cp_async_or_zero(uint32_t to, const void* from, bool exists) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(exists ? 16 : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(exists ? kBytes : 0)
                 : "memory");
}
// PTX ISA 9.7.13.15.15, "cp.async.mbarrier.arrive": an arrival that happens when all copies of this thread so far have,
// and that the barrier's count has been told of.
__device__ __forceinline__ void cp_async_arrive(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
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
