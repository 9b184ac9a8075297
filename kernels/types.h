// The few words every room shares: element types and the host+device marker.
#pragma once
#include <cstdint>

#if defined(__CUDACC__)
#define SKGEMM_HD __host__ __device__
#else
#define SKGEMM_HD
#endif

namespace skgemm {

enum class DataType : uint8_t { f16, bf16, f32, f64 };

SKGEMM_HD constexpr int size_of(DataType t) { return t == DataType::f64 ? 8 : t == DataType::f32 ? 4 : 2; }
// Partial sums are fp64 for fp64 and fp32 for everything else (design D4).
SKGEMM_HD constexpr DataType accumulator_of(DataType t) { return t == DataType::f64 ? DataType::f64 : DataType::f32; }
constexpr const char* name_of(DataType t) {
  constexpr const char* names[] = {"f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(t)];
}

SKGEMM_HD constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace skgemm
