// C = beta*C over a batch, for the products whose other term vanishes. beta == 0 writes zeros and never reads C.
#pragma once
#include "kernels/element.cuh"

namespace skgemm {

inline constexpr int kScaleThreads = 256;
inline constexpr int64_t kScaleRows = 1024;  // of one column, by one CTA at a time

template <DataType kType>
__global__ void __launch_bounds__(kScaleThreads) scale(const __grid_constant__ ScaleArgs args) {
  using T = Element<kType>;
  using Acc = decltype(widen(T{}));
  const Acc beta = read_scalar<Acc>(args.beta);
  const int64_t strips = ceil_div(args.m, kScaleRows), work = strips * args.n * args.batch;
  for (int64_t w = blockIdx.x; w < work; w += gridDim.x) {
    const int64_t column = w / strips, first = (w - column * strips) * kScaleRows, entry = column / args.n;
    T* const c = static_cast<T*>(args.c) + entry * args.c_batch_stride + (column - entry * args.n) * args.ldc;
    const int64_t end = first + kScaleRows < args.m ? first + kScaleRows : args.m;
    for (int64_t i = first + threadIdx.x; i < end; i += kScaleThreads) {
      c[i] = beta == 0 ? T{} : narrow<T>(beta * widen(c[i]));
    }
  }
}

}  // namespace skgemm
