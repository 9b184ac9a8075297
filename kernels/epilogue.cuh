// C = alpha*accumulators + beta*C for one tile. The output type is a run-time choice for half types; beta == 0 never
// reads C.
#pragma once
#include "kernels/element.cuh"
#include "kernels/ptx/thread_index.cuh"

namespace skgemm {

struct TilePoint {
  int m, n;  // elements, from the tile's first
};

template <class Acc>
struct TileOutput {
  void* data;   // the tile's first element
  int64_t ld;   // elements
  int m, n;     // how much of the tile exists
  bool vector;  // columns start at multiples of 16 bytes
  Acc alpha, beta;
};

// kCount neighbouring elements of a column as the widest vectors they fill.
template <class Out, int kCount>
struct OutputRun {
  static constexpr int kBytes = kCount * sizeof(Out) < 16 ? kCount * sizeof(Out) : 16;
  static constexpr int kVectors = kCount * sizeof(Out) / kBytes;
  static constexpr int kWords = kBytes / 4;
  union {
    Out element[kCount];
    alignas(kBytes) uint32_t word[kVectors][kWords];
  };
  __device__ __forceinline__ OutputRun() {}

  __device__ __forceinline__ void read(const Out* from, int exist, bool vector) {
    if (vector && exist >= kCount) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) move(word[v], reinterpret_cast<const uint32_t*>(from) + v * kWords);
    } else {
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        if (e < exist) element[e] = from[e];
      }
    }
  }
  __device__ __forceinline__ void write(Out* to, int exist, bool vector) const {
    if (vector && exist >= kCount) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) move(reinterpret_cast<uint32_t*>(to) + v * kWords, word[v]);
    } else {
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        if (e < exist) to[e] = element[e];
      }
    }
  }

 private:
  static __device__ __forceinline__ void move(uint32_t* to, const uint32_t* from) {
    if constexpr (kWords == 4)
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    else if constexpr (kWords == 2)
      *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(from);
    else
      *to = *from;
  }
};

// Loads of C are issued for a group of runs before the first store, so that they overlap.
template <class Out, class Mainloop, bool kReadC, class Acc>
__device__ __forceinline__ void store_tile(const Acc (&acc)[Mainloop::kAccumulators], const TileOutput<Acc>& c) {
  constexpr int kRun = Mainloop::kRun, kRuns = Mainloop::kAccumulators / kRun;
  constexpr int kGroup = 2048 / Mainloop::Smem::kConfig.threads / kRun / (sizeof(Acc) / 4);  // 8 KB of C for a CTA
  static_assert(kRuns % kGroup == 0, "whole groups");
  const TilePoint origin = Mainloop::origin(ptx::thread_index());
  Out* const first = static_cast<Out*>(c.data) + origin.n * c.ld + origin.m;
  const int m = c.m - origin.m, n = c.n - origin.n;
#pragma unroll
  for (int group = 0; group < kRuns; group += kGroup) {
    OutputRun<Out, kRun> run[kGroup];
    if constexpr (kReadC) {
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const TilePoint p = Mainloop::step(group + i);
        run[i].read(first + p.n * c.ld + p.m, p.n < n ? m - p.m : 0, c.vector);
      }
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const TilePoint p = Mainloop::step(group + i);
#pragma unroll
      for (int e = 0; e < kRun; ++e) {
        Acc value = c.alpha * acc[(group + i) * kRun + e];
        if constexpr (kReadC) value += c.beta * widen(run[i].element[e]);
        run[i].element[e] = narrow<Out>(value);
      }
      run[i].write(first + p.n * c.ld + p.m, p.n < n ? m - p.m : 0, c.vector);
    }
  }
}

template <class Out, class Mainloop, class Acc>
__device__ __forceinline__ void store_tile(const Acc (&acc)[Mainloop::kAccumulators], const TileOutput<Acc>& c) {
  if (c.beta == 0)
    store_tile<Out, Mainloop, false>(acc, c);
  else
    store_tile<Out, Mainloop, true>(acc, c);
}

}  // namespace skgemm
