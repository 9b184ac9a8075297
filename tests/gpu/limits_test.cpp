// Limits set by the caller and by the hardware: few multiprocessors, very many batch entries, very long extents,
// indices beyond 32 bits, large products checked by Freivalds' method.
#include <cmath>

#include "tests/gpu/device_kernels.h"
#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

class Limits : public GpuTest, public testing::WithParamInterface<TypePair> {};

TEST_P(Limits, AnyNumberOfMultiprocessors) {
  set_deadline(std::chrono::seconds(60));
  for (const int64_t m : {7, 64, 65, 129}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.op = "TN", c.m = m, c.n = 512, c.k = 4160 - m, c.fill = Fill::integer;
    DeviceCase product(c);
    const Reference expected = reference_gemm(product.gemm_case(), product.operands());
    for (int sms = 1; sms <= sm_count(); sms += 7) {
      check(skgemm_set_sm_limit(handle(), sms), "skgemm_set_sm_limit");
      skgemm_plan_t plan{};
      const skgemm_gemm_t call = product.call();
      check(skgemm_gemm_plan(handle(), &call, &plan), "skgemm_gemm_plan");
      if (sms < sm_count()) {
        ASSERT_LE(plan.ctas * plan.cluster_m * plan.cluster_n, sms)
            << "the device spreads CTAs over all multiprocessors";
      }
      for (int repeat = 0; repeat < 2; ++repeat) {
        product.reset_c();
        check(product.run(handle()), "gemm");
        check(cudaDeviceSynchronize(), "the kernel");
        ASSERT_TRUE(product.judge(expected)) << "with " << sms << " multiprocessors";
      }
    }
  }
}

TEST_P(Limits, ScalingOnFewMultiprocessors) {
  for (const int64_t sms : {1, 3}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.m = 2500, c.n = 37, c.k = 0, c.beta = 2, c.sms = sms, c.fill = Fill::integer;
    EXPECT_TRUE(passes(handle(), c));
  }
}

struct Batch {
  int64_t m, n, k, batch;
};

