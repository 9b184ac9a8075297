// BLAS rules on special values: what is multiplied by a zero scalar is not read, nothing else is skipped.
#include <cmath>
#include <initializer_list>
#include <limits>

#include "tests/gpu/known_product.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class Rules : public GpuTest, public testing::WithParamInterface<TypePair> {
 protected:
  GemmCase base(int64_t m, int64_t n, int64_t k) const {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.m = m, c.n = n, c.k = k, c.fill = Fill::integer;
    return c;
  }
  testing::AssertionResult run_and_judge(DeviceCase& product) {
    product.refresh();
    check(product.run(handle()), "gemm");
    check(cudaDeviceSynchronize(), "the kernel");
    return product.judge();
  }
  // alpha == 0 on the host and on the device, for operands at aligned and at odd places, whole tiles and shared ones.
  // Calls each(case, what C must be).
  template <class Each>
  void for_alpha_zero(std::initializer_list<double> betas, const Each& each) const {
    for (const double beta : betas) {
      GemmCase c = base(150, 300, 1500);
      c.alpha = 0, c.beta = beta;
      const Reference expected = reference_of(c);
      for (const Placement& where : {kAligned, kOdd}) {
        c = placed(c, where);
        for (c.device_scalars = 0; c.device_scalars < 2; ++c.device_scalars) {
          for (const int64_t schedule : {SKGEMM_SCHEDULE_AUTO, SKGEMM_SCHEDULE_DATA_PARALLEL,
                                         SKGEMM_SCHEDULE_FIXED_SPLIT, SKGEMM_SCHEDULE_STREAM_K}) {
            c.schedule = schedule;
            ASSERT_NO_FATAL_FAILURE(each(c, expected)) << to_string(c);
          }
        }
      }
    }
  }
};

// C is poison (a NaN) at entry whenever beta is 0 in every test; here the sizes around tiles, and infinities in C.
TEST_P(Rules, BetaZeroNeverReadsC) {
  set_deadline(std::chrono::seconds(30));
  for (const int64_t m : {31, 32, 33, 64, 96, 100, 128, 129}) {
    for (const int64_t k : {1, 15, 16, 17, 40}) {
      for (const double beta : {0.0, -0.0}) {
        GemmCase c = base(m, 161 - m, k);
        c.beta = beta, c.device_scalars = k % 2;
        DeviceCase product(c);
        product.operands().c.fill(m % 2 ? kNaN : kInf);
        ASSERT_TRUE(run_and_judge(product));
      }
    }
  }
}

TEST_P(Rules, AlphaZeroNeverReadsAOrB) {
  set_deadline(std::chrono::seconds(60));
  for_alpha_zero({0.0, 1.0, 2.0, kNaN}, [&](const GemmCase& c, const Reference& expected) {
    DeviceCase product(c);
    product.operands().a.fill(kNaN);
    product.operands().b.fill(kInf);
    product.refresh();
    const HandleModes modes(handle(), c);
    check(product.run(handle()), "gemm with alpha 0");
    check(cudaDeviceSynchronize(), "the kernel");
    ASSERT_TRUE(product.judge(expected));
  });
}

TEST_P(Rules, AlphaZeroTakesNullOperands) {
  set_deadline(std::chrono::seconds(60));
  for_alpha_zero({0.0, 2.0}, [&](const GemmCase& c, const Reference& expected) {
    const DeviceCase product(c);
    const HandleModes modes(handle(), c);
    check(skgemm_set_pointer_mode(handle(), c.device_scalars ? SKGEMM_POINTER_MODE_DEVICE : SKGEMM_POINTER_MODE_HOST),
          "skgemm_set_pointer_mode");
    skgemm_gemm_t call = product.call();
    call.a = call.b = nullptr;
    check(skgemm_gemm_ex(handle(), &call), "gemm with alpha 0");
    check(cudaDeviceSynchronize(), "the kernel");
    ASSERT_TRUE(product.judge(expected));
  });
}

TEST_P(Rules, EmptySumGivesBetaC) {
  for (const double beta : {0.0, 1.0, 2.5, -1.0, kNaN}) {
    for (const int64_t device_scalars : {0, 1}) {
      GemmCase c = base(67, 35, 0);
      c.alpha = kNaN, c.beta = beta, c.device_scalars = device_scalars, c.batch = 3, c.ldc = 70;
      DeviceCase product(c);
      ASSERT_TRUE(run_and_judge(product));
      const std::vector<std::byte> before = product.operands().c.frame();
      if (beta == 1.0) {
        EXPECT_EQ(product.c_bytes(), before) << "beta 1 must leave C bit for bit";
      }
    }
  }
}

