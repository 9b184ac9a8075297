// The fixup's operations (fixup.h) on the device: partial sums through global memory in register order, arrivals by a
// wrapping atomic increment. A CTA's 16-byte vector i of thread t lies at (i*threads + t)*16 bytes of its slot.
#pragma once
#include "kernels/fixup.h"
#include "kernels/ptx/load_acquire.cuh"
#include "kernels/ptx/thread_index.cuh"

namespace skgemm {

template <class Acc, int kAccumulators, int kThreads>
class FixupDevice {
  static constexpr int kPerVector = 16 / sizeof(Acc);
  static constexpr int kVectors = kAccumulators / kPerVector;
  static constexpr int kInFlight = 1024 / kThreads;  // vectors loaded together: 16 KB a CTA hides the latency of L2
  static constexpr int kGroup = kInFlight * kPerVector;
  static_assert(kVectors % kInFlight == 0);
  struct alignas(16) Vector {
    Acc value[kPerVector];
  };

 public:
  __device__ __forceinline__ FixupDevice(uint32_t* counters, void* slots)
      : counters_(counters), slots_(static_cast<Vector*>(slots)) {}

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const {
    uint32_t seen = 0;
    if (threadIdx.x == 0) seen = ptx::load_acquire(counters_ + counter);
    return broadcast(seen);
  }

  __device__ __forceinline__ void clear(int64_t counter) const {
    if (threadIdx.x == 0) counters_[counter] = 0;
  }

  __device__ __forceinline__ void publish(const Acc (&acc)[kAccumulators], int64_t slot) const {
    Vector* to = slot_of(slot);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) to[i * kThreads] = reinterpret_cast<const Vector*>(acc)[i];
  }

  // The first barrier puts every thread's partial before thread 0's fence, the fence puts it before the arrival.
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    __syncthreads();
    uint32_t old = 0;
    if (threadIdx.x == 0) {
      __threadfence();
      old = atomicInc(counters_ + counter, last);
      __threadfence();
    }
    return broadcast(old);
  }

  // acc = sum over contributors in slot order: what comes before the own part, then that part, then the rest.
  __device__ __forceinline__ void collect(Acc (&acc)[kAccumulators], const Schedule& s, const Unit& u) const {
    const Vector* const head = slot_of(s.slot(u, 0));
    const Vector* const second = slot_of(s.slot(u, 1));
    const int stride = static_cast<int>(s.slot_stride()) * kVectors * kThreads;
    const int contributors = static_cast<int>(u.contributors), own = static_cast<int>(u.position);
#pragma unroll
    for (int first = 0; first < kVectors; first += kInFlight) {
      Acc* const group = acc + first * kPerVector;
      const Vector* from = second + first * kThreads;
      if (own > 0) {
        Acc sum[kGroup];
        load(sum, head + first * kThreads);
#pragma unroll 1
        for (int position = 1; position < own; ++position, from += stride) add(sum, from);
#pragma unroll
        for (int i = 0; i < kGroup; ++i) group[i] = sum[i] + group[i];
        from += stride;
      }
#pragma unroll 1
      for (int position = own + 1; position < contributors; ++position, from += stride) add(group, from);
    }
  }

 private:
  __device__ __forceinline__ Vector* slot_of(int64_t slot) const {
    return slots_ + slot * (kVectors * kThreads) + ptx::thread_index();
  }

  // Partials are read once: past L1.
  static __device__ __forceinline__ void load(Acc* part, const Vector* from) {
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const uint4 raw = __ldcg(reinterpret_cast<const uint4*>(from + i * kThreads));
      memcpy(part + i * kPerVector, &raw, sizeof raw);
    }
  }
  static __device__ __forceinline__ void add(Acc* sum, const Vector* from) {
    Acc part[kGroup];
    load(part, from);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) sum[i] += part[i];
  }

  // Thread 0's value for all.
  static __device__ __forceinline__ uint32_t broadcast(uint32_t value) {
    __shared__ uint32_t shared;
    __syncthreads();
    if (threadIdx.x == 0) shared = value;
    __syncthreads();
    return shared;
  }

  uint32_t* counters_;
  Vector* slots_;
};

}  // namespace skgemm
