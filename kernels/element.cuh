// Element types on the device: what a DataType is in C++, and the conversions to and from the accumulator.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/launch.h"

namespace skgemm {

template <DataType kType>
struct ElementOf;
template <>
struct ElementOf<DataType::f16> {
  using Type = __half;
};
template <>
struct ElementOf<DataType::bf16> {
  using Type = __nv_bfloat16;
};
template <>
struct ElementOf<DataType::f32> {
  using Type = float;
};
template <>
struct ElementOf<DataType::f64> {
  using Type = double;
};
template <DataType kType>
using Element = typename ElementOf<kType>::Type;

__device__ inline float widen(__half x) { return __half2float(x); }
__device__ inline float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float widen(float x) { return x; }
__device__ inline double widen(double x) { return x; }

template <class To, class From>
__device__ __forceinline__ To narrow(From x) {
  return static_cast<To>(x);
}
template <>
__device__ __forceinline__ __half narrow<__half, float>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 narrow<__nv_bfloat16, float>(float x) {
  return __float2bfloat16_rn(x);
}

// alpha or beta, wherever it lives.
template <class Acc>
__device__ __forceinline__ Acc read_scalar(const Scalar& s) {
  if (s.device == nullptr) return static_cast<Acc>(s.value);
  switch (s.type) {
    case DataType::f16:
      return static_cast<Acc>(widen(*static_cast<const __half*>(s.device)));
    case DataType::bf16:
      return static_cast<Acc>(widen(*static_cast<const __nv_bfloat16*>(s.device)));
    case DataType::f32:
      return static_cast<Acc>(*static_cast<const float*>(s.device));
    default:
      return static_cast<Acc>(*static_cast<const double*>(s.device));
  }
}

}  // namespace skgemm
