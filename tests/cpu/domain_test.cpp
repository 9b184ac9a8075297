// The evaluation's shapes are fixed by (seed, align): tables that name them stay comparable.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "bench/domain.h"

namespace skgemm::bench {
namespace {

TEST(Domain, seed_1_aligned) {
  const auto shapes = domain_shapes(1, 8);
  ASSERT_EQ(shapes.size(), 32824u);
  EXPECT_EQ(shapes[0], (DomainShape{1352, 2848, 7264}));
  EXPECT_EQ(shapes[1], (DomainShape{816, 816, 3056}));
  EXPECT_EQ(shapes.back(), (DomainShape{944, 2640, 136}));
}

TEST(Domain, seed_1_unaligned) {
  const auto shapes = domain_shapes(1, 1);
  EXPECT_EQ(shapes[0], (DomainShape{1351, 2846, 7261}));
  EXPECT_EQ(shapes[1], (DomainShape{812, 812, 3056}));
  EXPECT_EQ(shapes.back(), (DomainShape{940, 2643, 135}));
}

TEST(Domain, every_takes_the_same_shapes) {
  const auto all = domain_shapes(7, 8);
  const auto some = domain_shapes(7, 8, 64);
  ASSERT_EQ(some.size(), 513u);
  for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], all[64 * i]);
}

TEST(Domain, extents_stay_inside_and_aligned) {
  for (const int64_t align : {1, 8, 48}) {
    for (const auto& s : domain_shapes(3, align)) {
      for (const int64_t extent : {s.m, s.n, s.k}) {
        ASSERT_GE(extent, kDomainMin);
        ASSERT_LE(extent, kDomainMax);
        // The clamp may leave an end of the range that is no multiple.
        if (extent != kDomainMin && extent != kDomainMax) {
          ASSERT_EQ(extent % align, 0);
        }
      }
    }
  }
}

TEST(Domain, extents_are_log_uniform) {
  // A sixth of the extents in each octave from 128 to 8192.
  int octaves[6] = {};
  for (const auto& s : domain_shapes(1, 1)) {
    for (const int64_t extent : {s.m, s.n, s.k}) {
      int octave = 0;
      while (octave < 5 && extent >= (int64_t{256} << octave)) ++octave;
      ++octaves[octave];
    }
  }
  for (const int count : octaves) EXPECT_NEAR(count, 3 * kDomainShapes / 6.0, 600);
}

TEST(Domain, seeds_differ) { EXPECT_NE(domain_shapes(1, 8), domain_shapes(2, 8)); }

}  // namespace
}  // namespace skgemm::bench
