#include "bench/domain.h"

#include <algorithm>
#include <cmath>

#include "bench/splitmix64.h"

namespace skgemm::bench {
namespace {

int64_t draw_extent(SplitMix64& random, int64_t align) {
  const double span = static_cast<double>(kDomainMax) / static_cast<double>(kDomainMin);
  const double x = static_cast<double>(kDomainMin) * std::pow(span, random.uniform());
  const int64_t rounded = align * static_cast<int64_t>(std::llround(x / static_cast<double>(align)));
  return std::clamp(rounded, kDomainMin, kDomainMax);
}

}  // namespace

std::vector<DomainShape> domain_shapes(uint64_t seed, int64_t align, int every) {
  SplitMix64 random{seed};
  std::vector<DomainShape> shapes;
  shapes.reserve(static_cast<size_t>(kDomainShapes / every + 1));
  for (int i = 0; i < kDomainShapes; ++i) {
    const int64_t m = draw_extent(random, align);
    const int64_t n = draw_extent(random, align);
    const int64_t k = draw_extent(random, align);
    if (i % every == 0) shapes.push_back({m, n, k});
  }
  return shapes;
}

}  // namespace skgemm::bench
