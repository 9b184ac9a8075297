// The benchmark's check of results, against a pool filled and a product computed by plain loops: a wrong product is
// noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "src/cli/bench_check.h"
#include "src/host/half.h"

namespace skgemm::cli {
namespace {

struct Bench {
  BenchCase c;
  Block block;
  std::vector<std::byte> inputs, outputs;
  Layout layout;

  explicit Bench(const BenchCase& the_case)
      : c(the_case), block(the_case.type, 5003, 9), inputs(1 << 19), outputs(1 << 17), layout{} {
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = block.data()[i % block.size()];
    layout = make_layout(c, std::ssize(inputs), std::ssize(outputs));
  }

  double input(int64_t offset, int64_t element) const {
    return element_value(c.type, &inputs[static_cast<size_t>(offset + element * size_of(c.type))]);
  }

  // One call with the sum in fp32 (fp64 for fp64) over [0, steps), rounded to the output type.
  void call(int64_t number, int64_t steps) {
    for (int64_t e = 0; e < c.batch; ++e) {
      for (int64_t j = 0; j < c.n; ++j) {
        for (int64_t i = 0; i < c.m; ++i) store(number, e, i, j, sum(number, e, i, j, steps));
      }
    }
  }

  double sum(int64_t number, int64_t e, int64_t i, int64_t j, int64_t steps) const {
    double wide = 0;
    float narrow = 0;
    for (int64_t p = 0; p < steps; ++p) {
      const int64_t a = e * c.stride_a() + (c.ops.a_transposed ? p + i * c.lda : i + p * c.lda);
      const int64_t b = e * c.stride_b() + (c.ops.b_transposed ? j + p * c.ldb : p + j * c.ldb);
      const double product = input(layout.a_offset(number), a) * input(layout.b_offset(number), b);
      wide += product;
      narrow += static_cast<float>(product);
    }
    return c.type == DataType::f64 ? wide : static_cast<double>(narrow);
  }

  void store(int64_t number, int64_t e, int64_t i, int64_t j, double value) {
    std::byte* at =
        &outputs[static_cast<size_t>(layout.c_offset(number) + (e * c.stride_c() + i + j * c.ldc) * size_of(c.out))];
    const double old = c.beta == 0 ? 0 : c.beta * element_value(c.out, at);
    const double result = c.alpha * value + old;
    const auto narrow = static_cast<float>(result);
    const uint16_t half = float_to_half(narrow);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    const auto bf16 = static_cast<uint16_t>((bits + 0x8000u) >> 16);
    const void* from = c.out == DataType::f64   ? static_cast<const void*>(&result)
                       : c.out == DataType::f32 ? static_cast<const void*>(&narrow)
                       : c.out == DataType::f16 ? &half
                                                : &bf16;
    std::memcpy(at, from, static_cast<size_t>(size_of(c.out)));
  }

