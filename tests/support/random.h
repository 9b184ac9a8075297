// A small seeded generator (splitmix64, Steele et al. 2014), so that a seed means the same data with every compiler.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace skgemm::test {

class Random {
 public:
  explicit constexpr Random(uint64_t seed) : state_(seed) {}

  constexpr uint64_t bits() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // In [low, high].
  constexpr int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  // In [-1, 1), 53 random bits.
  constexpr double real() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0; }
  constexpr bool one_in(int64_t n) { return integer(1, n) == 1; }

  template <class T, size_t N>
  constexpr const T& pick(const T (&from)[N]) {
    return from[bits() % N];
  }
  template <class T>
  constexpr const T& pick(std::span<const T> from) {
    return from[bits() % from.size()];
  }

 private:
  uint64_t state_;
};

}  // namespace skgemm::test
