// The cost model and the selector: the paper's figure 8, the laws a plan must keep, shapes that were once picked badly.
#include "heuristics/select.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>

#include "heuristics/cost_model.h"
#include "kernels/fixup.h"

namespace skgemm {
namespace {

// Ratios like those of an A100 with a 128x128x32 fp16 tile: a peer costs eight steps, a partial nine.
constexpr CostConstants kA100Like{.a = 10, .b = 9, .c = 1, .d = 8, .e = 4, .solo = 1};

TEST(PaperFigure8, BestGridOf108Sms) {
  EXPECT_EQ(best_grid(kA100Like, 2 * 28, 8192 / 32, 108), 108);  // 256 x 3584 x 8192
  EXPECT_EQ(best_grid(kA100Like, 8 * 8, 1024 / 32, 108), 64);    // 1024 x 1024 x 1024
  EXPECT_EQ(best_grid(kA100Like, 1, 16384 / 32, 108), 8);        // 128 x 128 x 16384
}

TEST(CostModel, PaperFormula) {
  EXPECT_EQ(iters_per_cta(56, 256, 108), 133);
  EXPECT_EQ(fixup_peers(56, 256, 108), 2);
  EXPECT_DOUBLE_EQ(stream_k_time(kA100Like, 56, 256, 108), 10 + 9 + 133 + 8);
  EXPECT_DOUBLE_EQ(stream_k_time(kA100Like, 64, 32, 64), 10 + 32);  // one peer: no b, no d
}

TEST(CostModel, MakespanCountsWavesAndPeers) {
  const TileSpace space{7, 3, 1, 32, 1};
  EXPECT_DOUBLE_EQ(makespan(kA100Like, data_parallel(space, 4), 4, 1), 10 + 6 * 32 + 5 * 4);
  EXPECT_GT(makespan(kA100Like, stream_k(space, 168), 4, 1), makespan(kA100Like, stream_k(space, 4), 4, 1))
      << "more CTAs than run at once take turns";
  EXPECT_EQ(most_contributors(two_tile(space, 4)), 2);
  EXPECT_EQ(most_contributors(stream_k(space, 21)), 1);
  EXPECT_EQ(most_contributors(stream_k(space, 42)), 2);
  EXPECT_EQ(most_contributors(stream_k(space, 63), true), 3) << "11, 11 and 10 steps";
}

Shape square(DataType type, int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  return {m, n, k, batch, type, type, false, true, 16, 16, 16, true};
}

TEST(Select, PlansFitTheirLimits) {
  const DeviceModel& h200 = *find_device("h200");
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> extent(1, 9000);
  for (int i = 0; i < 4000; ++i) {
    const auto type = static_cast<DataType>(i % 4);
    const Shape shape = square(type, extent(random), extent(random), extent(random), 1 + i % 3);
    const Limits limits{.sms = i % 5 == 0 ? 1 + i % 132 : 0,
                        .workspace_bytes = i % 7 == 0 ? size_t{1} << (i % 26) : size_t{256} << 20};
    const Plan plan = select(shape, h200, limits);
    ASSERT_NE(plan.kernel, nullptr);
    ASSERT_LE(plan.workspace_bytes, limits.workspace_bytes);
    ASSERT_EQ(plan.workspace_bytes, workspace_bytes(plan.schedule, plan.kernel->slot_bytes(plan.tile)));
    ASSERT_LE(plan.schedule.counters() * plan.kernel->counters, kCounterCapacity);
    const int64_t room = limits.sms > 0 && limits.sms < 132 ? limits.sms : 132 * plan.kernel->workers_per_sm();
    ASSERT_LE(plan.schedule.ctas, room);
    ASSERT_GT(plan.predicted_us, 0);
    ASSERT_EQ(plan.schedule.tiles(), ceil_div(shape.m, plan.tile.m) * ceil_div(shape.n, plan.tile.n) * shape.batch);
  }
}

TEST(Select, NoWorkspaceMeansDataParallelNotFailure) {
  const Plan plan = select(square(DataType::f32, 128, 128, 16384), *find_device("h200"), {.workspace_bytes = 0});
  EXPECT_EQ(plan.schedule.kind, ScheduleKind::data_parallel);
  EXPECT_EQ(plan.workspace_bytes, 0u);
}

TEST(Select, LongKOnOneTileIsShared) {
  const Plan plan = select(square(DataType::f64, 64, 64, 16384), *find_device("h200"));
  EXPECT_GT(plan.schedule.ctas, 4);
  EXPECT_GT(plan.schedule.sk_tiles, 0);
}

TEST(Select, FullWavesStayWhole) {
  const DeviceModel& h200 = *find_device("h200");
  const KernelRow& row = *find_kernel(DataType::f32, 90);
  const int64_t p = 132 * row.workers_per_sm();
  const Plan plan = select(square(DataType::f32, row.tile_m * p, row.tile_n * 2, 64), h200);
  EXPECT_EQ(plan.schedule.sk_tiles, 0);
}

TEST(Select, ShortKStaysWhole) {
  // Two steps per tile: a fixup costs more than the idle wave.
  const Plan plan = select(square(DataType::f16, 1000, 1000, 64), *find_device("h200"));
  EXPECT_EQ(plan.schedule.sk_tiles, 0);
}

TEST(Select, ForcedSchedulesAreKept) {
  const DeviceModel& h200 = *find_device("h200");
  const Shape shape = square(DataType::f32, 3000, 3000, 3000);
  for (ScheduleKind kind : {ScheduleKind::data_parallel, ScheduleKind::fixed_split, ScheduleKind::stream_k,
                            ScheduleKind::one_tile, ScheduleKind::two_tile}) {
    EXPECT_EQ(select(shape, h200, {.forced = kind}).schedule.kind, kind);
  }
  EXPECT_EQ(select(shape, h200, {.forced = ScheduleKind::stream_k, .forced_parameter = 77}).schedule.ctas, 77);
  EXPECT_EQ(select(shape, h200, {.forced = ScheduleKind::fixed_split, .forced_parameter = 5}).schedule.split, 5);
}

// The device spreads CTAs over all its SMs: only as many CTAs as SMs keep a limit, whatever the schedule.
TEST(Select, ALimitIsAGridOfThatMany) {
  const Shape shape = square(DataType::f32, 3000, 3000, 3000);
  for (int schedule = 0; schedule <= 5; ++schedule) {
    for (const int64_t grid : {0, 500}) {
      const auto kind = static_cast<ScheduleKind>(schedule);
      const Limits limits{.sms = 66, .forced = kind, .forced_parameter = kind == ScheduleKind::stream_k ? grid : 0};
      EXPECT_LE(select(shape, *find_device("h200"), limits).schedule.ctas, 66) << name_of(kind);
    }
  }
}

TEST(Select, ProductsTooLargeToCountAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 40, kMost = INT64_MAX;
  const DeviceModel& h200 = *find_device("h200");
  for (const DataType type : {DataType::f16, DataType::f32, DataType::f64}) {
    for (const auto& [m, n, k, batch] : {std::array<int64_t, 4>{kHuge, kHuge, 1, 1}, {kMost, 1, 1, 1},
                                         {1, kMost, kMost, 1}, {1, 1, kMost, 1}, {1, 1, 1, kMost},
                                         {kMost, kMost, kMost, kMost}, {kHuge / 64, kHuge, 1 << 20, 1}}) {
      for (const ScheduleKind kind : {ScheduleKind{}, ScheduleKind::fixed_split, ScheduleKind::stream_k}) {
        const Plan plan = select(square(type, m, n, k, batch), h200, {.forced = kind});
        EXPECT_EQ(plan.kernel, nullptr) << m << " " << n << " " << k << " " << batch;
        EXPECT_NE(plan.why_not, nullptr);
      }
    }
  }
  const Plan long_one = select(square(DataType::f16, 1 << 22, 1 << 22, 1 << 22), h200);
  EXPECT_NE(long_one.kernel, nullptr) << "days, but countable";
}

TEST(Select, PlansAreThoseThatKernelsCanWalk) {
  const DeviceModel& h200 = *find_device("h200");
  for (const ScheduleKind kind : {ScheduleKind{}, ScheduleKind::fixed_split, ScheduleKind::stream_k}) {
    for (const int64_t k : {470'000, 5'000'000, 500'000'000}) {
      const Plan plan = select(square(DataType::f64, 740, 740, k), h200, {.forced = kind});
      ASSERT_NE(plan.kernel, nullptr);
      EXPECT_TRUE(plan.schedule.is_short()) << k;
    }
    for (const DataType type : {DataType::f16, DataType::f32}) {
      const Plan most = select(square(type, 1, 1, 1, (int64_t{1} << 30) - 1), h200, {.forced = kind});
      EXPECT_TRUE(most.kernel != nullptr && most.schedule.is_short());
      const Plan more = select(square(type, 1, 1, 1, int64_t{1} << 30), h200, {.forced = kind});
      EXPECT_TRUE(more.kernel == nullptr && more.why_not != nullptr);
    }
  }
}

TEST(Select, DeterministicAndPure) {
  const Shape shape = square(DataType::bf16, 1234, 777, 4321);
  const Plan first = select(shape, *find_device("a100"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(to_string(select(shape, *find_device("a100"))), to_string(first));
}

TEST(Select, TooOldADeviceHasNoKernel) {
  DeviceModel old = *find_device("a100");
  old.compute_capability = 75;
  const Plan plan = select(square(DataType::f32, 100, 100, 100), old);
  EXPECT_EQ(plan.kernel, nullptr);
  EXPECT_EQ(to_string(plan), "no kernel for this type and device");
}

TEST(Select, UnknownPartsGetDerivedConstants) {
  DeviceModel unknown = *find_device("l40s");
  unknown.name = "some later part";
  const ConstantsSource source = constants_for(*find_kernel(DataType::f32, unknown.compute_capability), unknown);
  EXPECT_FALSE(source.fitted);
  EXPECT_GT(source.value.c, 0);
  EXPECT_GT(source.value.c, source.value.solo * 0.99);
}

TEST(DeviceModel, FoundByKeyAndByName) {
  ASSERT_NE(find_device("H200"), nullptr);
  EXPECT_EQ(find_device("NVIDIA H200"), find_device("h200"));
  EXPECT_EQ(find_device("h2000"), nullptr);
}

TEST(DeviceModel, KnownPartsHaveTheirMeasuredRates) {
  DeviceModel found = *find_device("h200");
  found.dram_gbs = 1;
  found.fours = found.eights = 0;
  EXPECT_EQ(with_known_rates(found).dram_gbs, find_device("h200")->dram_gbs);
  EXPECT_EQ(with_known_rates(found).fours, 30);
  EXPECT_EQ(with_known_rates(found).eights, 15);
  found.sms = 16;  // a MIG slice
  EXPECT_EQ(with_known_rates(found).dram_gbs, 1);
  EXPECT_EQ(with_known_rates(found).fours, 3);
  EXPECT_EQ(with_known_rates(found).eights, 1);
  found.compute_capability = 80;
  EXPECT_EQ(with_known_rates(found).fours, 0);
  EXPECT_EQ(with_known_rates(found).eights, 0);
}

TEST(DeviceModel, AttributesThatReadZeroHaveStandIns) {
  const DeviceModel found = with_known_rates({"some virtual GPU", 90, 50, 0, 0, 0, 0, 0});
  EXPECT_EQ(found.sms, 50);
  const double us = select(square(DataType::f32, 1000, 1000, 1000), found).predicted_us;
  EXPECT_TRUE(std::isfinite(us) && us > 0) << us;
}

}  // namespace
}  // namespace skgemm
