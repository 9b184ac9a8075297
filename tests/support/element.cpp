// Conversions between matrix elements and doubles.
#include "tests/support/element.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace skgemm::test {
namespace {

template <class T>
T read_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write_as(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

double bf16_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Round to odd in fp32 first: the 16 bits below bf16's last keep what the rounding to nearest even must know.
uint16_t bf16_bits(double value) {
  float narrow = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(narrow);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  if (std::isinf(narrow)) return static_cast<uint16_t>(bits >> 16);
  if (static_cast<double>(narrow) != value) {
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(value)) --bits;
    bits |= 1;
  }
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

struct Format {
  int precision;     // bits, the hidden one included
  int min_exponent;  // of the smallest subnormal
  uint64_t poison;
};

const Format& format_of(DataType type) {
  static constexpr Format formats[] = {
      {11, -24, 0x7EEF}, {8, -133, 0x7FEF}, {24, -149, 0x7FC0BEEF}, {53, -1074, 0x7FF8DEADBEEF0001}};
  return formats[static_cast<int>(type)];
}

}  // namespace

double load_element(DataType type, const std::byte* at) {
  switch (type) {
    case DataType::f16:
      return static_cast<double>(read_as<_Float16>(at));
    case DataType::bf16:
      return bf16_value(read_as<uint16_t>(at));
    case DataType::f32:
      return read_as<float>(at);
    case DataType::f64:
      return read_as<double>(at);
  }
  return std::nan("");
}

void store_element(DataType type, std::byte* at, double value) {
  switch (type) {
    case DataType::f16:
      return write_as(at, static_cast<_Float16>(value));
    case DataType::bf16:
      return write_as(at, bf16_bits(value));
    case DataType::f32:
      return write_as(at, static_cast<float>(value));
    case DataType::f64:
      return write_as(at, value);
  }
}

double rounded(DataType type, double value) {
  std::byte element[8];
  store_element(type, element, value);
  return load_element(type, element);
}

// Little-endian: the low bytes of the pattern are the element's bits.
void store_poison(DataType type, std::byte* at) {
  std::memcpy(at, &format_of(type).poison, static_cast<size_t>(size_of(type)));
}

bool is_poison(DataType type, const std::byte* at) {
  return std::memcmp(at, &format_of(type).poison, static_cast<size_t>(size_of(type))) == 0;
}

double unit_roundoff(DataType type) { return std::ldexp(1.0, -format_of(type).precision); }
double smallest_subnormal(DataType type) { return std::ldexp(1.0, format_of(type).min_exponent); }

}  // namespace skgemm::test
