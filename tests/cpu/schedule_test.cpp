// The schedules as pure values: every k-step exactly once, balance, the papers' worked examples.
#include "kernels/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace skgemm {
namespace {

std::string describe(const Schedule& s) {
  return std::string(name_of(s.kind)) + " tiles=" + std::to_string(s.space.tiles_m) + "x" +
         std::to_string(s.space.tiles_n) + "x" + std::to_string(s.space.batch) +
         " steps=" + std::to_string(s.space.steps) + " group=" + std::to_string(s.space.group) +
         " ctas=" + std::to_string(s.ctas) + " split=" + std::to_string(s.split) +
         " sk_tiles=" + std::to_string(s.sk_tiles);
}

// A tile's number by its place: what comes before it in its entry's bands, then in its band's columns.
int64_t number_of(const TileSpace& space, const TileCoord& at) {
  const int64_t high = std::min(space.group, space.tiles_m), first = at.m - at.m % high;
  const int64_t height = std::min(high, space.tiles_m - first);
  return (at.batch * space.tiles_m + first) * space.tiles_n + at.n * height + at.m - first;
}

TEST(TileSpace, TilesAreWalkedInBands) {
  for (const int64_t m : {1, 2, 5, 12}) {
    for (const int64_t n : {1, 3, 7}) {
      for (const int64_t batch : {1, 2, 5}) {
        for (const int64_t group : {1, 2, 3, 5, 11, 12, 40}) {
          const TileSpace space{m, n, batch, 1, group};
          int64_t tile = 0;
          for (int64_t entry = 0; entry < batch; ++entry) {
            for (int64_t first = 0; first < m; first += group) {
              for (int64_t column = 0; column < n; ++column) {
                for (int64_t row = first; row < std::min(first + group, m); ++row, ++tile) {
                  const TileCoord at = space.coord(tile);
                  ASSERT_TRUE(at.batch == entry && at.m == row && at.n == column) << tile << " of " << m << "x" << n;
                  ASSERT_EQ(number_of(space, at), tile);
                }
              }
            }
          }
        }
      }
    }
  }
}

// Quotients are of 32 bits below 2^31 tiles and of 64 bits from there on.
TEST(TileSpace, LargeOnesHaveTheSameOrder) {
  std::mt19937_64 random(3);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  constexpr int64_t k31 = int64_t{1} << 31, k40 = int64_t{1} << 40;
  for (const auto& [m, n, batch] : {std::array{k31 - 1, int64_t{1}, int64_t{1}}, {int64_t{1}, k31 - 1, int64_t{1}},
                                    {int64_t{1}, int64_t{1}, k31 - 1}, {int64_t{46340}, int64_t{46341}, int64_t{1}},
                                    {int64_t{1 << 10}, int64_t{2047}, int64_t{1 << 10}}, {k31, int64_t{1}, int64_t{1}},
                                    {int64_t{1}, k31, int64_t{1}}, {int64_t{1}, int64_t{1}, k31},
                                    {int64_t{46341}, int64_t{46342}, int64_t{1}}, {k31 + 5, int64_t{77}, int64_t{3}},
                                    {int64_t{1000}, k40 / 8, int64_t{9}}, {int64_t{3}, int64_t{5}, k40}}) {
    for (const int64_t group : {int64_t{1}, int64_t{7}, int64_t{40000}, k31 - 1, k40}) {
      const TileSpace space{m, n, batch, 1, group};
      for (int i = 0; i < 200; ++i) {
        const TileCoord at = i == 0 ? TileCoord{batch - 1, m - 1, n - 1} : TileCoord{below(batch), below(m), below(n)};
        const TileCoord found = space.coord(number_of(space, at));
        ASSERT_TRUE(found.batch == at.batch && found.m == at.m && found.n == at.n)
            << at.batch << " " << at.m << " " << at.n << " in " << m << "x" << n << "x" << batch << " by " << group;
      }
    }
  }
}

std::vector<std::vector<Unit>> units_of(const Schedule& s) {
  std::vector<std::vector<Unit>> all(static_cast<size_t>(s.ctas));
  for (int64_t cta = 0; cta < s.ctas; ++cta) {
    UnitCursor cursor(s, cta);
    for (Unit u{}; cursor.next(u);) all[static_cast<size_t>(cta)].push_back(u);
  }
  return all;
}

// What a tile's contributors say of it, gathered from every CTA.
struct Seen {
  int64_t steps = 0, units = 0, contributors = 0, counter = 0;
  std::vector<int64_t> slots, begins;
};

// Checks one schedule whole. Returns false (with a gtest failure) at the first broken law.
void check(const Schedule& s) {
  SCOPED_TRACE(describe(s));
  std::vector<Seen> seen(static_cast<size_t>(s.tiles()));
  int64_t least = INT64_MAX, most = 0;
  for (const auto& units : units_of(s)) {
    ASSERT_FALSE(units.empty());  // no CTA is launched for nothing
    int64_t shared = 0;
    for (const Unit& u : units) {
      ASSERT_TRUE(u.tile >= 0 && u.tile < s.tiles());
      ASSERT_TRUE(0 <= u.step_begin && u.step_begin < u.step_end && u.step_end <= s.space.steps);
      ASSERT_TRUE(0 <= u.position && u.position < u.contributors);
      Seen& t = seen[static_cast<size_t>(u.tile)];
      ASSERT_TRUE(t.units == 0 || t.contributors == u.contributors);
      t.steps += u.step_end - u.step_begin;
      t.units++;
      t.contributors = u.contributors;
      if (u.tile < s.sk_tiles) shared += u.step_end - u.step_begin;
      if (u.contributors == 1) continue;
      ASSERT_TRUE(t.units == 1 || t.counter == u.counter);
      ASSERT_TRUE(u.counter >= 0 && u.counter < s.counters());
      t.counter = u.counter;
      t.slots.resize(static_cast<size_t>(u.contributors), -1);
      t.begins.resize(static_cast<size_t>(u.contributors), -1);
      ASSERT_EQ(t.slots[static_cast<size_t>(u.position)], -1) << "two CTAs at one position";
      t.slots[static_cast<size_t>(u.position)] = s.slot(u, u.position);
      t.begins[static_cast<size_t>(u.position)] = u.step_begin;
      for (int64_t p = 1; p < u.contributors; ++p) {
        ASSERT_EQ(s.slot(u, p), s.slot(u, 1) + (p - 1) * s.slot_stride()) << "slots aren't evenly spaced";
      }
    }
    if (s.sk_tiles > 0) {
      least = std::min(least, shared);
      most = std::max(most, shared);
    }
  }
  ASSERT_TRUE(s.sk_tiles == 0 || most - least <= 1) << "shares differ by more than one step";
  std::vector<int64_t> slots, counters;
  for (const Seen& t : seen) {
    // With the right number of steps from as many units as contributors, in increasing order, each step is there once.
    ASSERT_EQ(t.steps, s.space.steps);
    ASSERT_EQ(t.units, t.contributors);
    ASSERT_TRUE(std::is_sorted(t.begins.begin(), t.begins.end()));
    slots.insert(slots.end(), t.slots.begin(), t.slots.end());
    if (t.contributors > 1) counters.push_back(t.counter);
  }
  for (auto* ids : {&slots, &counters}) {
    std::sort(ids->begin(), ids->end());
    ASSERT_EQ(std::adjacent_find(ids->begin(), ids->end()), ids->end()) << "a slot or counter has two owners";
  }
  ASSERT_TRUE(slots.empty() || (slots.front() >= 0 && slots.back() < s.slots()));
}

TEST(Schedule, EveryStepOnceBalancedOverThousandsOfShapes) {
  std::mt19937_64 random(1);
  auto draw = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int checked = 0;
  for (int i = 0; i < 11000 && !testing::Test::HasFatalFailure(); ++i) {
    const TileSpace space{draw(1, 12), draw(1, 12), draw(1, 3), draw(1, 40), draw(1, 13)};
    const int64_t p = draw(1, 140);
    for (const Schedule& s : {data_parallel(space, p), fixed_split(space, p, draw(1, 45)),
                              stream_k(space, draw(1, 2 * p)), one_tile(space, p), two_tile(space, p)}) {
      check(s);
      ++checked;
    }
  }
  EXPECT_GE(checked, 50000);
}

TEST(Schedule, HoldsForLargeSpaces) {
  check(two_tile({.tiles_m = 64, .tiles_n = 64, .batch = 1, .steps = 256, .group = 11}, 132));
  check(stream_k({.tiles_m = 1, .tiles_n = 1, .batch = 1, .steps = 32768, .group = 1}, 264));
  check(one_tile({.tiles_m = 1, .tiles_n = 1, .batch = 70000, .steps = 1, .group = 1}, 132));
}

TEST(Schedule, OffsetsBeyond32Bits) {
  // 2^33 tiles of 2^10 steps: the last CTA's share ends exactly at the end.
  const Schedule s = stream_k({.tiles_m = int64_t{1} << 32, .tiles_n = 2, .batch = 1, .steps = 1024, .group = 1}, 132);
  EXPECT_EQ(s.sk_begin(132), int64_t{1} << 43);
  EXPECT_EQ(s.cta_of_step((int64_t{1} << 43) - 1), 131);
}

TEST(Schedule, RasterVisitsEveryTileOnce) {
  for (int64_t group : {1, 2, 3, 5, 7, 8, 100}) {
    const TileSpace space{7, 5, 3, 1, group};
    std::vector<int> visits(static_cast<size_t>(space.tiles()));
    for (int64_t t = 0; t < space.tiles(); ++t) {
      const TileCoord at = space.coord(t);
      ASSERT_TRUE(at.m >= 0 && at.m < 7 && at.n >= 0 && at.n < 5 && at.batch >= 0 && at.batch < 3);
      visits[static_cast<size_t>((at.batch * 5 + at.n) * 7 + at.m)]++;
    }
    EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 1; })) << "group " << group;
  }
}

