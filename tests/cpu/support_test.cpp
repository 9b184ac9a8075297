// The test support, tested itself: a comparison that cannot fail proves nothing, so every fault it is there for is made
// here and must be noticed.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "tests/support/dot2.h"
#include "tests/support/gemm_case.h"
#include "tests/support/reference.h"
#include "tests/support/watchdog.h"

namespace skgemm::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr DataType kTypes[] = {DataType::f16, DataType::bf16, DataType::f32, DataType::f64};

// A product as the library would compute it, one k-step after the other in the accumulator's type, for comparison with
// the reference.
GuardedMatrix computed(const GemmCase& c, const Operands& o) {
  GuardedMatrix result = o.c;
  for (int64_t entry = 0; entry < c.batch; ++entry) {
    for (int64_t j = 0; j < c.n; ++j) {
      for (int64_t i = 0; i < c.m; ++i) {
        double sum = 0;
        for (int64_t p = 0; p < c.k; ++p) {
          const double a = c.a_transposed() ? o.a.get(p, i, entry) : o.a.get(i, p, entry);
          const double b = c.b_transposed() ? o.b.get(j, p, entry) : o.b.get(p, j, entry);
          sum = rounded(accumulator_of(c.in), sum + a * b);
        }
        const double old = c.beta == 0 ? 0.0 : c.beta * o.c.get(i, j, entry);
        result.set(i, j, c.alpha * sum + old, entry);
      }
    }
  }
  return result;
}

GemmCase sample(DataType in, DataType out, Fill fill) {
  GemmCase c;
  c.in = in, c.out = out, c.fill = fill;
  c.op = "TN", c.m = 13, c.n = 9, c.k = 40, c.ldc = 17, c.offset_c = 3, c.batch = 2, c.alpha = 2.5, c.beta = -1;
  return completed(c);
}

// ---- Elements

TEST(Element, EveryHalfSurvivesALoadAndAStore) {
  for (const DataType type : {DataType::f16, DataType::bf16}) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto in = std::bit_cast<std::array<std::byte, 2>>(static_cast<uint16_t>(bits));
      std::array<std::byte, 2> out{};
      const double value = load_element(type, in.data());
      store_element(type, out.data(), value);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(load_element(type, out.data()))) << bits;
      } else {
        ASSERT_EQ(in, out) << bits;
      }
    }
  }
}

// Nearest, ties to even, straight from the double: the middle of two neighbours, and a hair to either side of it.
TEST(Element, StoresRoundOnceToNearestEven) {
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32}) {
    const double ulp = 2 * unit_roundoff(type);
    for (int odd = 0; odd < 2; ++odd) {
      const double low = 1 + odd * ulp, high = low + ulp, middle = low + ulp / 2;
      EXPECT_EQ(rounded(type, middle), odd ? high : low);
      EXPECT_EQ(rounded(type, middle + 0x1p-45), high);
      EXPECT_EQ(rounded(type, middle - 0x1p-45), low);
      EXPECT_EQ(rounded(type, -middle - 0x1p-45), -high);
    }
    EXPECT_EQ(rounded(type, smallest_subnormal(type)), smallest_subnormal(type));
    EXPECT_EQ(rounded(type, smallest_subnormal(type) / 2), 0);
    EXPECT_EQ(rounded(type, kInf), kInf);
    EXPECT_TRUE(std::isnan(rounded(type, kNaN)));
  }
  EXPECT_EQ(rounded(DataType::f16, 65519.9), 65504);
  EXPECT_EQ(rounded(DataType::f16, 65520), kInf);
}

// ---- Guards

TEST(GuardedMatrix, NoticesEveryByteOutside) {
  for (const DataType type : kTypes) {
    GuardedMatrix x({type, 3, 4, 7, 40, 2, 1, false});
    Random random(1);
    x.fill(Fill::real, random);
    ASSERT_EQ(x.damage(), "");
    // Writing each byte of the frame: either it belongs to one of the 24 elements or it is noticed.
    size_t outside = 0;
    for (std::byte& b : x.frame()) {
      b ^= std::byte{1};
      outside += x.damage().empty() ? 0 : 1;
      b ^= std::byte{1};
    }
    EXPECT_EQ(x.frame().size() - outside, static_cast<size_t>(24 * size_of(type)));
  }
}

TEST(GuardedMatrix, TightEndEndsWithTheLastElement) {
  GuardedMatrix x({DataType::f64, 3, 4, 7, 0, 1, 0, true});
  x.set(2, 3, 42);
  EXPECT_EQ(load_element(DataType::f64, x.frame().data() + x.frame().size() - 8), 42);
}

