#include "src/cli/bench_check.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "bench/splitmix64.h"
#include "src/host/half.h"

namespace skgemm::cli {
namespace {

// The last of calls [0, calls) that writes to output `set`.
int64_t last_writer(int64_t set, int64_t sets, int64_t calls) { return set + (calls - 1 - set) / sets * sets; }

void evaluate(Sample& s, const BenchCase& c, const Layout& layout, const Block& block) {
  const int64_t size = size_of(c.type);
  const int64_t a0 = layout.a_offset(s.call) / size + s.batch * c.stride_a();
  const int64_t b0 = layout.b_offset(s.call) / size + s.batch * c.stride_b();
  const std::vector<double> a =
      c.ops.a_transposed ? block.gather(a0 + s.i * c.lda, 1, c.k) : block.gather(a0 + s.i, c.lda, c.k);
  const std::vector<double> b =
      c.ops.b_transposed ? block.gather(b0 + s.j, c.ldb, c.k) : block.gather(b0 + s.j * c.ldb, 1, c.k);
  double sum = 0, squares = 0;
  for (size_t p = 0; p < a.size(); ++p) {
    const double product = a[p] * b[p];
    sum += product;
    squares += product * product;
  }
  s.expected = c.alpha * (1 + c.beta) * sum;
  const double scale = std::abs(c.alpha) * (1 + std::abs(c.beta));
  s.bound = scale * accumulation_bound(c.type, c.k, std::sqrt(squares));
  s.bound += (c.beta == 0 ? 1 : 1 + std::abs(c.beta)) * rounding_of(c.out, std::abs(s.expected) + s.bound);
}

}  // namespace

double accumulation_bound(DataType type, int64_t k, double norm) {
  const double length = static_cast<double>(k);
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
      return 0x1p-23 * norm * (8 + 8 * std::sqrt(length) + length / 8);
    case DataType::f32:
      return 0x1p-24 * norm * (8 + 8 * std::sqrt(length));
    case DataType::f64:
      break;
  }
  return 0x1p-53 * norm * (8 + 8 * std::sqrt(length));
}

double rounding_of(DataType out, double value) {
  switch (out) {
    case DataType::f16:
      return std::max(0x1p-11 * std::abs(value), 0x1p-25);  // half a spacing; subnormals
    case DataType::bf16:
      return 0x1p-8 * std::abs(value);
    case DataType::f32:
      return 0x1p-24 * std::abs(value);
    case DataType::f64:
      break;
  }
  return 0x1p-53 * std::abs(value);
}

std::vector<Sample> draw_samples(const BenchCase& c, const Layout& layout, const Block& block, int64_t calls,
                                 uint64_t seed) {
  bench::SplitMix64 random{seed};
  const int64_t used_sets = c.beta == 0 ? std::min(calls, layout.c_sets) : 1;
  std::vector<Sample> samples;
  for (int n = 0; n < kSamples; ++n) {
    const int64_t set = n < 8 ? (n < 4 ? 0 : used_sets - 1) : random.below(used_sets);
    Sample s{.call = c.beta == 0 ? last_writer(set, layout.c_sets, calls) : 0,
             .batch = random.below(c.batch),
             .i = random.below(c.m),
             .j = random.below(c.n),
             .expected = 0,
             .bound = 0};
    if (n < 8) {  // corners of the first and the last output
      s.i = n % 2 == 0 ? 0 : c.m - 1;
      s.j = n / 2 % 2 == 0 ? 0 : c.n - 1;
      s.batch = n < 4 ? 0 : c.batch - 1;
    } else if (n % 4 == 0) {
      s.i = c.m - 1;
    } else if (n % 4 == 1) {
      s.j = c.n - 1;
    }
    evaluate(s, c, layout, block);
    samples.push_back(s);
  }
  return samples;
}

int64_t offset_of(const Sample& s, const BenchCase& c, const Layout& layout) {
  return layout.c_offset(s.call) + (s.batch * c.stride_c() + s.i + s.j * c.ldc) * size_of(c.out);
}

double element_value(DataType type, const void* bytes) {
  auto load = [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  switch (type) {
    case DataType::f16:
      return half_to_float(load(uint16_t{}));
    case DataType::bf16:
      return std::bit_cast<float>(static_cast<uint32_t>(load(uint16_t{})) << 16);
    case DataType::f32:
      return load(float{});
    case DataType::f64:
      break;
  }
  return load(double{});
}

std::string judge(const Sample& s, double value) {
  if (std::abs(value - s.expected) <= s.bound) return "";  // false for NaN
  const std::string entry = s.batch > 0 ? fmt::format(" of entry {}", s.batch) : "";
  return fmt::format("C({}, {}){} of call {} is {:.9g}, but {:.9g} +- {:.2g} is right", s.i, s.j, entry, s.call, value,
                     s.expected, s.bound);
}

}  // namespace skgemm::cli