TEST(Schedule, RasterGroupCoversSquares) {
  // 16 tiles in bands of 4 are a 4 x 4 block, not a 16 x 1 stripe.
  const TileSpace space{16, 16, 1, 1, 4};
  for (int64_t t = 0; t < 16; ++t) {
    EXPECT_LT(space.coord(t).m, 4);
    EXPECT_LT(space.coord(t).n, 4);
  }
}

// Share of p processors' time spent on k-steps when CTAs run in waves of p.
double utilisation(const Schedule& s, int64_t p) {
  int64_t busy = 0, longest = 0;
  for (const auto& units : units_of(s)) {
    int64_t steps = 0;
    for (const Unit& u : units) steps += u.step_end - u.step_begin;
    busy += steps;
    longest = std::max(longest, steps);
  }
  return static_cast<double>(busy) / static_cast<double>(p * longest);
}

TEST(PaperExamples, Figure1And2_384x384x128On4Sms) {
  const TileSpace square{3, 3, 1, 32, 1};  // 128 x 128 x 4
  const TileSpace narrow{3, 6, 1, 32, 1};  // 128 x 64 x 4
  EXPECT_DOUBLE_EQ(utilisation(data_parallel(square, 4), 4), 0.75);
  EXPECT_DOUBLE_EQ(utilisation(data_parallel(narrow, 4), 4), 0.9);
  EXPECT_DOUBLE_EQ(utilisation(fixed_split(square, 4, 2), 4), 0.9);
  const Schedule s = stream_k(square, 4);
  EXPECT_DOUBLE_EQ(utilisation(s, 4), 1.0);
  EXPECT_EQ(s.sk_begin(1) - s.sk_begin(0), 72);  // "72 MAC-loop iterations each"
}

