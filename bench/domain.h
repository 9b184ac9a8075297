// The evaluation's domain (Osama et al. 2023, figure 4): 32,824 shapes, m, n and k log-uniform in [128, 8192].
// Deterministic in (seed, align), so that every table can name its shapes in one line.
#pragma once
#include <cstdint>
#include <vector>

namespace skgemm::bench {

inline constexpr int kDomainShapes = 32824;
inline constexpr int64_t kDomainMin = 128, kDomainMax = 8192;

struct DomainShape {
  int64_t m, n, k;

  bool operator==(const DomainShape&) const = default;
};

// Every `every`-th shape of the domain, extents rounded to multiples of `align`. Shape i is the same for every `every`.
std::vector<DomainShape> domain_shapes(uint64_t seed, int64_t align, int every = 1);

}  // namespace skgemm::bench
