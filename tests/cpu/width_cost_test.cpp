// What the cost model says of a kernel with a run-time width: how time depends on the width, on how many CTAs share the
// machine and on how the operands lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "heuristics/cost_model.h"
#include "tests/cpu/width_case.h"

namespace skgemm {
namespace {

// Everything aligned, and no DRAM.
Candidate aligned(int width, bool width_k_major = true) {
  return {.row = &wgmma(),
          .width = width,
          .rows_k_major = true,
          .width_k_major = width_k_major,
          .c_unaligned = false,
          .traffic = 0};
}

TEST(WidthCosts, TimeGrowsWithKAndWithTheWidth) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  double before = 0;
  for (int64_t steps = 1; steps <= 4096; steps *= 2) {
    const Schedule s = data_parallel({16, 16, 1, steps, 1}, 132);
    const double us = predicted_us(k, aligned(192), s, h200(), 132);
    EXPECT_GT(us, before);
    before = us;
  }
  CostConstants narrower{};
  for (int width = 16; width <= 256; width += 16) {
    const CostConstants costs = costs_of(k, aligned(width)).at(132, 132);
    EXPECT_GT(costs.a, narrower.a) << width;
    EXPECT_GT(costs.b, narrower.b) << width;
    EXPECT_GE(costs.solo, narrower.solo) << width;
    EXPECT_GT(costs.d, narrower.d) << width;
    EXPECT_GT(costs.e, narrower.e) << width;
    narrower = costs;
  }
}

TEST(WidthCosts, WideTilesAreCheaperPerFlop) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  const auto per_column = [&](int width) {
    return costs_of(k, aligned(width)).at(132, 132).solo / width;
  };
  EXPECT_LT(per_column(256), per_column(128));
  EXPECT_LT(per_column(128), per_column(64));
  EXPECT_LT(per_column(64), per_column(16));
}

TEST(WidthCosts, WhatManyShareIsSlowerForEach) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  const CandidateCosts costs = costs_of(k, aligned(64));
  EXPECT_GT(costs.at(132, 132).solo, costs.at(8, 132).solo);
  EXPECT_GT(costs.at(132, 132).b, costs.at(8, 132).b);
  EXPECT_GE(costs.at(132, 132).d, costs.at(8, 132).d);
  // But together they get more done: a step shared out over all is never slower than over a few.
  for (int ctas = 1; ctas < 132; ++ctas) {
    EXPECT_LE(costs.at(ctas + 1, 132).solo / (ctas + 1), costs.at(ctas, 132).solo / ctas * (1 + 1e-12));
  }
}

TEST(WidthCosts, ContributorsAreNeverUndercounted) {
  for (const int64_t tiles : {1, 2, 5, 12, 30}) {
    for (const int64_t steps : {1, 2, 7, 32, 125}) {
      for (int64_t g = 1; g <= std::min<int64_t>(132, tiles * steps); ++g) {
        const Schedule s = stream_k({tiles, 1, 1, steps, 1}, g);
        int64_t most = 1;
        for (int64_t cta = 0; cta < g; ++cta) {
          UnitCursor cursor(s, cta);
          for (Unit u{}; cursor.next(u);) most = std::max(most, u.contributors);
        }
        const int64_t counted = most_contributors(s, true);
        EXPECT_GE(counted, most) << tiles << " " << steps << " " << g;
        EXPECT_TRUE(counted == most || g % tiles != 0) << tiles << " " << steps << " " << g;
      }
    }
  }
}

