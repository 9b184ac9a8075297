// Kernels that can cluster their CTAs: what a forced cluster makes of a plan, and where there is none.
#include <gtest/gtest.h>

#include <utility>

#include "kernels/fixup.h"
#include "tests/cpu/width_case.h"

namespace skgemm {
namespace {

// A tile is that of all CTAs of the worker, and so are its slots and counters; the grid counts workers.
TEST(SelectCluster, ForcedClustersAreKept) {
  int shared = 0;
  for_random_shapes(200, [&](Shape shape) {
    shape.a_align = shape.b_align = 16;
    for (const ClusterShape& cluster : kClusterShapes) {
      for (int kind = 0; kind <= 5; ++kind) {
        const Limits limits{.forced = static_cast<ScheduleKind>(kind), .forced_cluster = cluster};
        const Plan plan = select(shape, h200(), limits);
        ASSERT_EQ(plan.tile, plan.kernel->tile(plan.tile.width(), plan.tile.swapped, cluster)) << to_string(plan);
        const size_t slot = static_cast<size_t>(plan.tile.m) * plan.tile.n * sizeof(float);
        const int64_t slots = plan.schedule.slots();
        ASSERT_EQ(plan.workspace_bytes, slots > 0 ? kCounterBytes + static_cast<size_t>(slots) * slot : 0);
        ASSERT_LE(plan.schedule.counters() * plan.kernel->counters * cluster.ctas(), kCounterCapacity);
        ASSERT_LE(plan.schedule.ctas, room_of(plan).ctas()) << to_string(plan);
        ASSERT_EQ(plan.schedule.space.tiles_m, ceil_div(shape.m, plan.tile.m));
        ASSERT_EQ(plan.schedule.space.tiles_n, ceil_div(shape.n, plan.tile.n));
        shared += slots > 0;
      }
    }
  });
  EXPECT_GT(shared, 1000);
}

TEST(SelectCluster, ForcedClustersOfForcedTilesAreKept) {
  for (const ClusterShape& cluster : kClusterShapes) {
    for (const Orientation orientation : {Orientation::straight, Orientation::swapped}) {
      for (int width = 16; width <= 256; width += 16) {
        const Limits limits{.forced_width = width, .forced_orientation = orientation, .forced_cluster = cluster};
        const bool swapped = orientation == Orientation::swapped;
        for (const auto& [m, n] : {std::pair{1, 1}, {1000, 1000}, {100, 5000}, {5000, 30}}) {
          const Plan plan = select(half(m, n, 1000), h200(), limits);
          ASSERT_EQ(plan.tile, plan.kernel->tile(width, swapped, cluster)) << to_string(plan);
          ASSERT_EQ(plan.tile.m, (swapped ? width : 128) * cluster.m);
          ASSERT_EQ(plan.tile.n, (swapped ? 128 : width) * cluster.n);
        }
      }
    }
  }
}

// The kernel that takes operands as they lie has none, nor has a machine with no room for it.
TEST(SelectCluster, SingleCtasWhereClustersCanNotBe) {
  for (const ClusterShape& cluster : kClusterShapes) {
    const Limits limits{.workspace_bytes = kCounterBytes, .forced_cluster = cluster};
    for (const auto& [a_align, b_align] : {std::pair{2, 16}, {16, 8}, {4, 2}}) {
      Shape shape = half(4096, 4096, 1000);
      shape.a_align = a_align, shape.b_align = b_align;
      EXPECT_EQ(select(shape, h200(), limits).tile.cluster, ClusterShape{}) << a_align << " " << b_align;
    }
    EXPECT_EQ(select(half(4096, 4096, 1000), h200(), {.sms = 1, .forced_cluster = cluster}).tile.cluster,
              ClusterShape{});
    Shape single = half(1000, 1000, 1000);
    single.in = single.out = DataType::f32;
    EXPECT_EQ(select(single, h200(), {.forced_cluster = cluster}).tile.cluster, ClusterShape{});
  }
  DeviceModel device = h200();
  device.fours = device.eights = 0;
  for (const ClusterShape& cluster : {ClusterShape{2, 2}, {4, 1}, {2, 4}})
    EXPECT_LE(select(half(4096, 4096, 1000), device, {.forced_cluster = cluster}).tile.cluster.ctas(), 2);
}

TEST(SelectCluster, NoChosenClusterHasACtaWithNothingToDo) {
  int clustered = 0;
  for_random_shapes(1000, [&](const Shape& shape) {
    const Plan plan = select(shape, h200());
    const TileShape& tile = plan.tile;
    ASSERT_TRUE(tile.cluster.m == 1 || shape.m > tile.m / tile.cluster.m) << to_string(plan);
    ASSERT_TRUE(tile.cluster.n == 1 || shape.n > tile.n / tile.cluster.n) << to_string(plan);
    clustered += tile.cluster.ctas() > 1;
  });
  EXPECT_GT(clustered, 100);
}

// Where operands out of L2 are what steps wait for.
TEST(SelectCluster, LargeProductsAreDoneByClusters) {
  for (const int64_t extent : {2048, 4096, 8192}) {
    EXPECT_GT(select(half(extent, extent, extent), h200()).tile.cluster.ctas(), 1) << extent;
  }
}

// Copies are aligned, so what is copied first may be shared.
TEST(SelectCluster, CopiedOperandsCanBeShared) {
  Shape odd = half(4096, 4096, 4096);
  odd.a_align = odd.b_align = 2;
  const Plan plan = select(odd, h200(), {.forced_cluster = {2, 2}});
  EXPECT_GT(plan.copy_bytes, 0u);
  EXPECT_EQ(plan.tile.cluster, (ClusterShape{2, 2}));
}

TEST(SelectCluster, WorkersAreWhatRunsAtOnce) {
  const auto workers = [](int sms, const ClusterShape& c) { return room_for(wgmma(), h200(), {.sms = sms}, c).ctas(); };
  EXPECT_EQ(workers(0, {1, 1}), 132);
  EXPECT_EQ(workers(0, {2, 1}), 66);
  EXPECT_EQ(workers(0, {1, 2}), 66);
  EXPECT_EQ(workers(0, {2, 2}), h200().fours);
  EXPECT_EQ(workers(0, {1, 4}), h200().fours);
  EXPECT_EQ(workers(0, {4, 2}), h200().eights);
  EXPECT_EQ(workers(13, {1, 2}), 6);
  EXPECT_EQ(workers(13, {2, 2}), 3);
  EXPECT_EQ(workers(13, {2, 4}), 1);
  EXPECT_EQ(workers(1, {2, 1}), 0);
}

}  // namespace
}  // namespace skgemm
