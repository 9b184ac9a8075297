// SplitMix64 (Steele, Lea, Flood 2014): the random stream of the domain and of the benchmark's operands.
#pragma once
#include <cstdint>

namespace skgemm::bench {

struct SplitMix64 {
  uint64_t state;

  constexpr uint64_t next() {
    state += 0x9E3779B97F4A7C15;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
  // In [0, 1), 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // In [0, bound).
  constexpr int64_t below(int64_t bound) { return static_cast<int64_t>(uniform() * static_cast<double>(bound)); }
};

}  // namespace skgemm::bench
