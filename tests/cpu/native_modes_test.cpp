// What the native API lets be forced: schedules, tiles, clusters. None of it needs a GPU.
#include <gtest/gtest.h>

#include <string>

#include "skgemm.h"
#include "src/context.h"
#include "tests/cpu/last_error.h"

namespace {

using skgemm::says;

class NativeModes : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(skgemm_destroy(handle_), SKGEMM_STATUS_SUCCESS); }
  const skgemm::Limits& limits() const { return handle_->launch.limits; }

  skgemm_handle_t handle_ = skgemm::make_context(0);
};

TEST_F(NativeModes, SchedulesTakeTheirParameterOnly) {
  const auto set = [this](int schedule, int64_t parameter) {
    return skgemm_set_schedule(handle_, static_cast<skgemm_schedule_t>(schedule), parameter);
  };
  for (int schedule = 0; schedule <= 5; ++schedule) {
    const bool takes_one = schedule == SKGEMM_SCHEDULE_FIXED_SPLIT || schedule == SKGEMM_SCHEDULE_STREAM_K;
    EXPECT_EQ(set(schedule, 0), SKGEMM_STATUS_SUCCESS) << schedule;
    EXPECT_EQ(set(schedule, 4), takes_one ? SKGEMM_STATUS_SUCCESS : SKGEMM_STATUS_INVALID_VALUE) << schedule;
    EXPECT_EQ(set(schedule, -1), SKGEMM_STATUS_INVALID_VALUE) << schedule;
  }
  EXPECT_EQ(set(-1, 0), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(set(6, 0), SKGEMM_STATUS_INVALID_VALUE);
}

TEST_F(NativeModes, TilesAreMultiplesOfEightUpToTheWidest) {
  const auto set = [this](int32_t width, int orientation) {
    return skgemm_set_tile(handle_, width, static_cast<skgemm_orientation_t>(orientation));
  };
  for (const int32_t width : {0, 8, 16, 24, 128, 256}) {
    for (int orientation = 0; orientation <= 2; ++orientation) {
      EXPECT_EQ(set(width, orientation), SKGEMM_STATUS_SUCCESS) << width << " " << orientation;
    }
    for (const int orientation : {-1, 3}) EXPECT_EQ(set(width, orientation), SKGEMM_STATUS_INVALID_VALUE);
    EXPECT_TRUE(says("orientation is 3"));
  }
  for (const int32_t width : {-8, 1, 4, 12, 257, 264}) {
    EXPECT_EQ(set(width, 0), SKGEMM_STATUS_INVALID_VALUE) << width;
    EXPECT_TRUE(says("the tile's width is " + std::to_string(width)));
  }
}

TEST_F(NativeModes, ClustersAreOneTwoOrFourEitherWayAndAtMostEight) {
  const auto extent = [](int32_t e) { return e == 1 || e == 2 || e == 4; };
  for (int32_t m = -1; m <= 8; ++m) {
    for (int32_t n = -1; n <= 8; ++n) {
      const bool right = (m == 0 && n == 0) || (extent(m) && extent(n) && m * n <= 8);
      EXPECT_EQ(skgemm_set_cluster(handle_, m, n), right ? SKGEMM_STATUS_SUCCESS : SKGEMM_STATUS_INVALID_VALUE)
          << m << " x " << n;
      if (!right) {
        EXPECT_TRUE(says("the cluster is " + std::to_string(m) + " x " + std::to_string(n) + " CTAs"));
      }
    }
  }
}

TEST_F(NativeModes, WhatIsForcedIsKeptAndAWrongOneChangesNothing) {
  EXPECT_EQ(limits(), skgemm::Limits{});
  EXPECT_EQ(skgemm_set_schedule(handle_, SKGEMM_SCHEDULE_STREAM_K, 5), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_set_tile(handle_, 48, SKGEMM_ORIENTATION_SWAPPED), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_set_cluster(handle_, 2, 1), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_set_schedule(handle_, SKGEMM_SCHEDULE_TWO_TILE, 5), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_set_tile(handle_, 7, SKGEMM_ORIENTATION_STRAIGHT), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_set_cluster(handle_, 1, 3), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(limits(), (skgemm::Limits{.forced = skgemm::ScheduleKind::stream_k,
                                      .forced_parameter = 5,
                                      .forced_width = 48,
                                      .forced_orientation = skgemm::Orientation::swapped,
                                      .forced_cluster = {2, 1}}));
  EXPECT_EQ(skgemm_set_cluster(handle_, 0, 0), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(limits().forced_cluster, (skgemm::ClusterShape{0, 0}));
}

}  // namespace