TEST_P(Rules, EmptySumTakesNullOperands) {
  const DeviceCase product(base(5, 5, 0));
  skgemm_gemm_t call = product.call();
  call.a = call.b = nullptr;
  check(skgemm_gemm_ex(handle(), &call), "gemm with k 0");
  check(cudaDeviceSynchronize(), "the kernel");
  EXPECT_TRUE(product.judge());
}

TEST_P(Rules, EmptyResultReturnsAtOnce) {
  for (const auto& [m, n] : {std::pair{0, 5}, std::pair{5, 0}, std::pair{0, 0}}) {
    const DeviceCase product(base(5, 5, 5));
    skgemm_gemm_t call = product.call();
    call.m = m, call.n = n;
    call.alpha = call.beta = call.a = call.b = nullptr;
    call.c = nullptr;
    EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_SUCCESS) << skgemm_last_error();
  }
  EXPECT_EQ(skgemm_sgemm_strided_batched(handle(), SKGEMM_OP_N, SKGEMM_OP_N, 5, 5, 5, nullptr, nullptr, 5, 25, nullptr,
                                         5, 25, nullptr, nullptr, 5, 25, 0),
            SKGEMM_STATUS_SUCCESS)
      << skgemm_last_error();
}

// Inf * 0 is NaN, in its row only; no zero is skipped.
TEST_P(Rules, InfinityTimesZero) {
  for (const int64_t schedule : {SKGEMM_SCHEDULE_DATA_PARALLEL, SKGEMM_SCHEDULE_STREAM_K}) {
    DeviceCase product(base(66, 34, 70));
    check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(schedule), 0), "skgemm_set_schedule");
    product.operands().a.set(65, 69, kInf);
    for (int64_t j = 0; j < 34; ++j) product.operands().b.set(69, j, j % 3 == 0 ? 0.0 : 1.0);
    EXPECT_TRUE(run_and_judge(product));
  }
}

// A NaN in the last row and column of the operands reaches its own row and column of C and nothing else: padding of a
// partial tile never meets data.
TEST_P(Rules, NaNStaysInItsRowAndColumn) {
  for (const char* op : {"NN", "NT", "TN", "TT"}) {
    GemmCase c = base(129, 67, 40);
    c.op = op;
    DeviceCase product(c);
    Operands& o = product.operands();
    o.a.set(o.a.shape().rows - 1, o.a.shape().cols - 1, kNaN);
    o.b.set(o.b.shape().rows - 1, o.b.shape().cols - 1, -kInf);
    EXPECT_TRUE(run_and_judge(product));
  }
}

// A call full of NaN leaves nothing behind for the next one: neither workspace nor shared memory is trusted.
TEST_P(Rules, NoStaleNaN) {
  for (const int64_t schedule : {SKGEMM_SCHEDULE_FIXED_SPLIT, SKGEMM_SCHEDULE_STREAM_K, SKGEMM_SCHEDULE_TWO_TILE}) {
    check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(schedule), 0), "skgemm_set_schedule");
    DeviceCase spoiled(base(127, 127, 1270));
    spoiled.operands().a.fill(kNaN);
    ASSERT_TRUE(run_and_judge(spoiled));
    DeviceCase small(base(65, 33, 17)), split(base(130, 40, 2000));
    ASSERT_TRUE(run_and_judge(small));
    ASSERT_TRUE(run_and_judge(split));
  }
}

TEST_P(Rules, SubnormalsSurvive) {
  GemmCase c = base(9, 5, 1);
  DeviceCase product(c);
  // Tensor cores need not keep bf16's subnormals, which are fp32's too: the smallest normal number there.
  const double tiny = c.in == DataType::bf16 ? 0x1p-126 : 3 * smallest_subnormal(c.in);
  product.operands().a.fill(tiny);
  product.operands().b.fill(1.0);
  EXPECT_TRUE(run_and_judge(product));
}

TEST_P(Rules, SumsStartAtPlusZero) {
  GemmCase c = base(3, 3, 1);
  for (const double beta : {0.0, 1.0}) {
    c.beta = beta;
    DeviceCase product(c);
    product.operands().a.fill(-0.0);
    product.operands().b.fill(1.0);
    product.operands().c.fill(-0.0);
    ASSERT_TRUE(run_and_judge(product));
    GuardedMatrix result = product.operands().c;
    result.frame() = product.c_bytes();
    EXPECT_FALSE(std::signbit(result.get(2, 2))) << "beta " << beta;
  }
}

// (0, 0) of a row inside a bigger matrix: m = 1 with a large ld.
TEST_P(Rules, OneRowOfABiggerMatrix) {
  GemmCase c = base(1, 10, 33);
  c.lda = 50, c.ldc = 100, c.beta = 1;
  EXPECT_TRUE(passes(handle(), c));
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(kTypePairs), param_name);

}  // namespace
}  // namespace skgemm::test
