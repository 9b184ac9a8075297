// Every schedule under narrow, odd and wide tiles, straight and swapped, by single CTAs and by clusters: no k-step is
// lost or repeated, and the bits are the same every time, also where a tile has many contributors.
#include "tests/gpu/known_product.h"

namespace skgemm::test {
namespace {

std::vector<Modes> forced_schedules() {
  std::vector<Modes> all;
  for (const int64_t split : {2, 3, 4, 5}) {
    all.push_back({.schedule = SKGEMM_SCHEDULE_FIXED_SPLIT, .parameter = split});
  }
  for (const int64_t grid : {1, 2, 7, 31, 61, 131, 132, 133, 263}) {
    all.push_back({.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = grid});
  }
  // Few multiprocessors give whole waves and a partial one, and rings that go round again and again.
  for (const int64_t sms : {0, 8, 17}) {
    for (const int64_t schedule : {SKGEMM_SCHEDULE_DATA_PARALLEL, SKGEMM_SCHEDULE_ONE_TILE, SKGEMM_SCHEDULE_TWO_TILE}) {
      all.push_back({.schedule = schedule, .sms = sms});
    }
  }
  return all;
}

Modes on_tile(const Tile& tile, const Modes& schedule) {
  Modes modes = tile.modes();
  modes.schedule = schedule.schedule, modes.parameter = schedule.parameter, modes.sms = schedule.sms;
  return modes;
}

// Calls body(modes) for every schedule under every tile of a CTA, and for every second one, in turns, under every tile
// of a cluster.
template <class Body>
void for_each_schedule(Body&& body) {
  const std::vector<Modes> schedules = forced_schedules();
  for (const int64_t width : {16, 48, 64, 112, 160, 256}) {
    for (const skgemm_orientation_t orientation : kOrientations) {
      for (const Modes& schedule : schedules) ASSERT_NO_FATAL_FAILURE(body(on_tile({width, orientation}, schedule)));
    }
  }
  constexpr size_t kOfOneWidth = 2 * std::size(kClusters);
  size_t turn = 0;
  for (const Tile& tile : clustered_tiles()) {
    for (size_t i = (turn + turn / kOfOneWidth) % 2; i < schedules.size(); i += 2)
      ASSERT_NO_FATAL_FAILURE(body(on_tile(tile, schedules[i])));
    ++turn;
  }
}

class TileSchedules : public TypedTileTest {
 protected:
  void expect_right(const GemmCase& c, const Placement& where, const Reference& expected) {
    KnownProduct known(placed(c, where), expected);
    for_each_schedule([&](const Modes& modes) { ASSERT_TRUE(known.right(handle(), modes)); });
  }
};

TEST_P(TileSchedules, OnesGiveK) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    GemmCase c = product(kOps[i], 293, 267, 1000);
    c.fill = Fill::ones;
    const Reference expected = constant_reference(c, static_cast<double>(c.k));
    ASSERT_NO_FATAL_FAILURE(expect_right(c, i % 2 == 0 ? kAligned : kOdd, expected));
  }
}

// Not constant: a step taken from the wrong place, or a partial added to the wrong rows, shows too.
TEST_P(TileSchedules, IntegersAreExact) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    GemmCase c = product(kOps[i], 293, 267, 1003);
    c.fill = Fill::integer, c.beta = -1;
    const Reference expected = reference_of(c);
    ASSERT_NO_FATAL_FAILURE(expect_right(c, i % 2 == 0 ? kOdd : kAligned, expected));
    ASSERT_NO_FATAL_FAILURE(expect_right(c, kPlacements[3 + i], expected));
  }
}

// Rounded sums, so that their order shows: it is the schedule's, whoever finishes a tile.
TEST_P(TileSchedules, RandomDataRepeatsBitForBit) {
  for (const Placement& where : {kAligned, kOdd}) {
    GemmCase c = product("NT", 150, 139, 1000);
    c.alpha = 0.75, c.beta = -0.5;
    KnownProduct known(placed(c, where), reference_of(c));
    for_each_schedule([&](const Modes& modes) {
      ASSERT_TRUE(known.right(handle(), modes));
      const std::vector<std::byte> first = known.bits();
      for (int repeat = 0; repeat < 2; ++repeat) {
        ASSERT_TRUE(known.run(handle(), modes));
        ASSERT_TRUE(known.bits() == first)
            << "other bits with width=" << modes.width << " orientation=" << modes.orientation << " cluster "
            << modes.cluster_m << 'x' << modes.cluster_n << " schedule=" << modes.schedule
            << " parameter=" << modes.parameter << " sms=" << modes.sms;
      }
    });
  }
}