// The batch is in the tile space, so 65535 is a number like any other.
TEST_P(Limits, ManyBatchEntries) {
  set_deadline(std::chrono::seconds(60));
  for (const Batch& b : {Batch{4, 4, 4, 65'535},
                         {16, 16, 8, 65'536},
                         {4, 4, 4, 65'537},
                         {4, 4, 4, 70'000},
                         {8, 8, 64, 65'536},
                         {3, 5, 7, 200'000},
                         {1, 1, 1, 1 << 22}}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.m = b.m, c.n = b.n, c.k = b.k, c.batch = b.batch;
    c.typed_call = 1, c.fill = Fill::integer;
    ASSERT_TRUE(passes(handle(), c));
  }
}

TEST_P(Limits, VeryLongExtents) {
  set_deadline(std::chrono::seconds(60));
  const int64_t extreme = 1 << 22;
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{extreme, 1}, {1, extreme}}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.m = m, c.n = n, c.k = 1, c.fill = Fill::integer;
    ASSERT_TRUE(passes(handle(), c));
  }
  // n past 65535 tiles of anything; beta is applied once
  GemmCase wide;
  wide.in = GetParam().in, wide.out = GetParam().out;
  wide.m = 2, wide.n = (1 << 21) + 3, wide.k = 3, wide.beta = 0.5, wide.fill = Fill::integer;
  EXPECT_TRUE(passes(handle(), wide));
}

INSTANTIATE_TEST_SUITE_P(All, Limits, testing::ValuesIn(kKernelTypes), param_name);

// ---- Freivalds: C*x == A*(B*x) for random x of -1 and 1. With entries -1, 0, 1 all sums are integers and the test is
// exact: a single wrong element is always seen, and several in a row of C cancel with probability at most 1/2.

class Freivalds : public GpuTest, public testing::WithParamInterface<TypePair> {};

std::vector<double> times(const GuardedMatrix& x, bool transposed, const std::vector<double>& v) {
  const int64_t rows = x.shape().rows, cols = x.shape().cols;
  std::vector<double> y(static_cast<size_t>(transposed ? cols : rows));
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t to = transposed ? j : i, from = transposed ? i : j;
      y[static_cast<size_t>(to)] += x.get(i, j) * v[static_cast<size_t>(from)];
    }
  }
  return y;
}

// Half of the entries are 0: the elements of C stay below 256 (8 standard deviations at k = 4096), exact in bf16 too.
void fill_with_signs(GuardedMatrix& x, Random& random) {
  constexpr double values[] = {-1, 0, 0, 1};
  for (int64_t j = 0; j < x.shape().cols; ++j) {
    for (int64_t i = 0; i < x.shape().rows; ++i) x.set(i, j, random.pick(values));
  }
}

TEST_P(Freivalds, LargeSquares) {
  set_deadline(std::chrono::seconds(60));
  for (const char* op : {"NN", "NT", "TN", "TT"}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out, c.op = op;
    c.m = 2900, c.n = 3001, c.k = 2051;
    if (c.op == "NN") c.m = c.n = c.k = 4096;
    DeviceCase product(c);
    Random random(7);
    fill_with_signs(product.operands().a, random);
    fill_with_signs(product.operands().b, random);
    product.refresh();
    std::vector<double> x(static_cast<size_t>(c.n));
    for (double& value : x) value = random.one_in(2) ? 1 : -1;
    const std::vector<double> bx = times(product.operands().b, product.gemm_case().b_transposed(), x);
    const std::vector<double> abx = times(product.operands().a, product.gemm_case().a_transposed(), bx);
    for (int64_t schedule = SKGEMM_SCHEDULE_AUTO; schedule <= SKGEMM_SCHEDULE_TWO_TILE; ++schedule) {
      check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(schedule), 0), "skgemm_set_schedule");
      product.reset_c();
      check(product.run(handle()), "gemm");
      check(cudaDeviceSynchronize(), "the kernel");
      GuardedMatrix result = product.operands().c;
      result.frame() = product.c_bytes();
      ASSERT_EQ(times(result, false, x), abx) << op << ", schedule " << schedule;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Freivalds, testing::ValuesIn(kTypePairs), param_name);

// ---- Indices beyond 32 bits. Operands are made and checked on the device.

class BeyondInt32 : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    set_deadline(std::chrono::seconds(60));
  }

  // Entry i of A is i mod 8 + 1, B is one matrix of ones for all entries: C of entry i is k*(i mod 8 + 1) throughout.
  void expect_right_batch(const TypePair& types, skgemm_type_t public_type, const Batch& b) {
    const int64_t c_count = b.m * b.n * b.batch, a_count = b.m * b.k * b.batch;
    const size_t size = static_cast<size_t>(size_of(types.in));
    constexpr size_t kBand = 4096;
    if (!has_memory(static_cast<size_t>(c_count + a_count) * size)) GTEST_SKIP() << "not enough device memory";
    const DeviceBuffer a(static_cast<size_t>(a_count) * size), ones(static_cast<size_t>(b.k * b.n) * size);
    const DeviceBuffer c(static_cast<size_t>(c_count) * size + 2 * kBand);
    fill_by_entry(types.in, a.data(), a_count, b.m * b.k);
    fill_by_entry(types.in, ones.data(), b.k * b.n, b.k * b.n);
    check(cudaMemset(c.data(), 0xFF, c.bytes()), "poison C");
    const float alpha = 1, beta = 0;
    skgemm_gemm_t g{};
    g.m = b.m, g.n = b.n, g.k = b.k, g.batch = b.batch;
    g.a_type = g.b_type = g.c_type = public_type;
    g.alpha = &alpha, g.beta = &beta;
    g.a = a.data(), g.lda = b.m, g.stride_a = b.m * b.k;
    g.b = ones.data(), g.ldb = b.k, g.stride_b = 0;
    g.c = c.data() + kBand, g.ldc = b.m, g.stride_c = b.m * b.n;
    check(skgemm_gemm_ex(handle(), &g), "gemm");
    EXPECT_EQ(count_wrong(types.out, c.data() + kBand, c_count, b.m * b.n, static_cast<double>(b.k)), 0);
    for (const size_t band : {size_t{0}, c.bytes() - kBand}) {
      std::vector<std::byte> bytes(kBand);
      check(cudaMemcpy(bytes.data(), c.data() + band, kBand, cudaMemcpyDeviceToHost), "copy a guard band");
      EXPECT_EQ(bytes, std::vector<std::byte>(kBand, std::byte{0xFF})) << "written at the band at " << band;
    }
  }
};

TEST_F(BeyondInt32, OuterProductsCross2To31) {
  expect_right_batch({DataType::f16, DataType::f16}, SKGEMM_R_16F, {512, 512, 1, 8209});
  expect_right_batch({DataType::bf16, DataType::bf16}, SKGEMM_R_16BF, {512, 512, 1, 8193});
  expect_right_batch({DataType::f32, DataType::f32}, SKGEMM_R_32F, {512, 512, 1, 8209});
}

