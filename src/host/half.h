// IEEE binary16 on a CPU: conversions by bits (any rounding or flush-to-zero mode of the caller leaves them exact), and
// the h product through fp32.
#pragma once
#include <bit>
#include <cstdint>

#include "src/gemm_call.h"

namespace skgemm {

constexpr float half_to_float(uint16_t h) {
  const uint32_t sign = (h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  if (mantissa == 0) return std::bit_cast<float>(sign);
  // A subnormal half is a normal float: bring its leading one to bit 10.
  const int shift = std::countl_zero(mantissa) - 21;
  mantissa = (mantissa << shift) & 0x3ffu;
  return std::bit_cast<float>(sign | (static_cast<uint32_t>(113 - shift) << 23) | (mantissa << 13));
}

// Rounds to nearest, ties to even; 65520 and above become Inf, NaN stays NaN.
constexpr uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude >= 0x38800000u) {  // 2^-14: a normal half
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (magnitude < 0x33000000u) return static_cast<uint16_t>(sign);  // below 2^-25
  const uint32_t shift = 126 - (magnitude >> 23);                   // in units of 2^-24, the smallest half
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t rest = mantissa & ((1u << shift) - 1), tie = 1u << (shift - 1);
  uint32_t units = mantissa >> shift;
  if (rest > tie || (rest == tie && (units & 1u) != 0)) ++units;
  return static_cast<uint16_t>(sign | units);
}

// A product of halves on the CPU, k and alpha not 0: blocks of the operands become fp32, the sums are kept in fp32 and
// rounded once. At most 12 MiB of scratch whatever the sizes; false when even that can't be had (nothing is written
// then).
bool half_gemm(const GemmCall& call);

}  // namespace skgemm