// One 128x128 tile of 256 k-steps, or a few narrow ones, among up to 256 CTAs.
TEST_P(TileSchedules, ManyContributors) {
  GemmCase c = product("TN", 128, 128, 16384);
  c.fill = Fill::integer;
  const Reference expected = reference_of(c);
  for (const Placement& where : {kAligned, kOdd}) {
    KnownProduct known(placed(c, where), expected);
    const auto expect_right = [&](const Tile& tile, int repeats) {
      for (const Modes& forced : {Modes{.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 64},
                                  Modes{.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 256},
                                  Modes{.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 101},
                                  Modes{.schedule = SKGEMM_SCHEDULE_FIXED_SPLIT, .parameter = 64},
                                  Modes{.schedule = SKGEMM_SCHEDULE_FIXED_SPLIT, .parameter = 201}}) {
        for (int i = 0; i < repeats; ++i) ASSERT_TRUE(known.right(handle(), on_tile(tile, forced)));
      }
    };
    for (const int64_t width : {16, 128, 256}) {
      for (const skgemm_orientation_t orientation : kOrientations) {
        ASSERT_NO_FATAL_FAILURE(expect_right({width, orientation}, 3));
      }
    }
    for (const Tile& tile : clustered_tiles()) ASSERT_NO_FATAL_FAILURE(expect_right(tile, 1));
  }
}

// Fewer steps than workers, and tiles of clusters with rows or columns for some of their CTAs only.
TEST_P(TileSchedules, ClustersOnSmallProducts) {
  constexpr int64_t extents[] = {1, 100, 129, 255, 257, 300};
  constexpr Modes schedules[] = {{.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 1},
                                 {.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 5},
                                 {.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 250},
                                 {.schedule = SKGEMM_SCHEDULE_FIXED_SPLIT, .parameter = 4},
                                 {.schedule = SKGEMM_SCHEDULE_ONE_TILE},
                                 {.schedule = SKGEMM_SCHEDULE_TWO_TILE, .sms = 12}};
  size_t i = 0;
  for (const int64_t k : {1, 2, 7, 8, 63, 64, 65, 128, 130, 200, 333, 777}) {
    for (const char* op : kOps) {
      ++i;
      GemmCase c = product(op, extents[(i + i / 6) % 6], extents[(5 * i + 2) % 6], k);
      c.batch = i % 3 == 0 ? 3 : 1, c.fill = Fill::integer, c.beta = i % 2 == 0 ? 1 : 0;
      KnownProduct known(placed(c, kAligned), reference_of(c));
      for (const Tile& tile : clustered_tiles()) ASSERT_TRUE(known.right(handle(), on_tile(tile, schedules[i++ % 6])));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TileSchedules, testing::ValuesIn(kWidthPairs), param_name);

class TileCounters : public TileTest, public testing::WithParamInterface<ClusterShape> {};

// A CTA's part of a shared tile has a counter for each half of its rows, so 2048 use all 4096, and more are done whole.
TEST_P(TileCounters, AsManySharedTilesAsThereAreCounters) {
  GemmCase c;
  c.in = c.out = DataType::f16;
  c.m = 64 * 128, c.n = 32 * 16, c.k = 100, c.fill = Fill::ones;
  const Modes split{.schedule = SKGEMM_SCHEDULE_FIXED_SPLIT, .parameter = 2};
  const Modes modes = on_tile({16, SKGEMM_ORIENTATION_STRAIGHT, GetParam().m, GetParam().n}, split);
  KnownProduct known(placed(c, kAligned), constant_reference(c, 100));
  for (int repeat = 0; repeat < 2; ++repeat) ASSERT_TRUE(known.right(handle(), modes));

  c.n += 16;
  DeviceCase more(placed(c, kAligned));
  more.force(modes);
  const HandleModes forced(handle(), more.gemm_case());
  const skgemm_gemm_t call = more.call();
  skgemm_plan_t plan{};
  check(skgemm_gemm_plan(handle(), &call, &plan), "skgemm_gemm_plan");
  EXPECT_EQ(plan.schedule, SKGEMM_SCHEDULE_DATA_PARALLEL);
  check(more.run(handle()), "gemm");
  check(cudaDeviceSynchronize(), "the kernel");
  EXPECT_TRUE(more.judge(constant_reference(c, 100)));
}

INSTANTIATE_TEST_SUITE_P(All, TileCounters, testing::ValuesIn(kClusterShapes));

}  // namespace
}  // namespace skgemm::test
