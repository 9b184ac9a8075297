// The fixup's operations (fixup.h) on the device: partial sums through global memory in register order, arrivals by a
// wrapping atomic increment. 16-byte vector i of thread t of a team lies at (i*threads + t)*16 bytes of the team's part
// of a slot.
#pragma once
#include "kernels/fixup.h"
#include "kernels/ptx/load_acquire.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ptx/warpgroup.cuh"

namespace skgemm {

// Who finishes a tile together, with its own part of every slot and its own counters: all threads of a CTA,
template <int kCtaThreads, int kAllVectors>
struct CtaTeam {
  static constexpr int kThreads = kCtaThreads;
  static constexpr int kInFlight = 1024 / kThreads;
  static __device__ __forceinline__ int thread() { return ptx::thread_index(); }
  static __device__ __forceinline__ void barrier() { __syncthreads(); }
  static __device__ constexpr int vectors() { return kAllVectors; }  // of a thread
  static __device__ constexpr int parts() { return 1; }  // of a slot
  static __device__ constexpr int part() { return 0; }
  static __device__ __forceinline__ uint32_t* word() {  // of shared memory
    __shared__ uint32_t shared;
    return &shared;
  }
};
// or each warpgroup of consumers, of all CTAs of a cluster, its rows.
struct WarpgroupTeam {
  static constexpr int kThreads = 128;
  static constexpr int kInFlight = 4;
  int number, numbers, used_vectors;
  int barrier_id;
  uint32_t* shared;

  static __device__ __forceinline__ int thread() { return ptx::thread_index() % kThreads; }
  __device__ __forceinline__ void barrier() const { ptx::named_barrier<kThreads>(barrier_id); }
  __device__ __forceinline__ int vectors() const { return used_vectors; }
  __device__ __forceinline__ int parts() const { return numbers; }
  __device__ __forceinline__ int part() const { return number; }
  __device__ __forceinline__ uint32_t* word() const { return shared; }
};

template <class Acc, int kAccumulators, class Team>
class FixupDevice {
  static constexpr int kThreads = Team::kThreads;
  static constexpr int kPerVector = 16 / sizeof(Acc);
  static constexpr int kVectors = kAccumulators / kPerVector;
  static constexpr int kInFlight = Team::kInFlight;  // vectors loaded together: 16 KB a CTA hides the latency of L2
  static constexpr int kGroup = kInFlight * kPerVector;
  static_assert(kVectors % kInFlight == 0);
  struct alignas(16) Vector {
    Acc value[kPerVector];
  };

 public:
  __device__ __forceinline__ FixupDevice(uint32_t* counters, void* slots, Team team = {})
      : counters_(counters), slots_(static_cast<Vector*>(slots)), team_(team) {}

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const {
    uint32_t seen = 0;
    if (team_.thread() == 0) seen = ptx::load_acquire(place_of(counter));
    return broadcast(seen);
  }

  __device__ __forceinline__ void clear(int64_t counter) const {
    if (team_.thread() == 0) *place_of(counter) = 0;
  }

  __device__ __forceinline__ void publish(const Acc (&acc)[kAccumulators], int64_t slot) const {
    Vector* to = slot_of(slot);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (i < team_.vectors()) to[i * kThreads] = reinterpret_cast<const Vector*>(acc)[i];
    }
  }

  // The first barrier puts every thread's partial before thread 0's fence, the fence puts it before the arrival.
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    team_.barrier();
    uint32_t old = 0;
    if (team_.thread() == 0) {
      __threadfence();
      old = atomicInc(place_of(counter), last);
      __threadfence();
    }
    return broadcast(old);
  }

  // acc = sum over contributors in slot order: what comes before the own part, then that part, then the rest.
  template <class Slots, class U>
  __device__ __forceinline__ void collect(Acc (&acc)[kAccumulators], const Slots& s, const U& u) const {
    const Vector* const head = slot_of(s.slot(u, 0));
    const Vector* const second = slot_of(s.slot(u, 1));
    const int stride = static_cast<int>(s.slot_stride()) * team_.vectors() * team_.parts() * kThreads;
    const int contributors = static_cast<int>(u.contributors), own = static_cast<int>(u.position);
#pragma unroll
    for (int first = 0; first < kVectors; first += kInFlight) {
      if (first >= team_.vectors()) break;
      Acc* const group = acc + first * kPerVector;
      const int count = team_.vectors() - first;
      const Vector* from = second + first * kThreads;
      if (own > 0) {
        Acc sum[kGroup];
        load(sum, head + first * kThreads, count);
#pragma unroll 1
        for (int position = 1; position < own; ++position, from += stride) add(sum, from, count);
#pragma unroll
        for (int i = 0; i < kGroup; ++i) group[i] = sum[i] + group[i];
        from += stride;
      }
#pragma unroll 1
      for (int position = own + 1; position < contributors; ++position, from += stride) add(group, from, count);
    }
  }

 private:
  __device__ __forceinline__ Vector* slot_of(int64_t slot) const {
    return slots_ + (slot * team_.parts() + team_.part()) * (team_.vectors() * kThreads) + team_.thread();
  }
  __device__ __forceinline__ uint32_t* place_of(int64_t counter) const {
    return counters_ + counter * team_.parts() + team_.part();
  }

  // The first `count` vectors of a group. Partials are read once: past L1.
  static __device__ __forceinline__ void load(Acc* part, const Vector* from, int count) {
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const uint4 raw = i < count ? __ldcg(reinterpret_cast<const uint4*>(from + i * kThreads)) : uint4{};
      memcpy(part + i * kPerVector, &raw, sizeof raw);
    }
  }
  static __device__ __forceinline__ void add(Acc* sum, const Vector* from, int count) {
    Acc part[kGroup];
    load(part, from, count);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) sum[i] += part[i];
  }

  // Thread 0's value for all.
  __device__ __forceinline__ uint32_t broadcast(uint32_t value) const {
    uint32_t* const word = team_.word();
    team_.barrier();
    if (team_.thread() == 0) *word = value;
    team_.barrier();
    return *word;
  }

  uint32_t* counters_;
  Vector* slots_;
  Team team_;
};

}  // namespace skgemm