TEST(GuardedMatrix, NegativeStridesStayInside) {
  GuardedMatrix x({DataType::f32, 3, 2, 3, -8, 4, 5, false});
  for (int64_t entry = 0; entry < 4; ++entry) x.set(0, 0, static_cast<double>(entry), entry);
  for (int64_t entry = 0; entry < 4; ++entry) EXPECT_EQ(x.get(0, 0, entry), static_cast<double>(entry));
  EXPECT_EQ(x.damage(), "");
  EXPECT_EQ((x.origin_bytes() - 3 * 8 * 4) % 256, 5 * 4);  // the lowest element sits at the offset
}

TEST(GuardedMatrix, StartsAsPoison) {
  for (const DataType type : kTypes) EXPECT_TRUE(std::isnan(GuardedMatrix({type, 2, 2, 2}).get(1, 1)));
}

// ---- Comparison

TEST(Mismatch, AcceptsWhatTheAccumulationTypeGives) {
  for (const DataType in : kTypes) {
    for (const Fill fill : {Fill::real, Fill::integer, Fill::ones}) {
      const DataType out = in == DataType::f64 ? in : DataType::f32;
      for (const DataType to : {in, out}) {
        const GemmCase c = sample(in, to, fill);
        const Operands o = make_operands(c);
        EXPECT_EQ(mismatch(computed(c, o), reference_gemm(c, o)), "") << to_string(c);
      }
    }
  }
}

TEST(Mismatch, NoticesEachFault) {
  for (const DataType type : kTypes) {
    for (const Fill fill : {Fill::real, Fill::integer}) {
      const GemmCase c = sample(type, type, fill);
      const Operands o = make_operands(c);
      const Reference expected = reference_gemm(c, o);
      const GuardedMatrix right = computed(c, o);
      const auto spoiled = [&](int64_t i, int64_t j, int64_t entry, double value) {
        GuardedMatrix x = right;
        x.set(i, j, value, entry);
        return mismatch(x, expected);
      };
      EXPECT_NE(spoiled(0, 0, 0, kNaN), "");
      EXPECT_NE(spoiled(12, 8, 1, kNaN), "");
      EXPECT_NE(spoiled(12, 8, 1, kInf), "");
      EXPECT_NE(spoiled(5, 4, 0, 0.0), "");
      EXPECT_NE(spoiled(12, 0, 1, o.c.get(12, 0, 1)), "") << "an element that was not written";
      EXPECT_NE(spoiled(3, 3, 0, right.get(3, 3, 0) + 0.5), "");
    }
  }
}

// One k-step too few, or one taken twice, must exceed the bound: the smallest fault of a schedule.
TEST(Mismatch, NoticesOneLostStep) {
  for (const DataType type : {DataType::f32, DataType::f64}) {
    GemmCase c = sample(type, type, Fill::real);
    const Operands o = make_operands(c);
    GemmCase shorter = c;
    shorter.k = c.k - 1;
    EXPECT_NE(mismatch(computed(shorter, o), reference_gemm(c, o)), "");
  }
}

TEST(Mismatch, DemandsNaNAndInfinityWhereTheyBelong) {
  GemmCase c = sample(DataType::f32, DataType::f32, Fill::integer);
  Operands o = make_operands(c);
  o.a.set(7, 2, kNaN);  // op(A) row 2
  o.b.set(1, 3, kInf);  // op(B) column 3
  const Reference expected = reference_gemm(c, o);
  GuardedMatrix x = computed(c, o);
  EXPECT_EQ(mismatch(x, expected), "");
  x.set(2, 5, 1.0);
  EXPECT_NE(mismatch(x, expected), "") << "a number where NaN must be";
  x = computed(c, o);
  x.set(4, 3, -x.get(4, 3));
  EXPECT_NE(mismatch(x, expected), "") << "an infinity of the wrong sign";
}

TEST(Reference, FollowsTheBlasRules) {
  GemmCase c = sample(DataType::f64, DataType::f64, Fill::integer);
  c.alpha = 0, c.beta = 2;
  Operands o = make_operands(c);
  o.a.fill(kNaN);
  EXPECT_EQ(reference_gemm(c, o).value[0], 2 * o.c.get(0, 0)) << "alpha 0 must not read A";
  c.beta = 0;
  o.c.fill(kNaN);
  EXPECT_EQ(reference_gemm(c, o).value[0], 0) << "beta 0 must not read C";
  c.alpha = 1;
  EXPECT_TRUE(std::isnan(reference_gemm(c, o).value[0]));
  c.alpha = kNaN, c.k = 0;
  EXPECT_EQ(reference_gemm(c, o).value[0], 0) << "k 0 must not use alpha";
}

