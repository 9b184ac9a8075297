// Which plans a sweep measures, and what it says about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/cli/bench_sweep.h"

namespace skgemm::cli {
namespace {

TEST(Sweep, widths_are_the_narrowest_for_their_number_of_tiles) {
  EXPECT_EQ(balanced_widths(128, 16), (std::vector<int32_t>{128, 64, 48, 32}));
  EXPECT_EQ(balanced_widths(8, 16), (std::vector<int32_t>{32}));
  EXPECT_EQ(balanced_widths(257, 16), (std::vector<int32_t>{144, 96, 80, 64, 48, 32}));
  EXPECT_EQ(balanced_widths(257, 32), (std::vector<int32_t>{160, 96, 64, 32}));
  for (const int64_t step : {16, 32}) {
    for (int64_t extent = 1; extent <= 8192; extent += extent < 600 ? 1 : 97) {
      const std::vector<int32_t> widths = balanced_widths(extent, step);
      ASSERT_GE(widths.size(), 1u);
      ASSERT_LE(widths.size(), 10u);
      EXPECT_EQ(ceil_div(extent, widths.front()), ceil_div(extent, 256)) << extent;
      EXPECT_EQ(widths.back(), 32) << extent;
      for (size_t i = 0; i < widths.size(); ++i) {
        EXPECT_TRUE(widths[i] % step == 0 && widths[i] >= 32 && widths[i] <= 256) << extent << ": " << widths[i];
        EXPECT_TRUE(i == 0 || widths[i] < widths[i - 1]) << extent;
        const int64_t narrower = widths[i] - step;
        EXPECT_TRUE(narrower < 32 || ceil_div(extent, narrower) > ceil_div(extent, widths[i])) << extent;
      }
    }
  }
}

skgemm_plan_t plan_of(ScheduleKind schedule, int64_t tiles, int64_t steps, int64_t ctas, int64_t sk_tiles) {
  skgemm_plan_t plan{};
  std::strcpy(plan.kernel, "f16_wgmma");
  plan.tile_m = 128;
  plan.tile_n = 192;
  plan.schedule = static_cast<skgemm_schedule_t>(schedule);
  plan.tiles = tiles;
  plan.steps_per_tile = steps;
  plan.ctas = ctas;
  plan.split = 1;
  plan.sk_tiles = sk_tiles;
  return plan;
}

std::vector<int64_t> stream_k_grids(int64_t tiles, int64_t steps) {
  std::vector<int64_t> grids;
  const skgemm_plan_t base = plan_of(ScheduleKind::data_parallel, tiles, steps, tiles, 0);
  for (const Forced& f : schedules_for({.width = 192, .swapped = true}, base, 132)) {
    EXPECT_TRUE(f.width == 192 && f.swapped);
    if (f.schedule == ScheduleKind::stream_k) grids.push_back(f.parameter);
  }
  return grids;
}

TEST(Sweep, stream_k_grids_are_multiples_of_the_tiles_and_the_machine) {
  EXPECT_EQ(stream_k_grids(20, 100), (std::vector<int64_t>{40, 60, 80, 120, 132}));
  EXPECT_EQ(stream_k_grids(20, 3), (std::vector<int64_t>{40, 60}));
  EXPECT_EQ(stream_k_grids(66, 100), (std::vector<int64_t>{132}));
  EXPECT_EQ(stream_k_grids(500, 1), (std::vector<int64_t>{132}));
  EXPECT_EQ(stream_k_grids(1, 1), std::vector<int64_t>{});
}

TEST(Sweep, answers_are_held_against_what_was_asked) {
  const Forced asked{.width = 192, .swapped = false, .schedule = ScheduleKind::stream_k, .parameter = 132};
  skgemm_plan_t plan = plan_of(ScheduleKind::stream_k, 20, 100, 132, 20);
  EXPECT_TRUE(has_tile(plan, asked) && has_schedule(plan, asked));
  plan.ctas = 120;
  EXPECT_FALSE(has_schedule(plan, asked));
  plan = plan_of(ScheduleKind::data_parallel, 20, 100, 132, 0);
  EXPECT_FALSE(has_schedule(plan, asked));
  plan.swapped = 1;
  EXPECT_FALSE(has_tile(plan, asked));
  std::swap(plan.tile_m, plan.tile_n);
  EXPECT_TRUE(has_tile(plan, {.width = 192, .swapped = true}));
  EXPECT_FALSE(has_tile(plan, {.width = 128, .swapped = true}));
}

TEST(Sweep, the_same_work_under_two_names_is_measured_once) {
  const skgemm_plan_t whole = plan_of(ScheduleKind::data_parallel, 264, 100, 132, 0);
  EXPECT_TRUE(same_work(whole, plan_of(ScheduleKind::two_tile, 264, 100, 132, 0)));
  EXPECT_TRUE(
      same_work(plan_of(ScheduleKind::stream_k, 20, 100, 132, 20), plan_of(ScheduleKind::one_tile, 20, 100, 132, 20)));
  EXPECT_TRUE(
      same_work(plan_of(ScheduleKind::data_parallel, 20, 1, 20, 0), plan_of(ScheduleKind::one_tile, 20, 1, 20, 20)));
  EXPECT_FALSE(same_work(whole, plan_of(ScheduleKind::stream_k, 264, 100, 132, 264)));
  skgemm_plan_t other = whole;
  other.swapped = 1;
  EXPECT_FALSE(same_work(whole, other));
}

SweptPlan swept(double us, bool chosen, const std::string& wrong) {
  SweptPlan s{.forced = {}, .plan = plan_of(ScheduleKind::stream_k, 20, 100, 132, 20), .chosen = chosen, .timing = {}};
  s.plan.predicted_us = 11;
  s.plan.workspace_bytes = 4096;
  s.timing.graph_us = us;
  s.timing.wrong = wrong;
  return s;
}

TEST(Sweep, regret_counts_right_results_only) {
  BenchCase c = packed_case(DataType::f16, {false, true}, 516, 1024, 2048);
  c.lda = 520;   // 16 bytes
  c.ldb = 1028;  // 8 bytes
  std::vector<Sweep> sweeps = {{c, {swept(12, true, ""), swept(10, false, ""), swept(5, false, "C(0; 0)")}},
                               {c, {swept(10, true, ""), swept(20, false, "")}}};
  EXPECT_DOUBLE_EQ(sweeps[0].regret(), 1.2);
  EXPECT_DOUBLE_EQ(sweeps[1].regret(), 1);
  const std::string words = sweep_summary({}, sweeps);
  EXPECT_NE(words.find("regret of 2 cases, 5 plans: geometric mean 1.0954, median 1.1000, p95 1.190, worst 1.200"),
            std::string::npos)
      << words;
  ASSERT_EQ(failures(sweeps).size(), 1u);
  EXPECT_NE(failures(sweeps)[0].find("by f16_wgmma 128x192 stream-k ctas 132: C(0; 0)"), std::string::npos);
  sweeps[0].plans[0].timing.wrong = "C(1; 1)";
  EXPECT_TRUE(std::isnan(sweeps[0].regret()));
  EXPECT_NE(sweep_summary({}, sweeps).find("regret of 1 cases"), std::string::npos);
}

TEST(Sweep, csv_has_a_value_for_each_column) {
  BenchCase c = packed_case(DataType::f16, {false, true}, 516, 1024, 2048);
  c.lda = 520;
  c.ldb = 1028;
  const Sweep sweep{c, {swept(12, true, ""), swept(NAN, false, "C(0; 0)")}};
  const std::string head = sweep_csv_head({{"part", "x"}}), rows = sweep_csv(sweep);
  EXPECT_TRUE(
      head.starts_with("# part: x\nm,n,k,op_a,op_b,type,align,kernel,tile_m,tile_n,swapped,schedule,ctas,split,"
                       "sk_tiles,steps,workspace_bytes,predicted_us,us,chosen,"));
  EXPECT_EQ(rows.substr(0, rows.find('\n')),
            "516,1024,2048,N,T,h,8,f16_wgmma,128,192,0,stream-k,132,1,20,100,4096,11.000,12.000,1,20,16,8,8,h,1,0,0");
  EXPECT_TRUE(rows.ends_with(",11.000,,0,20,16,8,8,h,1,0,1\n")) << rows;
  const std::string names = head.substr(head.find('\n') + 1);
  EXPECT_EQ(std::ranges::count(names, ',') * 2, std::ranges::count(rows, ','));
}

}  // namespace
}  // namespace skgemm::cli
