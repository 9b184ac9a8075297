// Quotients by numbers that are known before a schedule is walked.
#pragma once
#include "kernels/types.h"

namespace skgemm {

template <class Int>
struct Divisor {
  SKGEMM_HD constexpr Int quotient(Int n, Int d) const { return n / d; }
};

// By a multiplication, as a division on the device takes some 200 cycles, and a worker's first loads wait for several:
// for 0 <= n < 2^31, n / d == n*magic >> shift with shift = 31 + ceil(log2(d)) and magic = ceil(2^shift / d), which is
// below 2^32 (Granlund and Montgomery 1994, theorem 4.2).
template <>
struct Divisor<int32_t> {
  uint32_t magic = 0;
  int32_t shift = 0;

  // Of 0 there is none.
  static constexpr Divisor of(int32_t d) {
    if (d < 1) return {};
    int shift = 31;
    while (int64_t{1} << (shift - 31) < d) ++shift;
    return {static_cast<uint32_t>(((uint64_t{1} << shift) - 1) / static_cast<uint64_t>(d) + 1), shift};
  }
  // n / d, of the d that this was made of.
  SKGEMM_HD constexpr int32_t quotient(int32_t n, int32_t) const {
    return static_cast<int32_t>(uint64_t{static_cast<uint32_t>(n)} * magic >> shift);
  }
};

}  // namespace skgemm