TEST(PaperExamples, Figure3_896x384x128On4Sms) {
  const TileSpace space{7, 3, 1, 32, 1};  // 21 tiles
  const Schedule basic = stream_k(space, 4);
  // Figure 3a: initial k offsets 0, 32, 64, 96 in elements of a 128-deep tile, 4 per step.
  for (int64_t cta = 0; cta < 4; ++cta) EXPECT_EQ(basic.sk_begin(cta) % 32 * 4, 32 * cta);
  const Schedule one = one_tile(space, 4);
  EXPECT_EQ(one.sk_tiles, 1);  // five full waves, one tile left
  EXPECT_EQ(units_of(one)[0].front().contributors, 4);
  const Schedule two = two_tile(space, 4);
  EXPECT_EQ(two.sk_tiles, 5);  // the rest and one full wave
  for (const auto& units : units_of(two)) {
    int64_t shared = 0;
    for (const Unit& u : units) {
      if (u.tile >= two.sk_tiles) continue;
      shared += u.step_end - u.step_begin;
      EXPECT_LE(u.contributors, 2);  // each accumulating CTA has one other contributor
    }
    EXPECT_GT(shared, 32);  // more than one tile, fewer than two
    EXPECT_LT(shared, 64);
  }
  EXPECT_DOUBLE_EQ(utilisation(one, 4), 1.0);
  EXPECT_DOUBLE_EQ(utilisation(two, 4), 1.0);
  EXPECT_DOUBLE_EQ(utilisation(data_parallel(space, 4), 4), 21.0 / 24.0);
}

TEST(PaperExamples, HybridsBelowTwoWavesAndOnFullWaves) {
  const TileSpace seven{7, 1, 1, 32, 1};  // one wave and three tiles: two-tile behaves as one-tile (section 5.2)
  EXPECT_EQ(two_tile(seven, 4).sk_tiles, 3);
  EXPECT_EQ(one_tile(seven, 4).sk_tiles, 3);
  const TileSpace eight{8, 1, 1, 32, 1};  // no partial wave: nothing to balance
  EXPECT_EQ(two_tile(eight, 4).sk_tiles, 0);
  EXPECT_EQ(one_tile(eight, 4).sk_tiles, 0);
}

TEST(PaperExamples, Figure9_128x128x384On4Sms) {
  const TileSpace space{1, 1, 1, 96, 1};
  EXPECT_DOUBLE_EQ(utilisation(data_parallel(space, 4), 4), 0.25);
  const Schedule s = stream_k(space, 4);
  EXPECT_DOUBLE_EQ(utilisation(s, 4), 1.0);
  for (const auto& units : units_of(s)) EXPECT_EQ(units.front().contributors, 4);
}

TEST(PaperExamples, StreamKGeneralises) {
  // g = tiles is data-parallel, g = tiles * s is fixed-split(s) (section 4).
  const TileSpace space{4, 5, 1, 24, 1};
  for (const auto& units : units_of(stream_k(space, 20))) {
    ASSERT_EQ(units.size(), 1u);
    EXPECT_EQ(units[0].contributors, 1);
  }
  for (const auto& units : units_of(stream_k(space, 60))) {
    ASSERT_EQ(units.size(), 1u);
    EXPECT_EQ(units[0].contributors, 3);
    EXPECT_EQ(units[0].step_end - units[0].step_begin, 8);
  }
}

}  // namespace
}  // namespace skgemm