  int wrong(const std::vector<Sample>& samples) const {
    int count = 0;
    for (const Sample& s : samples) {
      count += judge(s, element_value(c.out, &outputs[static_cast<size_t>(offset_of(s, c, layout))])).empty() ? 0 : 1;
    }
    return count;
  }
};

std::vector<BenchCase> small_cases() {
  std::vector<BenchCase> cases;
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32, DataType::f64}) {
    for (const OpPair ops : {OpPair{false, false}, OpPair{true, false}, OpPair{false, true}, OpPair{true, true}}) {
      BenchCase c = packed_case(type, ops, 19, 23, 101);
      cases.push_back(c);
      c.lda += 3;
      c.ldb += 5;
      c.ldc += 7;
      c.batch = 3;
      c.alpha = -0.75;
      cases.push_back(c);
      if (size_of(type) == 2) {
        c.out = DataType::f32;
        c.given_stride_a = 0;
        c.given_stride_b = c.stride_b() + 11;
        c.given_stride_c = c.stride_c() + 13;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

constexpr int64_t kCalls = 11;

TEST(Check, right_products_pass_and_short_sums_do_not) {
  for (const BenchCase& c : small_cases()) {
    Bench bench(c);
    ASSERT_GE(bench.layout.sets, 2) << to_string(c);
    const auto samples = draw_samples(c, bench.layout, bench.block, kCalls, 5);
    std::ranges::fill(bench.outputs, std::byte{0xff});
    EXPECT_EQ(bench.wrong(samples), std::ssize(samples)) << "NaN everywhere: " << to_string(c);
    for (int64_t call = 0; call < kCalls; ++call) bench.call(call, c.k);
    EXPECT_EQ(bench.wrong(samples), 0) << to_string(c);
    for (int64_t call = 0; call < kCalls; ++call) bench.call(call, c.k - 1);
    EXPECT_GT(bench.wrong(samples), std::ssize(samples) / 2) << "last k-step missing: " << to_string(c);
  }
}

TEST(Check, beta_is_checked_by_accumulating) {
  for (BenchCase c : small_cases()) {
    c.beta = 0.5;
    Bench bench(c);
    const auto samples = draw_samples(c, bench.layout, bench.block, kCalls, 5);
    std::ranges::fill(bench.outputs, std::byte{0});
    bench.call(0, c.k);
    EXPECT_GT(bench.wrong(samples), std::ssize(samples) / 2) << "beta ignored: " << to_string(c);
    bench.call(0, c.k);
    EXPECT_EQ(bench.wrong(samples), 0) << to_string(c);
  }
}

TEST(Check, samples_cover_corners_edges_and_calls) {
  BenchCase c = packed_case(DataType::f32, {}, 40, 30, 8);
  c.batch = 2;
  const Bench bench(c);
  const int64_t calls = 3 * bench.layout.c_sets - 2;  // some outputs are written twice, some three times
  const auto samples = draw_samples(c, bench.layout, bench.block, calls, 5);
  auto count = [&](const std::function<bool(const Sample&)>& has) { return std::ranges::count_if(samples, has); };
  for (const int64_t i : {int64_t{0}, c.m - 1}) {
    for (const int64_t j : {int64_t{0}, c.n - 1})
      EXPECT_GE(count([&](const Sample& s) { return s.i == i && s.j == j; }), 2);
  }
  EXPECT_GE(count([&](const Sample& s) { return s.i == c.m - 1; }), 16);
  EXPECT_GE(count([&](const Sample& s) { return s.j == c.n - 1; }), 16);
  for (const int64_t set : {int64_t{0}, bench.layout.c_sets - 1}) {
    EXPECT_GE(count([&](const Sample& s) { return s.call % bench.layout.c_sets == set; }), 4);
  }
  for (const Sample& s : samples) {
    EXPECT_LT(s.call, calls);
    EXPECT_GE(s.call + bench.layout.c_sets, calls) << "a later call writes over it";
  }
}

TEST(Check, bounds_are_far_below_one_product) {
  // Factors uniform in [-1, 1): a product is 1/9 in the mean square, 1/4 in the mean.
  const double norm = std::sqrt(8192.0) / 3;
  EXPECT_LT(accumulation_bound(DataType::f16, 8192, norm), 0.01);
  EXPECT_LT(accumulation_bound(DataType::f32, 8192, norm), 0.002);
  EXPECT_LT(accumulation_bound(DataType::f64, 8192, norm), 4e-12);
  EXPECT_LE(rounding_of(DataType::f16, 1), 0x1p-11);
  EXPECT_LE(rounding_of(DataType::f32, 1), 0x1p-24);
}

TEST(Block, numbers_are_spread_over_the_interval) {
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32, DataType::f64}) {
    const Block block(type, 20000, 3);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < block.elements(); ++i) {
      ASSERT_LE(std::abs(block.at(i)), 1);
      sum += block.at(i);
      squares += block.at(i) * block.at(i);
    }
    EXPECT_NEAR(sum / 20000, 0, 0.02);
    EXPECT_NEAR(squares / 20000, 1.0 / 3, 0.02);
    EXPECT_EQ(block.at(20000 + 17), block.at(17));
    // The walk agrees with the steps, over the block's end too and with strides longer than it.
    for (const int64_t stride : {1, 7, 19999, 20000, 20001, 1000003}) {
      const std::vector<double> walked = block.gather(59990, stride, 50);
      for (int64_t i = 0; i < 50; ++i)
        ASSERT_EQ(walked[static_cast<size_t>(i)], block.at(59990 + i * stride)) << stride;
    }
  }
}

}  // namespace
}  // namespace skgemm::cli