// Blocks of the reference end at 64 and 128: sizes beyond them against plain dot products.
TEST(Reference, CrossesItsOwnBlocks) {
  GemmCase c;
  c.in = c.out = DataType::f64, c.fill = Fill::integer;
  c.op = "NT", c.m = 131, c.n = 259, c.k = 130;
  c = completed(c);
  const Operands o = make_operands(c);
  EXPECT_EQ(mismatch(computed(c, o), reference_gemm(c, o)), "");
}

TEST(Reference, BoundsGrowWithKAndShrinkWithPrecision) {
  EXPECT_GT(gamma(1000, unit_roundoff(DataType::f32)), gamma(10, unit_roundoff(DataType::f32)));
  EXPECT_NEAR(gamma(1000, 0x1p-24), 1000 * 0x1p-24, 1e-8);
  EXPECT_GT(accumulation_unit(DataType::f16), accumulation_unit(DataType::f32));
  EXPECT_EQ(accumulation_unit(DataType::f64), 0x1p-53);
}

// ---- Cases

TEST(GemmCase, TextRoundTrip) {
  GemmCase c = sample(DataType::bf16, DataType::f32, Fill::integer);
  c.stride_a = 0, c.stride_c = -500, c.device_scalars = 1, c.schedule = 3, c.parameter = 7, c.seed = 99;
  c.width = 48, c.orientation = 2, c.cluster_m = 1, c.cluster_n = 2;
  const std::string text = to_string(c);
  EXPECT_EQ(to_string(parse_case(text)), text);
  EXPECT_TRUE(std::isnan(parse_case("type=h alpha=nan").alpha));
  EXPECT_EQ(parse_case("type=h").out, DataType::f16);
}

TEST(GemmCase, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"m=x", "m=", "colour=3", "type=z", "op=NX", "op=N", "m", "fill=zeros"}) {
    EXPECT_THROW(parse_case(text), std::invalid_argument) << text;
  }
  EXPECT_THROW(read_cases("no such file"), std::invalid_argument);
}

TEST(GemmCase, CaseFilesAreLegal) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(SKGEMM_CASES_DIR)) {
    ++files;
    for (const GemmCase& c : read_cases(file.path().string())) {
      GemmCase least = c;
      least.lda = least.ldb = least.ldc = 0;
      least = completed(least);
      EXPECT_TRUE(c.lda >= least.lda && c.ldb >= least.ldb && c.ldc >= least.ldc)
          << file.path() << ": " << to_string(c);
      EXPECT_LE(c.m * c.n * c.k * c.batch, int64_t{1} << 27) << "too slow for a reference: " << to_string(c);
    }
  }
  EXPECT_GE(files, 3);
}

// ---- Dot products in twice fp64's precision

TEST(Dot2, KeepsWhatASumInFp64Loses) {
  Dot2 sum;
  const auto add = [&](double a, double b) { sum.add(a, b); };
  add(0x1p60, 0x1p40);
  add(3, 1);
  add(1 + 0x1p-52, 1 - 0x1p-52);  // 1 - 2^-104
  add(-0x1p60, 0x1p40);
  EXPECT_EQ(sum.high + sum.low, 4);
  EXPECT_EQ(sum.distance(4 + 0x1p-40), 0x1p-40);
  EXPECT_EQ(sum.magnitude, 0x1p101 + 4);
}

TEST(Dot2, IsExactOnIntegersPast53Bits) {
  Dot2 sum;
  __int128 exact = 0;
  Random random(11);
  for (int i = 0; i < 1000; ++i) {
    const int64_t a = random.integer(-(int64_t{1} << 50), int64_t{1} << 50);
    const int64_t b = random.integer(-(int64_t{1} << 40), int64_t{1} << 40);
    sum.add(static_cast<double>(a), static_cast<double>(b));
    exact += static_cast<__int128>(a) * b;
  }
  EXPECT_EQ(static_cast<__int128>(sum.high) + static_cast<__int128>(sum.low), exact);
}

// ---- Deadline

TEST(WatchdogDeathTest, AbortsATestThatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Watchdog watchdog("Some.Test", std::chrono::milliseconds(50));
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      "HANG: Some.Test did not finish within 50 ms");
}

TEST(Watchdog, LetsAQuickTestPass) { const Watchdog watchdog("Some.Test", std::chrono::seconds(60)); }

}  // namespace
}  // namespace skgemm::test
