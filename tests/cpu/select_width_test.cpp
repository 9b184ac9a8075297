// Kernels with a run-time tile width: which width, orientation and schedule the selector takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/fixup.h"
#include "tests/cpu/width_case.h"

namespace skgemm {
namespace {

TEST(SelectWidth, NoWidthWastesASmallerStep) {
  for_random_shapes(3000, [](const Shape& shape) {
    const Plan plan = select(shape, h200());
    const int width = plan.tile.width();
    const int64_t extent = plan.tile.swapped ? shape.m : shape.n;
    ASSERT_EQ(plan.tile, plan.kernel->tile(width, plan.tile.swapped, plan.tile.cluster));
    ASSERT_EQ(width % 16, 0) << width;
    ASSERT_LE(width, 256);
    ASSERT_TRUE(width >= 32 || extent <= 16) << width;
    ASSERT_TRUE(width == 16 || ceil_div(extent, width - 16) > ceil_div(extent, width)) << width;
  });
}

// Whatever else is forced, the free choice is predicted to be no slower, DRAM apart.
TEST(SelectWidth, TheFreeChoiceIsTheFastest) {
  const DeviceModel device = without_dram();
  size_t turn = 0;
  for_random_shapes(150, [&](const Shape& shape) {
    const double best = select(shape, device).predicted_us;
    for (const Orientation orientation : {Orientation::straight, Orientation::swapped}) {
      for (int width = 32; width <= 256; width += 16, ++turn) {
        for (int kind = 0; kind <= 5; ++kind) {
          const Limits limits{.forced = static_cast<ScheduleKind>(kind),
                              .forced_width = width,
                              .forced_orientation = orientation,
                              .forced_cluster = kClusterShapes[turn++ % std::size(kClusterShapes)]};
          const Plan plan = select(shape, device, limits);
          // Left to itself the selector splits no tile fixedly, and shares all tiles only below a wave.
          const Schedule& s = plan.schedule;
          if (s.kind == ScheduleKind::fixed_split) continue;
          if (s.kind == ScheduleKind::stream_k && s.tiles() >= room_of(plan).ctas()) continue;
          ASSERT_LE(best, plan.predicted_us * (1 + 1e-12)) << to_string(plan);
        }
      }
    }
  });
}

TEST(SelectWidth, ThePredictionIsThatOfThePlan) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  const auto copies_us = [&](const Plan& plan) { return plan.copy_bytes > 0 ? copy_us(k, plan.copy_bytes) : 0; };
  for_random_shapes(500, [&](const Shape& shape) {
    const Plan plan = select(shape, h200());
    const Candidate candidate = candidate_of(shape_in_kernel(plan, shape), *plan.kernel, plan.tile);
    const double us = predicted_us(k, candidate, plan.schedule, h200(), room_of(plan).sms);
    ASSERT_DOUBLE_EQ(us + copies_us(plan), plan.predicted_us);
    const Plan busy = select(shape, without_dram());
    const int64_t sms = room_of(busy).sms;
    const double busy_us = makespan(costs_of(busy, shape, without_dram(), sms), busy.schedule, sms, 1);
    ASSERT_DOUBLE_EQ(busy_us + copies_us(busy), busy.predicted_us);
  });
}

TEST(SelectWidth, TheNarrowSideIsTheWidth) {
  for (const int64_t narrow : {1, 16, 40, 64}) {
    const Plan tall = select(half(8192, narrow, 4096), h200()), wide = select(half(narrow, 8192, 4096), h200());
    EXPECT_FALSE(tall.tile.swapped) << narrow;
    EXPECT_TRUE(wide.tile.swapped) << narrow;
    const int64_t covers = ceil_div(narrow, 16) * 16;
    EXPECT_EQ(tall.tile.width(), covers);
    EXPECT_EQ(wide.tile.width(), covers);
  }
}

// What isn't aligned costs, but doesn't turn a tile.
TEST(SelectWidth, AlignmentCosts) {
  const Shape aligned = half(40, 8192, 4096);
  Shape c_alone = aligned, all = aligned;
  c_alone.c_align = 2;
  all.a_align = all.b_align = all.c_align = 2;
  const DeviceModel device = without_dram();
  const Plan best = select(aligned, device);
  EXPECT_GT(select(c_alone, device).predicted_us, best.predicted_us);
  EXPECT_GT(select(all, device).predicted_us, select(c_alone, device).predicted_us);
  EXPECT_TRUE(best.tile.swapped && select(c_alone, device).tile.swapped && select(all, device).tile.swapped);
}

// Which operand lies along the width is a matter of the orientation, and so is what its layout costs.
TEST(SelectWidth, TheWidthIsTheOtherOperandWhenSwapped) {
  Shape shape = half(100, 200, 300);
  shape.a_k_major = true, shape.b_k_major = false;
  const Candidate straight = candidate_of(shape, wgmma(), {128, 96, false});
  const Candidate swapped = candidate_of(shape, wgmma(), {96, 128, true});
  EXPECT_EQ(straight.width, 96);
  EXPECT_EQ(swapped.width, 96);
  EXPECT_FALSE(straight.width_k_major);
  EXPECT_TRUE(swapped.width_k_major);
  EXPECT_DOUBLE_EQ(straight.traffic, 2 * (100 * 300 + 300 * 200 + 100 * 200));
}

TEST(SelectWidth, ForcedTilesAreKept) {
  for (int width = 8; width <= 256; width += 8) {
    for (const Orientation orientation : {Orientation::straight, Orientation::swapped}) {
      const Limits limits{.forced_width = width, .forced_orientation = orientation};
      const Plan plan = select(half(1000, 1000, 1000), h200(), limits);
      EXPECT_EQ(plan.tile.width(), ceil_div(width, 16) * 16);
      EXPECT_EQ(plan.tile.swapped, orientation == Orientation::swapped);
      Shape odd = half(1001, 1001, 1001);
      odd.a_align = odd.b_align = odd.c_align = 2;
      const TileShape tile = select(odd, h200(), limits).tile;
      EXPECT_TRUE(tile.width() == plan.tile.width() && tile.swapped == plan.tile.swapped);
    }
    EXPECT_EQ(select(half(1000, 1000, 1000), h200(), {.forced_width = width}).tile.width(), ceil_div(width, 16) * 16);
  }
  EXPECT_TRUE(select(half(4096, 64, 512), h200(), {.forced_orientation = Orientation::swapped}).tile.swapped);
  EXPECT_FALSE(select(half(64, 4096, 512), h200(), {.forced_orientation = Orientation::straight}).tile.swapped);
}

TEST(SelectWidth, KernelsOfOneTileIgnoreForcedTiles) {
  Shape single = half(1000, 1000, 1000);
  single.in = single.out = DataType::f32;
  const Plan plan = select(single, h200(), {.forced_width = 16, .forced_orientation = Orientation::swapped});
  EXPECT_EQ(plan.tile, plan.kernel->tile(plan.kernel->tile_n, false));
}

TEST(SelectWidth, EveryScheduleFitsItsLimits) {
  int shared = 0;
  for_random_shapes(400, [&](const Shape& shape) {
    for (int kind = 0; kind <= 5; ++kind) {
      for (const size_t workspace : {size_t{0}, size_t{1} << 20, size_t{8} << 20, size_t{1} << 30}) {
        for (const int sms : {0, 13}) {
          const Limits limits{.sms = sms, .workspace_bytes = workspace, .forced = static_cast<ScheduleKind>(kind)};
          const Plan plan = select(shape, h200(), limits);
          const size_t partials = workspace_bytes(plan.schedule, plan.kernel->slot_bytes(plan.tile));
          // Copies stand behind the counters, also where nothing is counted.
          ASSERT_EQ(plan.workspace_bytes,
                    plan.copy_bytes > 0 ? std::max(partials, kCounterBytes) + plan.copy_bytes : partials);
          ASSERT_LE(plan.workspace_bytes, workspace) << to_string(plan);
          const int ctas = plan.tile.cluster.ctas();
          ASSERT_LE(plan.schedule.counters() * plan.kernel->counters * ctas, kCounterCapacity) << to_string(plan);
          const int64_t held = sms > 0 ? sms : 132 * resident_ctas(*plan.kernel, h200());
          ASSERT_LE(plan.schedule.ctas * ctas, held) << to_string(plan);
          shared += partials > 0;
        }
      }
    }
  });
  EXPECT_GT(shared, 1000) << "the limits left something to test";
}

// 3000 tiles of one width: one counter each would fit, the two of a wgmma tile do not.
TEST(SelectWidth, EveryPartOfATileHasACounter) {
  const Limits limits{.workspace_bytes = size_t{64} << 30,
                      .forced = ScheduleKind::fixed_split,
                      .forced_parameter = 2,
                      .forced_width = 128,
                      .forced_orientation = Orientation::straight};
  for (const ClusterShape& cluster : kClusterShapes) {
    Limits forced = limits;
    forced.forced_cluster = cluster;
    EXPECT_EQ(select(half(128 * 48, 128 * 40, 1024), h200(), forced).schedule.kind, ScheduleKind::fixed_split);
    EXPECT_EQ(select(half(128 * 48, 128 * 60, 1024), h200(), forced).schedule.kind, ScheduleKind::data_parallel);
  }
}

TEST(SelectWidth, TilesCoverC) {
  for_random_shapes(1000, [](const Shape& shape) {
    for (const Orientation orientation : {Orientation::straight, Orientation::swapped}) {
      const Plan plan = select(shape, h200(), {.forced_orientation = orientation});
      const TileSpace& space = plan.schedule.space;
      ASSERT_GE(space.tiles_m * plan.tile.m, shape.m);
      ASSERT_GE(space.tiles_n * plan.tile.n, shape.n);
      ASSERT_LT((space.tiles_m - 1) * plan.tile.m, shape.m);
      ASSERT_LT((space.tiles_n - 1) * plan.tile.n, shape.n);
      ASSERT_EQ(space.batch, shape.batch);
      ASSERT_GE(space.steps * plan.kernel->tile_k, shape.k);
      ASSERT_TRUE(space.group >= 1 && space.group <= space.tiles_m);
    }
  });
}

TEST(SelectWidth, ExtentsBeyond32BitsGoToTheOtherKernel) {
  Shape shape = half(1000, 1000, 1000, 4);
  EXPECT_STREQ(select(shape, h200()).kernel->name, "f16_wgmma");
  shape.small_extents = false;
  const Plan plan = select(shape, h200(), {.forced_width = 64});
  EXPECT_STREQ(plan.kernel->name, "f16_mma");
  EXPECT_EQ(plan.tile, plan.kernel->tile(plan.kernel->tile_n, false));
  shape.in = DataType::bf16;
  EXPECT_STREQ(select(shape, h200()).kernel->name, "bf16_mma");
  shape.small_extents = true;
  EXPECT_STREQ(select(shape, h200()).kernel->name, "bf16_wgmma");
}

TEST(SelectWidth, OnlyHopperHasWgmma) {
  for (const char* part : {"a100", "l40s", "b200"}) {
    EXPECT_STREQ(select(half(1000, 1000, 1000), *find_device(part)).kernel->name, "f16_mma") << part;
  }
}

}  // namespace
}  // namespace skgemm