// CTAs that share tiles evenly walk along k together; of others each is at a k of its own, and L2 serves them slower.
TEST(WidthCosts, AGridThatCutsTilesUnevenlyCostsMore) {
  const CandidateCosts candidate = costs_of(width_constants_for(wgmma(), h200()).value, aligned(192));
  EXPECT_GE(candidate.at(1, 132).skew, 1);
  EXPECT_GT(candidate.at(132, 132).skew, candidate.at(8, 132).skew);
  const CostConstants k = candidate.at(120, 132);
  CostConstants together = k;
  together.skew = 1;
  const auto extra_us = [&](const Schedule& s) { return makespan(k, s, 132, 1) - makespan(together, s, 132, 1); };
  const TileSpace few{6, 10, 1, 64, 1}, many{20, 10, 1, 64, 1};
  EXPECT_EQ(extra_us(stream_k(few, 120)), 0) << "two CTAs to a tile";
  EXPECT_EQ(extra_us(data_parallel(many, 120)), 0);
  EXPECT_EQ(extra_us(fixed_split(few, 120, 3)), 0);
  EXPECT_NEAR(extra_us(stream_k(few, 119)), (k.skew - 1) * k.solo * 33, 1e-9) << "3840 steps of 119 CTAs";
  // Of 200 tiles 80 are shared, 43 steps each; a CTA does one more whole.
  EXPECT_NEAR(extra_us(one_tile(many, 120)), (k.skew - 1) * k.solo * 43, 1e-9);
  // A CTA less takes more than its work.
  EXPECT_GT(makespan(k, stream_k(few, 119), 132, 1) - makespan(k, stream_k(few, 120), 132, 1), k.solo);
}

TEST(WidthCosts, CopiesTakeTimeByTheirBytes) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  EXPECT_GT(copy_us(k, 256), 0);
  EXPECT_NEAR(copy_us(k, 200'000'000) - copy_us(k, 100'000'000), 1e8 / (k.copy_gbs * 1e3), 1e-9);
  EXPECT_LT(k.copy_gbs, h200().dram_gbs) << "each byte is read and written";
}

TEST(WidthCosts, LinesThatCrossThoseOfL2TakeLonger) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  const auto loads = [&](int rows_align, int width_align) {
    Candidate c = aligned(128);  // as many columns as rows
    c.rows_align = rows_align, c.width_align = width_align;
    return costs_of(k, c).load_part / costs_of(k, aligned(128)).load_part;
  };
  EXPECT_NEAR(loads(32, 128), 1 + k.crossed / 2, 1e-9);
  EXPECT_NEAR(loads(128, 64), 1 + k.crossed / 2, 1e-9);
  EXPECT_NEAR(loads(16, 128), 1 + k.shifted / 2, 1e-9);
  EXPECT_NEAR(loads(16, 16), 1 + k.shifted, 1e-9);
  EXPECT_NEAR(loads(32, 16), 1 + (k.crossed + k.shifted) / 2, 1e-9);
}

// The kernels that copy what they can't read as boxes.
TEST(WidthCosts, CopiedLinesTakeLonger) {
  const KernelRow& row = *find_kernel(DataType::f64, 90);
  const WidthConstants k = width_constants_for(row, h200()).value;
  const auto costs = [&](int rows_align, int width_align) {
    Candidate c = aligned(64);  // as many columns as rows
    c.row = &row, c.width_k_major = false;
    c.rows_align = rows_align, c.width_align = width_align;
    return costs_of(k, c);
  };
  const CandidateCosts boxed = costs(128, 128);
  EXPECT_EQ(costs(16, 16).a, boxed.a);
  EXPECT_EQ(costs(8, 128).a, boxed.a + k.copied0);
  EXPECT_EQ(costs(8, 8).a, boxed.a + k.copied0);
  EXPECT_NEAR(costs(8, 128).load_part, boxed.load_part * (1 + k.copied_k_major / 2), 1e-9);
  EXPECT_NEAR(costs(128, 8).load_part, boxed.load_part * (1 + k.copied / 2), 1e-9);
  EXPECT_NEAR(costs(128, 16).load_part, boxed.load_part * (1 + k.shifted / 2), 1e-9);
}

