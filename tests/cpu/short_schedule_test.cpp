// Schedules as devices walk them, in 32 bits and with quotients by multiplication, against the host's.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "kernels/schedule.h"

namespace skgemm {
namespace {

// Unit by unit, with their slots and where their tiles lie.
void check_short(const Schedule& s) {
  ASSERT_TRUE(s.is_short());
  const ShortSchedule x = short_of(s);
  for (int32_t cta = 0; cta < x.ctas; ++cta) {
    UnitCursor expected_cursor(s, cta);
    ShortUnitCursor cursor(x, cta);
    ShortUnit u{};
    for (Unit expected{}; expected_cursor.next(expected);) {
      ASSERT_FALSE(cursor.done());
      ASSERT_TRUE(cursor.next(u));
      ASSERT_TRUE(u.tile == expected.tile && u.step_begin == expected.step_begin && u.step_end == expected.step_end);
      ASSERT_TRUE(u.contributors == expected.contributors && u.position == expected.position);
      ASSERT_EQ(u.counter, expected.counter);
      const TileCoord at = s.space.coord(expected.tile);
      const ShortTileCoord found = x.space.coord(u.tile);
      ASSERT_TRUE(found.batch == at.batch && found.m == at.m && found.n == at.n);
      if (u.contributors == 1) continue;
      for (int32_t p = 0; p < u.contributors; ++p) ASSERT_EQ(x.slot(u, p), s.slot(expected, p));
    }
    ASSERT_TRUE(cursor.done());
    ASSERT_FALSE(cursor.next(u));
  }
}

TEST(ShortSchedule, IsTheSameWalk) {
  std::mt19937_64 random(3);
  auto draw = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int i = 0; i < 3000 && !testing::Test::HasFatalFailure(); ++i) {
    const TileSpace space{draw(1, 40), draw(1, 40), draw(1, 3), draw(1, 400), draw(1, 41)};
    const int64_t p = draw(1, 140);
    for (const Schedule& s : {data_parallel(space, p), fixed_split(space, p, draw(1, 45)),
                              stream_k(space, draw(1, 2 * p)), one_tile(space, p), two_tile(space, p)}) {
      check_short(s);
    }
  }
}

TEST(ShortSchedule, HoldsUpToItsBounds) {
  constexpr int64_t kEnd = int64_t{1} << 30;
  // Many k-steps to a tile.
  check_short(stream_k({.tiles_m = 1, .tiles_n = 1, .batch = 1, .steps = 2 * kEnd / 132 - 1, .group = 1}, 132));
  check_short(stream_k({.tiles_m = 9, .tiles_n = 11, .batch = 1, .steps = 2 * kEnd / 132 / 99 - 1, .group = 4}, 132));
  check_short(fixed_split({.tiles_m = 1, .tiles_n = 1, .batch = 1, .steps = kEnd / 100 - 1, .group = 1}, 132, 100));
}

// The first and the last of very many tiles, in bands of which the last one is lower, and in many batch entries.
TEST(ShortSchedule, FindsTilesUpToItsBounds) {
  for (const TileSpace& space : {TileSpace{32767, 32766, 1, 1, 8}, TileSpace{1, (int64_t{1} << 30) - 1, 1, 1, 1},
                                 TileSpace{(int64_t{1} << 30) - 1, 1, 1, 1, 7}, TileSpace{5, 3, 71582787, 1, 2}}) {
    const Schedule s = data_parallel(space, 132);
    ASSERT_TRUE(s.is_short());
    const ShortSchedule x = short_of(s);
    for (int64_t i = 0; i < 100'000; ++i) {
      for (const int64_t tile : {i, s.tiles() - 1 - i, i * 7919 % s.tiles()}) {
        const TileCoord at = space.coord(tile);
        const ShortTileCoord found = x.space.coord(static_cast<int32_t>(tile));
        ASSERT_TRUE(found.batch == at.batch && found.m == at.m && found.n == at.n) << tile;
      }
    }
  }
}

TEST(ShortSchedule, IsRefusedWhere32BitsAreTooFew) {
  constexpr int64_t kEnd = int64_t{1} << 30;
  EXPECT_TRUE(data_parallel({1, 1, kEnd - 1, 1, 1}, 132).is_short());
  EXPECT_FALSE(data_parallel({1, 1, kEnd, 1, 1}, 132).is_short());
  EXPECT_FALSE(data_parallel({1, 1, 1, kEnd, 1}, 132).is_short());
  EXPECT_TRUE(fixed_split({1, 1, kEnd / 8, 8, 1}, 132, 7).is_short());
  EXPECT_FALSE(fixed_split({1, 1, kEnd / 8, 8, 1}, 132, 8).is_short());
  EXPECT_TRUE(stream_k({1, 1, 1, 2 * kEnd / 128 - 1, 1}, 128).is_short());
  EXPECT_FALSE(stream_k({1, 1, 1, 2 * kEnd / 128, 1}, 128).is_short());
  EXPECT_FALSE(two_tile({1, 200, 1, 2 * kEnd / 68 / 132 + 1, 1}, 132).is_short());
}

// Around multiples of a divisor, where a quotient changes, and at the ends.
void check_divisor(int32_t d, std::mt19937& random) {
  constexpr int32_t kMost = INT32_MAX;
  const auto divisor = Divisor<int32_t>::of(d);
  const auto right = [&](int64_t n) {
    return n < 0 || n > kMost || divisor.quotient(static_cast<int32_t>(n), d) == n / d;
  };
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{kMost} - 1, int64_t{kMost}}) ASSERT_TRUE(right(n)) << d;
  for (int i = 0; i < 50; ++i) {
    const int64_t multiple = int64_t{std::uniform_int_distribution<int32_t>(0, kMost / d)(random)} * d;
    for (const int64_t n : {multiple - 1, multiple, multiple + 1}) ASSERT_TRUE(right(n)) << n << " / " << d;
  }
  const int64_t last = int64_t{kMost} / d * d;
  ASSERT_TRUE(right(last - 1) && right(last)) << d;
}

TEST(Divisor, MultiplicationsAreQuotients) {
  std::mt19937 random(1);
  for (int32_t d = 1; d < 3000; ++d) ASSERT_NO_FATAL_FAILURE(check_divisor(d, random));
  for (int bit = 1; bit < 31; ++bit) {
    for (const int64_t d : {(int64_t{1} << bit) - 1, int64_t{1} << bit, (int64_t{1} << bit) + 1})
      ASSERT_NO_FATAL_FAILURE(check_divisor(static_cast<int32_t>(d), random));
  }
  std::uniform_int_distribution<int32_t> any(1, INT32_MAX);
  for (int i = 0; i < 3000; ++i) ASSERT_NO_FATAL_FAILURE(check_divisor(any(random), random));
}

}  // namespace
}  // namespace skgemm
