// PTX ISA 9.7.9.8, "ld" with .acquire at gpu scope (sm_70+). Pairs with a release by another CTA's fence and atomic.
#pragma once
#include <cstdint>

namespace skgemm::ptx {

__device__ __forceinline__ uint32_t load_acquire(const uint32_t* p) {
  uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

}  // namespace skgemm::ptx