// Grids that cut tiles unevenly read the same lines at different times, so that narrow tiles wait for L2.
TEST(WidthCosts, NarrowTilesOfSkewedGridsWaitForL2) {
  const KernelRow& row = *find_kernel(DataType::f64, 90);
  const WidthConstants k = width_constants_for(row, h200()).value;
  Candidate c = aligned(32);
  c.row = &row;
  const CandidateCosts costs = costs_of(k, c);
  EXPECT_NEAR(costs.load_apart * k.l2_apart_gbs, 1e-3 * (64 + 32) * row.tile_k * 8, 1e-9);
  const CostConstants many = costs.at(264, 264);
  EXPECT_NEAR(many.skew * many.solo, costs.load_apart * 264, 1e-9);
  EXPECT_GT(costs.at(20, 264).skew * costs.at(20, 264).solo, costs.load_apart * 20);
}

// A grid ends with the multiprocessor on which two workers take turns, however many others have one.
TEST(WidthCosts, OneSharedMultiprocessorIsTheSlowest) {
  const KernelRow& row = *find_kernel(DataType::f64, 90);
  Candidate c = aligned(96);
  c.row = &row;
  const CandidateCosts costs = costs_of(width_constants_for(row, h200()).value, c);
  const auto step = [&](int workers) { return step_time(costs.at(workers, 264), workers, 132, 2); };
  EXPECT_EQ(step(133), step(264));
  EXPECT_GT(step(133), 1.3 * step(132));
  EXPECT_LT(step(133), 2 * step(132)) << "two fill each other's gaps";
}

TEST(WidthCosts, EightsStepSlower) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  const auto work = [&](int rows, int columns) {
    Candidate c = aligned(128);
    c.cluster_rows = rows, c.cluster_columns = columns;
    return costs_of(k, c).work / costs_of(k, aligned(128)).work;
  };
  EXPECT_EQ(work(2, 2), 1);
  EXPECT_NEAR(work(4, 2), 1 + k.eights, 1e-9);
  EXPECT_NEAR(work(2, 4), 1 + k.eights, 1e-9);
}

TEST(WidthCosts, AnUnalignedCCosts) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  Candidate c = aligned(96);
  c.c_unaligned = true;
  EXPECT_GT(costs_of(k, c).a, costs_of(k, aligned(96)).a);
  EXPECT_GT(costs_of(k, c).e, costs_of(k, aligned(96)).e);
}

TEST(WidthCosts, AWidthAlongContiguousColumnsIsLoadedIn64) {
  const WidthConstants k = width_constants_for(wgmma(), h200()).value;
  EXPECT_GT(costs_of(k, aligned(96, false)).load_part, costs_of(k, aligned(96)).load_part);
  EXPECT_EQ(costs_of(k, aligned(128, false)).load_part, costs_of(k, aligned(128)).load_part);
  EXPECT_EQ(costs_of(k, aligned(96, false)).load_part, costs_of(k, aligned(128)).load_part);
}

TEST(WidthCosts, NothingIsFasterThanDram) {
  const Shape shape = half(16, 32768, 8192);
  const Plan plan = select(shape, h200());
  EXPECT_GE(plan.predicted_us, 2.0 * 32768 * 8192 / (h200().dram_gbs * 1e3));
}

TEST(WidthCosts, PartsThatWereNeverFittedHaveTheirOwn) {
  for (const char* part : {"h200", "h100"}) {
    EXPECT_EQ(width_constants_for(wgmma(), *find_device(part)).fitted, std::string_view(part) == "h200");
    const CostConstants k = constants_for(wgmma(), *find_device(part)).value;
    // 128x256x64 on one of 132 SMs: between the peak of a thousand TFLOP/s and a third of it.
    EXPECT_GT(k.solo, 0.5);
    EXPECT_LT(k.solo, 1.5);
    EXPECT_EQ(select(half(4096, 4096, 4096), *find_device(part)).kernel, &wgmma());
  }
}

}  // namespace
}  // namespace skgemm
