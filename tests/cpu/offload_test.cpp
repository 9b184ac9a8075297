// The offload model, and how a product is cut for the trip through device memory: arithmetic, no GPU.
#include "src/host/offload.h"

#include <gtest/gtest.h>

#include <set>

#include "src/host/staging_plan.h"
#include "tests/support/random.h"

namespace skgemm::test {
namespace {

constexpr double kOne = 1, kZero = 0;

GemmCall product(int64_t m, int64_t n, int64_t k, DataType type = DataType::f64, const double* beta = &kZero) {
  return {.op_a = Op::n,
          .op_b = Op::n,
          .m = m,
          .n = n,
          .k = k,
          .in = type,
          .out = type,
          .scalar_type = DataType::f64,
          .scalars = PointerMode::host,
          .alpha = &kOne,
          .beta = beta,
          .a = {nullptr, m, 0},
          .b = {nullptr, k, 0},
          .c = {nullptr, m, 0},
          .batch = 1,
          .name = "test"};
}

// A 1 TFLOP/s CPU against 50 TFLOP/s behind a 25 GB/s link: break-even of square fp64 products near n = 650
// (32 n^2 bytes at 25 GB/s against 2 n^3 flops).
constexpr double kGpuGflops = 50'000;
OffloadEstimate square(int64_t n, const double* beta) {
  const GemmCall call = product(n, n, n, DataType::f64, beta);
  return estimate_offload(call, {.to_device_gbs = 25,
                                 .from_device_gbs = 25,
                                 .startup_us = 0,
                                 .gpu_us = flops(call) / kGpuGflops * 1e-3,
                                 .cpu_gflops = 1000});
}

TEST(Offload, BytesCountCOnlyWhenItIsRead) {
  EXPECT_EQ(offload_bytes(product(3, 5, 7)).to_device, (3 * 7 + 7 * 5) * 8.0);
  EXPECT_EQ(offload_bytes(product(3, 5, 7, DataType::f64, &kOne)).to_device, (3 * 7 + 7 * 5 + 3 * 5) * 8.0);
  EXPECT_EQ(offload_bytes(product(3, 5, 7, DataType::f16)).from_device, 3 * 5 * 2.0);
}

TEST(Offload, BreakEvenIsWhereBytesAndFlopsBalance) {
  EXPECT_FALSE(square(600, &kOne).gpu_pays());
  EXPECT_TRUE(square(700, &kOne).gpu_pays());
  EXPECT_FALSE(square(450, &kZero).gpu_pays());  // three quarters of the bytes, three quarters of the size
  EXPECT_TRUE(square(525, &kZero).gpu_pays());
}

TEST(Offload, IntensityDecidesNotSize) {
  const GemmCall skinny = product(1'000'000, 2, 100);
  const OffloadRates rates{
      .to_device_gbs = 25, .from_device_gbs = 25, .startup_us = 30, .gpu_us = 10, .cpu_gflops = 500};
  EXPECT_FALSE(estimate_offload(skinny, rates).gpu_pays());
}

TEST(Offload, TheLargerOfTransferAndComputeCounts) {
  const GemmCall call = product(1000, 1000, 1000);
  OffloadRates rates{.to_device_gbs = 16, .from_device_gbs = 8, .startup_us = 100, .gpu_us = 0, .cpu_gflops = 1};
  EXPECT_DOUBLE_EQ(estimate_offload(call, rates).gpu_us, 100 + 1000 + 1000);
  rates.gpu_us = 1e6;
  EXPECT_NEAR(estimate_offload(call, rates).gpu_us, 1e6, 1e3);
  EXPECT_DOUBLE_EQ(estimate_offload(call, rates).cpu_us, 2e6);
}

TEST(Offload, StartupKeepsSmallProductsOnTheCpu) {
  const GemmCall call = product(64, 64, 64);
  const OffloadRates rates{
      .to_device_gbs = 1e9, .from_device_gbs = 1e9, .startup_us = 30, .gpu_us = 0, .cpu_gflops = 100};
  EXPECT_FALSE(estimate_offload(call, rates).gpu_pays());
}

// Every element of C in exactly one tile, every element of op(A) and op(B) in exactly one chunk of its tile, all
// inside.
void expect_exact_cover(const GemmCall& call, const StagingPlan& p) {
  int64_t area = 0;
  std::set<std::pair<int64_t, int64_t>> corners;
  for (int64_t t = 0; t < p.tiles(); ++t) {
    const Block tile = p.tile(call, t);
    ASSERT_GT(tile.rows, 0);
    ASSERT_GT(tile.cols, 0);
    ASSERT_LE(tile.row + tile.rows, call.m);
    ASSERT_LE(tile.col + tile.cols, call.n);
    ASSERT_TRUE(corners.emplace(tile.row, tile.col).second);
    area += tile.rows * tile.cols;
    int64_t depth = 0;
    for (int64_t chunk = 0; chunk < p.chunks; ++chunk) {
      const Block a = p.a_block(call, t % p.tiles_m, chunk), b = p.b_block(call, t / p.tiles_m, chunk);
      const bool a_n = call.op_a == Op::n, b_n = call.op_b == Op::n;
      ASSERT_EQ(a_n ? a.row : a.col, tile.row);
      ASSERT_EQ(a_n ? a.rows : a.cols, tile.rows);
      ASSERT_EQ(b_n ? b.col : b.row, tile.col);
      ASSERT_EQ(b_n ? b.cols : b.rows, tile.cols);
      ASSERT_EQ(a_n ? a.col : a.row, depth);
      ASSERT_EQ(b_n ? b.row : b.col, depth);
      ASSERT_EQ(a_n ? a.cols : a.rows, b_n ? b.rows : b.cols);
      depth += a_n ? a.cols : a.rows;
      ASSERT_LE(static_cast<size_t>(staged_ld(a.rows, call.in) * a.cols * size_of(call.in)), p.a_slot_bytes);
      ASSERT_LE(static_cast<size_t>(staged_ld(b.rows, call.in) * b.cols * size_of(call.in)), p.b_slot_bytes);
    }
    ASSERT_EQ(depth, call.k);
    ASSERT_LE(static_cast<size_t>(staged_ld(tile.rows, p.c_type) * tile.cols * size_of(p.c_type)), p.c_slot_bytes);
  }
  ASSERT_EQ(area, call.m * call.n);
}

TEST(StagingPlan, CoversEveryProductWithinItsBudget) {
  Random random(3);
  const size_t budgets[] = {size_t{1} << 20, size_t{16} << 20, size_t{300} << 20, size_t{60} << 30};
  const DataType types[] = {DataType::f16, DataType::f32, DataType::f64};
  for (int i = 0; i < 600; ++i) {
    const auto extent = [&] { return random.one_in(3) ? random.integer(1, 20) : random.integer(1, 20000); };
    GemmCall call = product(extent(), extent(), extent(), random.pick(types));
    if (random.one_in(2)) call.op_a = Op::t;
    if (random.one_in(2)) call.op_b = Op::t;
    const size_t budget = random.pick(budgets);
    const auto plan = plan_staging(call, budget);
    ASSERT_TRUE(plan.has_value()) << call.m << 'x' << call.n << 'x' << call.k << " in " << budget;
    ASSERT_LE(plan->device_bytes(), budget);
    if (plan->tiles() * plan->chunks < 20000) expect_exact_cover(call, *plan);
  }
}

TEST(StagingPlan, SendsAOnceWhenItFits) {
  const GemmCall call = product(20000, 20000, 20000);
  const auto roomy = plan_staging(call, size_t{60} << 30);
  ASSERT_TRUE(roomy.has_value());
  EXPECT_EQ(roomy->a_slots, roomy->tiles_m * roomy->chunks);
  EXPECT_GE(roomy->tiles(), 8);
  const auto tight = plan_staging(call, size_t{1} << 30);
  ASSERT_TRUE(tight.has_value());
  EXPECT_LT(tight->a_slots, tight->tiles_m * tight->chunks);
}

TEST(StagingPlan, HalvesAreSummedInFp32WhenKIsCut) {
  const auto cut = plan_staging(product(100, 100, 50'000'000, DataType::f16), size_t{60} << 30);
  ASSERT_TRUE(cut.has_value());
  EXPECT_GT(cut->chunks, 1);
  EXPECT_EQ(cut->c_type, DataType::f32);
  const auto whole = plan_staging(product(4000, 4000, 4000, DataType::f16), size_t{60} << 30);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->chunks, 1);
  EXPECT_EQ(whole->c_type, DataType::f16);
}

// Columns of few rows are not padded to 128 bytes: one row of halves would take 64 times its memory and its way back.
TEST(StagingPlan, PaddingNeverDoublesAMatrix) {
  for (const DataType type : {DataType::f16, DataType::f32, DataType::f64}) {
    for (int64_t rows = 1; rows < 300; ++rows) {
      ASSERT_GE(staged_ld(rows, type), rows);
      ASSERT_GE(staged_ld(rows, type), staged_ld(rows - 1 + (rows == 1), type));  // slots hold their last block
      ASSERT_LT(staged_ld(rows, type), 2 * rows);
      if (rows * size_of(type) >= 128) {
        ASSERT_EQ(staged_ld(rows, type) * size_of(type) % 128, 0);
      }
    }
  }
  const GemmCall call = product(1, 4000, 4000, DataType::f16);
  const auto plan = plan_staging(call, size_t{60} << 30);
  EXPECT_LT(plan->a_slot_bytes, size_t{2 * 4000 + 256});
}

TEST(StagingPlan, SaysWhenThereIsNoRoom) { EXPECT_FALSE(plan_staging(product(4000, 4000, 4000), 10'000).has_value()); }

}  // namespace
}  // namespace skgemm::test
