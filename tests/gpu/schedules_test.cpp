// Every schedule forced. Products of ones must be exactly k: one lost or repeated k-step anywhere shows.
#include <limits>

#include "tests/gpu/known_product.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

struct Forced {
  skgemm_schedule_t schedule;
  int64_t parameter;
};

// `sms` is the device's: the last grids are just below, at, above and far above what runs at once.
std::vector<Forced> forced_schedules(int64_t sms) {
  std::vector<Forced> all = {{SKGEMM_SCHEDULE_DATA_PARALLEL, 0},
                             {SKGEMM_SCHEDULE_ONE_TILE, 0},
                             {SKGEMM_SCHEDULE_TWO_TILE, 0},
                             {SKGEMM_SCHEDULE_FIXED_SPLIT, 0},
                             {SKGEMM_SCHEDULE_STREAM_K, 0}};
  for (int64_t split = 2; split <= 8; ++split) all.push_back({SKGEMM_SCHEDULE_FIXED_SPLIT, split});
  for (const int64_t g : std::initializer_list<int64_t>{1, 2, 3, 7, 31, sms - 1, sms, sms + 1, 4 * sms}) {
    all.push_back({SKGEMM_SCHEDULE_STREAM_K, g});
  }
  return all;
}

class Schedules : public GpuTest, public testing::WithParamInterface<TypePair> {
 protected:
  void expect_ones_give_k(const GemmCase& base) {
    DeviceCase product(base);
    const Reference expected = constant_reference(product.gemm_case(), static_cast<double>(base.k));
    for (const Forced& f : forced_schedules(sm_count())) {
      check(skgemm_set_schedule(handle(), f.schedule, f.parameter), "skgemm_set_schedule");
      product.reset_c();
      check(product.run(handle()), "gemm");
      check(cudaDeviceSynchronize(), "the kernel");
      ASSERT_TRUE(product.judge(expected)) << "with schedule=" << f.schedule << " parameter=" << f.parameter;
    }
  }
};

TEST_P(Schedules, OnesGiveK) {
  set_deadline(std::chrono::seconds(60));
  for (const int64_t k : {1, 2, 7, 16, 17, 31, 33, 64, 100, 127, 128, 129, 255, 1000, 4096, 4159, 4160}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.op = k % 2 ? "TN" : "NT";
    c.m = 200, c.n = 150, c.k = k, c.fill = Fill::ones;
    ASSERT_NO_FATAL_FAILURE(expect_ones_give_k(c));
  }
}

// More tiles than run at once: whole waves, a partial wave, and a batch in the tile space.
TEST_P(Schedules, ManyTiles) {
  set_deadline(std::chrono::seconds(60));
  check(skgemm_set_sm_limit(handle(), 20), "skgemm_set_sm_limit");
  for (const int64_t batch : {1, 3}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.m = 1300 / batch, c.n = 900, c.k = 200, c.batch = batch, c.fill = Fill::ones;
    ASSERT_NO_FATAL_FAILURE(expect_ones_give_k(c));
  }
}

// Not constant: a step taken from the wrong place shows too.
TEST_P(Schedules, IntegersAreExact) {
  set_deadline(std::chrono::seconds(60));
  for (const Forced& f : forced_schedules(sm_count())) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.op = "TN";
    c.m = 190, c.n = 135, c.k = 1035, c.batch = 2, c.beta = 2.5, c.fill = Fill::integer;
    c.schedule = f.schedule, c.parameter = f.parameter;
    ASSERT_TRUE(passes(handle(), c));
  }
}

TEST_P(Schedules, ForcedIsPlanned) {
  GemmCase c;
  c.in = GetParam().in, c.out = GetParam().out;
  c.m = c.n = 1000, c.k = 2000, c.fill = Fill::ones;
  const DeviceCase product(c);
  const skgemm_gemm_t call = product.call();
  for (const Forced& f : forced_schedules(sm_count())) {
    check(skgemm_set_schedule(handle(), f.schedule, f.parameter), "skgemm_set_schedule");
    skgemm_plan_t plan{};
    check(skgemm_gemm_plan(handle(), &call, &plan), "skgemm_gemm_plan");
    EXPECT_EQ(plan.schedule, f.schedule);
    if (f.parameter == 0) continue;
    const bool split = f.schedule == SKGEMM_SCHEDULE_FIXED_SPLIT;
    EXPECT_EQ(split ? plan.split : plan.ctas, f.parameter) << "schedule " << f.schedule;
  }
}

// k = 2^20 ones (2^15 where C is fp16, whose range ends at 65504): every partial sum is an integer that fp32 holds. One
// tile, so up to 4 contributors a multiprocessor.
TEST_P(Schedules, LongSumOfOnesIsExact) {
  set_deadline(std::chrono::seconds(30));
  GemmCase c;
  c.in = GetParam().in, c.out = GetParam().out;
  c.op = "TN", c.m = 2, c.n = 1, c.k = GetParam().out == DataType::f16 ? 1 << 15 : 1 << 20, c.fill = Fill::ones;
  ASSERT_NO_FATAL_FAILURE(expect_ones_give_k(c));
}

INSTANTIATE_TEST_SUITE_P(All, Schedules, testing::ValuesIn(kTypePairs), param_name);

class Precision : public GpuTest {};

struct Constant {
  TypePair types;
  double a, b;
  int64_t k;
  double expected;
};

// fp32 stays fp32; half types sum in fp32 and overflow only when C is stored.
TEST_F(Precision, KnownProducts) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Constant rows[] = {
      {{DataType::f32, DataType::f32}, 1024.5, 1, 1, 1024.5},
      {{DataType::f32, DataType::f32}, 1.0 + 0x1p-23, 1, 1, 1.0 + 0x1p-23},
      {{DataType::f64, DataType::f64}, 1.0 + 0x1p-52, 1, 1, 1.0 + 0x1p-52},
      {{DataType::f16, DataType::f32}, 200, 200, 1024, 40'960'000},
      {{DataType::f16, DataType::f16}, 200, 200, 1024, infinity},
      {{DataType::f16, DataType::f32}, 8, 8, 4096, 262'144},
      {{DataType::f16, DataType::f16}, 60'000, 1, 1, 60'000},
      {{DataType::bf16, DataType::f32}, 256, 256, 255, 16'711'680},
  };
  for (const Constant& row : rows) {
    for (const int64_t schedule : {SKGEMM_SCHEDULE_DATA_PARALLEL, SKGEMM_SCHEDULE_FIXED_SPLIT}) {
      GemmCase c;
      c.in = row.types.in, c.out = row.types.out;
      c.m = 5, c.n = 9, c.k = row.k;
      DeviceCase product(c);
      product.operands().a.fill(row.a);
      product.operands().b.fill(row.b);
      product.refresh();
      check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(schedule), 0), "skgemm_set_schedule");
      check(product.run(handle()), "gemm");
      check(cudaDeviceSynchronize(), "the kernel");
      EXPECT_TRUE(product.judge(constant_reference(product.gemm_case(), row.expected))) << row.a << " * " << row.b;
    }
  }
}

// Split sums keep fp32 partials: bf16 output is rounded once.
TEST_F(Precision, SplitDoesNotRoundPartials) {
  GemmCase c;
  c.in = c.out = DataType::bf16;
  c.m = 32, c.n = 512, c.k = 7168;
  c.schedule = SKGEMM_SCHEDULE_FIXED_SPLIT, c.parameter = 16;
  EXPECT_TRUE(passes(handle(), c));
  c.fill = Fill::integer;
  EXPECT_TRUE(passes(handle(), c));
}

}  // namespace
}  // namespace skgemm::test
