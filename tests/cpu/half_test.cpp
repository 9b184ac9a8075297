// Halves on the CPU: both conversions against an independent one, the product against fp64.
#include "src/host/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/host/cpu_gemm.h"
#include "tests/cpu/cpu_call.h"
#include "tests/support/element.h"

namespace skgemm::test {
namespace {

double value_of(uint16_t half) {
  std::byte bytes[2];
  std::memcpy(bytes, &half, 2);
  return load_element(DataType::f16, bytes);
}

uint16_t bits_of(float value) {
  std::byte bytes[2];
  store_element(DataType::f16, bytes, value);
  uint16_t half = 0;
  std::memcpy(&half, bytes, 2);
  return half;
}

TEST(Half, EveryHalfBecomesItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value_of(half))) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value)))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), value_of(half)) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(float_to_half(value), half) << bits;
  }
}

TEST(Half, RoundsToNearestEven) {
  // Each pair of neighbours: the tie between them, and the floats on either side of the tie.
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = value_of(static_cast<uint16_t>(bits));
    const double high = bits == 0x7bff ? 65536.0 : value_of(static_cast<uint16_t>(bits + 1));
    const float tie = static_cast<float>((low + high) / 2);
    for (const float value : {std::nextafter(tie, 0.0f), tie, std::nextafter(tie, 1e9f)}) {
      ASSERT_EQ(float_to_half(value), bits_of(value)) << value;
      ASSERT_EQ(float_to_half(-value), bits_of(-value)) << -value;
    }
    const uint32_t even = (bits & 1) == 0 ? bits : bits + 1;
    ASSERT_EQ(float_to_half(tie), even) << tie;
  }
}

TEST(Half, RandomFloatsAgree) {
  Random random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random.bits()));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), bits_of(value)) << value;
    }
  }
}

TEST(Half, OverflowBecomesInfinity) {
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e30f), 0xfc00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::infinity()), 0x7c00);
}

TEST(HalfGemm, RandomCases) {
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    const GemmCase c = random_case(random, DataType::f16, 40);
    ASSERT_EQ(fault_of(c, [](const GemmCall& call) { cpu_gemm(call); }), "");
  }
}

TEST(HalfGemm, CrossesItsBlocks) {
  for (const char* op : {"NN", "NT", "TN", "TT"}) {
    for (const double beta : {0.0, 0.5}) {
      const GemmCase c{
          .in = DataType::f16, .out = DataType::f16, .op = op, .m = 1030, .n = 7, .k = 1500, .ldc = 1033, .beta = beta};
      EXPECT_EQ(fault_of(c, [](const GemmCall& call) { cpu_gemm(call); }), "");
      const GemmCase wide{
          .in = DataType::f16, .out = DataType::f16, .op = op, .m = 3, .n = 1025, .k = 1025, .beta = beta};
      EXPECT_EQ(fault_of(wide, [](const GemmCall& call) { cpu_gemm(call); }), "");
    }
  }
}

// 2048 ones and 4 more: a sum kept in halves would stop at 2048.
TEST(HalfGemm, SumsAreKeptInFp32) {
  const GemmCase c{.in = DataType::f16, .out = DataType::f16, .m = 3, .n = 2, .k = 2052, .fill = Fill::ones};
  EXPECT_EQ(fault_of(c, [](const GemmCall& call) { cpu_gemm(call); }), "");
}

TEST(HalfGemm, LargeSumsOverflowToInfinity) {
  std::vector<uint16_t> a(1024, float_to_half(200)), b = a;
  uint16_t c = 0x7e00;
  const float one = 1, zero = 0;
  cpu_gemm({.op_a = Op::n,
            .op_b = Op::n,
            .m = 1,
            .n = 1,
            .k = 1024,
            .in = DataType::f16,
            .out = DataType::f16,
            .scalar_type = DataType::f32,
            .scalars = PointerMode::host,
            .alpha = &one,
            .beta = &zero,
            .a = {a.data(), 1, 0},
            .b = {b.data(), 1024, 0},
            .c = {&c, 1, 0},
            .batch = 1,
            .name = "test"});
  EXPECT_EQ(c, 0x7c00);
}

}  // namespace
}  // namespace skgemm::test
