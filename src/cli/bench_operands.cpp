#include "src/cli/bench_operands.h"

#include <bit>
#include <cstring>

#include "bench/splitmix64.h"
#include "src/host/half.h"

namespace skgemm::cli {
namespace {

constexpr int64_t kAlignment = 256;  // bytes; that of cudaMalloc

int64_t aligned(int64_t bytes) { return ceil_div(bytes, kAlignment) * kAlignment; }
int64_t a_bytes_of(const BenchCase& c) { return aligned(c.a_extent() * size_of(c.type)); }
int64_t b_bytes_of(const BenchCase& c) { return aligned(c.b_extent() * size_of(c.type)); }

// bf16 is the upper half of an fp32; round to nearest even.
uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

template <class T, class Convert>
void fill(std::vector<std::byte>& bytes, uint64_t seed, Convert convert) {
  bench::SplitMix64 random{seed};
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    const T value = convert(2 * random.uniform() - 1);
    std::memcpy(&bytes[at], &value, sizeof(T));
  }
}

template <class T>
T load(const std::vector<std::byte>& bytes, int64_t element) {
  T value;
  std::memcpy(&value, &bytes[static_cast<size_t>(element) * sizeof(T)], sizeof(T));
  return value;
}

}  // namespace

Block::Block(DataType type, int64_t elements, uint64_t seed)
    : type_(type), elements_(elements), bytes_(static_cast<size_t>(elements * size_of(type))) {
  switch (type) {
    case DataType::f16:
      fill<uint16_t>(bytes_, seed, [](double x) { return float_to_half(static_cast<float>(x)); });
      break;
    case DataType::bf16:
      fill<uint16_t>(bytes_, seed, [](double x) { return float_to_bf16(static_cast<float>(x)); });
      break;
    case DataType::f32:
      fill<float>(bytes_, seed, [](double x) { return static_cast<float>(x); });
      break;
    case DataType::f64:
      fill<double>(bytes_, seed, [](double x) { return x; });
      break;
  }
}

double Block::at(int64_t element) const {
  const int64_t i = element % elements_;
  switch (type_) {
    case DataType::f16:
      return half_to_float(load<uint16_t>(bytes_, i));
    case DataType::bf16:
      return bf16_to_float(load<uint16_t>(bytes_, i));
    case DataType::f32:
      return load<float>(bytes_, i);
    case DataType::f64:
      break;
  }
  return load<double>(bytes_, i);
}

std::vector<double> Block::gather(int64_t first, int64_t stride, int64_t count) const {
  std::vector<double> values(static_cast<size_t>(count));
  const auto walk = [&]<class T>(T, auto value_of) {
    int64_t at = first % elements_;
    const int64_t step = stride % elements_;
    for (double& value : values) {
      value = value_of(load<T>(bytes_, at));
      at += step;
      at -= at >= elements_ ? elements_ : 0;
    }
  };
  switch (type_) {
    case DataType::f16:
      walk(uint16_t{}, [](uint16_t bits) { return half_to_float(bits); });
      break;
    case DataType::bf16:
      walk(uint16_t{}, [](uint16_t bits) { return bf16_to_float(bits); });
      break;
    case DataType::f32:
      walk(float{}, [](float x) { return x; });
      break;
    case DataType::f64:
      walk(double{}, [](double x) { return x; });
      break;
  }
  return values;
}

int64_t input_bytes(const BenchCase& c) { return a_bytes_of(c) + b_bytes_of(c); }
int64_t output_bytes(const BenchCase& c) { return aligned(c.c_extent() * size_of(c.out)); }

Layout make_layout(const BenchCase& c, int64_t input_pool_bytes, int64_t output_pool_bytes) {
  return {.a_bytes = a_bytes_of(c),
          .b_bytes = b_bytes_of(c),
          .c_bytes = output_bytes(c),
          .sets = input_pool_bytes / input_bytes(c),
          .c_sets = output_pool_bytes / output_bytes(c)};
}

}  // namespace skgemm::cli