TEST_F(BeyondInt32, SharedOperandBatchOf2To31Elements) {
  expect_right_batch({DataType::f16, DataType::f16}, SKGEMM_R_16F, {128, 128, 32, 131'072});
}

TEST_F(BeyondInt32, OneMatrixOfMoreThan2To31Elements) {
  for (const int64_t m : {65'536, 65'537}) {  // aligned columns, and odd ones
    expect_right_batch({DataType::f16, DataType::f16}, SKGEMM_R_16F, {m, 32'769, 16, 1});
  }
}

// A tall operand read transposed: 3 x 1431655765.
TEST_F(BeyondInt32, LongestTransposedOperand) {
  const int64_t m = 1'431'655'765, k = 3;
  if (!has_memory(static_cast<size_t>(m * (k + 1)) * 2)) GTEST_SKIP() << "not enough device memory";
  const DeviceBuffer a(static_cast<size_t>(m * k) * 2), b(static_cast<size_t>(k) * 2), c(static_cast<size_t>(m) * 2);
  fill_by_entry(DataType::bf16, a.data(), m * k, m * k);
  fill_by_entry(DataType::bf16, b.data(), k, k);
  check(cudaMemset(c.data(), 0xFF, c.bytes()), "poison C");
  const float alpha = 1, beta = 0;
  skgemm_gemm_t g{};
  g.op_a = SKGEMM_OP_T;
  g.m = m, g.n = 1, g.k = k;
  g.a_type = g.b_type = g.c_type = SKGEMM_R_16BF;
  g.alpha = &alpha, g.beta = &beta;
  g.a = a.data(), g.lda = k, g.b = b.data(), g.ldb = k, g.c = c.data(), g.ldc = m;
  check(skgemm_gemm_ex(handle(), &g), "gemm");
  EXPECT_EQ(count_wrong(DataType::bf16, c.data(), m, m, 3), 0);
}

// A stride and a leading dimension past 2^31 over memory that is touched at a few places only.
TEST_F(BeyondInt32, StrideAndLeadingDimension) {
  const int64_t far = (int64_t{1} << 31) + 2;
  const size_t elements = static_cast<size_t>(2 * far + 8);
  if (!has_memory(elements * 2)) GTEST_SKIP() << "not enough device memory";
  const DeviceBuffer a(elements * 2), b(16), c(64);
  check(cudaMemset(a.data(), 0xFF, a.bytes()), "poison A");
  const uint16_t one_two[] = {0x3C00, 0x4000};  // 1 and 2 in fp16
  for (const int64_t at : {int64_t{0}, far, 2 * far}) copy_to_device(a.data() + at * 2, one_two, sizeof one_two);
  copy_to_device(b.data(), one_two, sizeof one_two);
  copy_to_device(b.data() + 4, one_two, sizeof one_two);
  const float alpha = 1, beta = 0;
  skgemm_gemm_t g{};
  g.m = 2, g.n = 1, g.k = 3;
  g.a_type = g.b_type = SKGEMM_R_16F, g.c_type = SKGEMM_R_32F;
  g.alpha = &alpha, g.beta = &beta;
  g.a = a.data(), g.lda = far, g.b = b.data(), g.ldb = 3, g.c = c.data(), g.ldc = 2;
  check(skgemm_gemm_ex(handle(), &g), "gemm with ld > 2^31");
  float result[4] = {};
  check(cudaMemcpy(result, c.data(), 8, cudaMemcpyDeviceToHost), "copy C");
  EXPECT_EQ(result[0], 4.0F);  // (1 + 2 + 1) * 1
  EXPECT_EQ(result[1], 8.0F);  // (1 + 2 + 1) * 2

  g.k = 1, g.lda = 2, g.stride_a = far, g.ldb = 1, g.stride_b = 0, g.stride_c = 2, g.batch = 2;
  check(skgemm_gemm_ex(handle(), &g), "batch with a stride > 2^31");
  check(cudaMemcpy(result, c.data(), sizeof result, cudaMemcpyDeviceToHost), "copy C");
  EXPECT_EQ(std::vector<float>(result, result + 4), (std::vector<float>{1, 2, 1, 2}));
}

}  // namespace
}  // namespace skgemm::test
