// Barriers in shared memory that count arrivals (sm_80) and bytes (sm_90). PTX ISA 9.7.13.15, "mbarrier".
#pragma once
#include <cstdint>

namespace skgemm::ptx {

__device__ __forceinline__ void mbarrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// 9.7.13.4, "fence.mbarrier_init": makes the initialisations visible to the copies that complete on them.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbarrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and makes the phase wait for `bytes` of asynchronous copies too.
__device__ __forceinline__ void mbarrier_arrive_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Waits until the phase of this parity is complete; the phase before the first has parity 1.
__device__ __forceinline__ void mbarrier_wait(uint32_t barrier, uint32_t parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{.reg .pred done;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{.reg .pred done;\n"
      "AGAIN: mbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#endif
}

}  // namespace skgemm::ptx
