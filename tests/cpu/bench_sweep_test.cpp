// Which plans a sweep measures, and what it says about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heuristics/select.h"
#include "src/cli/bench_sweep.h"

namespace skgemm::cli {
namespace {

TEST(Sweep, widths_are_the_narrowest_for_their_number_of_tiles) {
  const KernelRow &half = *find_kernel(DataType::f16, 90), &f64 = *find_kernel(DataType::f64, 90);
  EXPECT_EQ(balanced_widths(128, half), (std::vector<int32_t>{128, 64, 48, 32}));
  EXPECT_EQ(balanced_widths(8, half), (std::vector<int32_t>{32}));
  EXPECT_EQ(balanced_widths(257, half), (std::vector<int32_t>{144, 96, 80, 64, 48, 32}));
  EXPECT_EQ(balanced_widths(257, f64), (std::vector<int32_t>{96, 64, 48, 32, 16}));
  for (const KernelRow* kernel : {&half, &f64}) {
    for (int64_t extent = 1; extent <= 8192; extent += extent < 600 ? 1 : 97) {
      const std::vector<int32_t> widths = balanced_widths(extent, *kernel);
      ASSERT_GE(widths.size(), 1u);
      ASSERT_LE(widths.size(), 6u);
      EXPECT_EQ(ceil_div(extent, widths.front()), ceil_div(extent, kernel->tile_n)) << extent;
      EXPECT_EQ(widths.back(), kernel->narrowest) << extent;
      for (size_t i = 0; i < widths.size(); ++i) {
        EXPECT_TRUE(kernel->whole_width(widths[i]) == widths[i] && widths[i] <= kernel->tile_n)
            << extent << ": " << widths[i];
        EXPECT_TRUE(i == 0 || widths[i] < widths[i - 1]) << extent;
        const int64_t narrower = widths[i] - kernel->step_below(widths[i]);
        EXPECT_TRUE(narrower < kernel->narrowest || ceil_div(extent, narrower) > ceil_div(extent, widths[i])) << extent;
      }
    }
  }
}

skgemm_plan_t plan_of(ScheduleKind schedule, int64_t tiles, int64_t steps, int64_t ctas, int64_t sk_tiles) {
  skgemm_plan_t plan{};
  std::strcpy(plan.kernel, "f16_wgmma");
  plan.tile_m = 128;
  plan.tile_n = 192;
  plan.cluster_m = plan.cluster_n = 1;
  plan.schedule = static_cast<skgemm_schedule_t>(schedule);
  plan.tiles = tiles;
  plan.steps_per_tile = steps;
  plan.ctas = ctas;
  plan.split = 1;
  plan.sk_tiles = sk_tiles;
  return plan;
}

std::vector<int64_t> stream_k_grids(int64_t tiles, int64_t steps, const ClusterShape& cluster, int64_t workers) {
  std::vector<int64_t> grids;
  skgemm_plan_t base = plan_of(ScheduleKind::data_parallel, tiles, steps, tiles, 0);
  base.cluster_m = cluster.m, base.cluster_n = cluster.n;
  for (const Forced& f : schedules_for({.width = 192, .swapped = true, .cluster = cluster}, base, workers)) {
    EXPECT_TRUE(f.width == 192 && f.swapped && f.cluster == cluster);
    if (f.schedule == ScheduleKind::stream_k) grids.push_back(f.parameter);
  }
  return grids;
}

TEST(Sweep, stream_k_grids_are_multiples_of_the_tiles_and_the_machine) {
  const auto single = [](int64_t tiles, int64_t steps) { return stream_k_grids(tiles, steps, {1, 1}, 132); };
  EXPECT_EQ(single(16, 100), (std::vector<int64_t>{32, 80, 132}));
  EXPECT_EQ(single(20, 3), (std::vector<int64_t>{40}));
  EXPECT_EQ(single(66, 100), (std::vector<int64_t>{132}));
  EXPECT_EQ(single(500, 1), std::vector<int64_t>{});
  EXPECT_EQ(single(1, 1), std::vector<int64_t>{});
  EXPECT_EQ(stream_k_grids(20, 100, {2, 1}, 66), (std::vector<int64_t>{60, 66}));
  EXPECT_EQ(stream_k_grids(20, 100, {2, 2}, 30), (std::vector<int64_t>{30}));
  const skgemm_plan_t base = plan_of(ScheduleKind::data_parallel, 500, 100, 500, 0);  // of a kernel with one tile
  EXPECT_TRUE(std::ranges::any_of(schedules_for({}, base, 132), [](const Forced& f) { return f.parameter == 132; }));
  const skgemm_plan_t few = plan_of(ScheduleKind::data_parallel, 20, 100, 20, 0);
  EXPECT_GT(schedules_for({}, few, 132).size(), schedules_for({.width = 192, .cluster = {1, 1}}, few, 132).size());
}

TEST(Sweep, clusters_are_workers) {
  const DeviceModel& h200 = *find_device("h200");
  EXPECT_EQ(clusters_at_once(h200, h200.sms, 1), 132);
  EXPECT_EQ(clusters_at_once(h200, h200.sms, 2), 66);
  EXPECT_EQ(clusters_at_once(h200, h200.sms, 2), 66);
  EXPECT_EQ(clusters_at_once(h200, h200.sms, 4), 30);
  EXPECT_EQ(clusters_at_once(h200, h200.sms, 8), 15);
  EXPECT_EQ(clusters_at_once(h200, 20, 8), 2);
}

// With what the selector answers, as the sweep on the device does it.
size_t plans_of_sweep(int64_t m, int64_t n, int64_t k) {
  const DeviceModel& device = *find_device("h200");
  const Shape shape{m, n, k, 1, DataType::f16, DataType::f16, false, true, 16, 16, 16, true};
  std::vector<skgemm_plan_t> plans;
  const auto plan = [&](const Forced& f) {
    const Plan p = select(shape, device,
                          {.forced = f.schedule,
                           .forced_parameter = f.parameter,
                           .forced_width = f.width,
                           .forced_orientation = f.swapped ? Orientation::swapped : Orientation::straight,
                           .forced_cluster = f.cluster});
    const Schedule& s = p.schedule;
    skgemm_plan_t out = plan_of(s.kind, s.tiles(), s.space.steps, s.ctas, s.sk_tiles);
    out.tile_m = p.tile.m, out.tile_n = p.tile.n, out.swapped = p.tile.swapped ? 1 : 0;
    out.cluster_m = p.tile.cluster.m, out.cluster_n = p.tile.cluster.n;
    return out;
  };
  for (const Forced& tile : tiles_for(m, n, *find_kernel(DataType::f16, 90))) {
    Forced whole = tile;
    whole.schedule = ScheduleKind::data_parallel;
    const skgemm_plan_t base = plan(whole);
    EXPECT_TRUE(has_tile(base, tile)) << to_string(base);
    if (tile_of(base).has_idle_ctas(m, n)) continue;
    for (const Forced& forced : schedules_for(tile, base, clusters_at_once(device, device.sms, tile.cluster.ctas()))) {
      const skgemm_plan_t answer = plan(forced);
      if (!has_tile(answer, tile) || !has_schedule(answer, forced)) continue;
      if (std::ranges::none_of(plans, [&](const skgemm_plan_t& p) { return same_work(p, answer); }))
        plans.push_back(answer);
    }
  }
  for (const ClusterShape& cluster : kClusterShapes) {
    const bool possible = m > 256 * (cluster.m - 1) && n > 256 * (cluster.n - 1);
    EXPECT_TRUE(!possible || std::ranges::any_of(plans, [&](const skgemm_plan_t& p) {
      return p.cluster_m == cluster.m && p.cluster_n == cluster.n;
    }));
  }
  return plans.size();
}

TEST(Sweep, a_case_has_a_bounded_number_of_plans_with_every_cluster) {
  size_t all = 0, cases = 0;
  for (const int64_t m : {128, 260, 1000, 2100, 8192}) {
    for (const int64_t n : {128, 300, 1500, 4096}) {
      for (const int64_t k : {128, 1024, 8192}) {
        SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
        const size_t plans = plans_of_sweep(m, n, k);
        EXPECT_LE(plans, 170u);
        EXPECT_GE(plans, 4u);
        all += plans, ++cases;
      }
    }
  }
  EXPECT_LE(all, 130 * cases) << all / cases;
}

TEST(Sweep, clusters_without_work_are_not_measured) {
  skgemm_plan_t plan = plan_of(ScheduleKind::data_parallel, 1, 1, 1, 0);
  plan.tile_m = 256, plan.cluster_m = 2;
  EXPECT_TRUE(tile_of(plan).has_idle_ctas(128, 192));
  EXPECT_FALSE(tile_of(plan).has_idle_ctas(129, 1));
  plan.tile_n = 384, plan.cluster_n = 2;
  EXPECT_TRUE(tile_of(plan).has_idle_ctas(129, 192));
  EXPECT_FALSE(tile_of(plan).has_idle_ctas(129, 193));
}

TEST(Sweep, answers_are_held_against_what_was_asked) {
  const Forced asked{
      .width = 192, .swapped = false, .cluster = {1, 1}, .schedule = ScheduleKind::stream_k, .parameter = 132};
  skgemm_plan_t plan = plan_of(ScheduleKind::stream_k, 20, 100, 132, 20);
  EXPECT_TRUE(has_tile(plan, asked) && has_schedule(plan, asked));
  plan.ctas = 120;
  EXPECT_FALSE(has_schedule(plan, asked));
  plan = plan_of(ScheduleKind::data_parallel, 20, 100, 132, 0);
  EXPECT_FALSE(has_schedule(plan, asked));
  plan.swapped = 1;
  EXPECT_FALSE(has_tile(plan, asked));
  std::swap(plan.tile_m, plan.tile_n);
  EXPECT_TRUE(has_tile(plan, {.width = 192, .swapped = true, .cluster = {1, 1}}));
  EXPECT_FALSE(has_tile(plan, {.width = 128, .swapped = true, .cluster = {1, 1}}));
  EXPECT_FALSE(has_tile(plan, {.width = 96, .swapped = true, .cluster = {2, 1}}));
  plan.cluster_m = 2;
  EXPECT_TRUE(has_tile(plan, {.width = 96, .swapped = true, .cluster = {2, 1}}));
  EXPECT_FALSE(has_tile(plan, {.width = 192, .swapped = true, .cluster = {1, 1}}));
  EXPECT_FALSE(has_tile({}, {.width = 96, .swapped = false, .cluster = {1, 1}}));  // no plan at all
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
  other = whole;
  other.cluster_n = 2;
  EXPECT_FALSE(same_work(whole, other));
  EXPECT_EQ(to_string(other), "f16_wgmma 128x192 cluster 1x2 data-parallel ctas 132");
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
      head.starts_with("# part: x\nm,n,k,op_a,op_b,type,align,kernel,tile_m,tile_n,swapped,cluster_m,cluster_n,"
                       "schedule,ctas,split,sk_tiles,steps,workspace_bytes,predicted_us,us,chosen,"));
  EXPECT_EQ(
      rows.substr(0, rows.find('\n')),
      "516,1024,2048,N,T,h,8,f16_wgmma,128,192,0,1,1,stream-k,132,1,20,100,4096,11.000,12.000,1,20,16,8,8,h,1,0,0");
  EXPECT_TRUE(rows.ends_with(",11.000,,0,20,16,8,8,h,1,0,1\n")) << rows;
  const std::string names = head.substr(head.find('\n') + 1);
  EXPECT_EQ(std::ranges::count(names, ',') * 2, std::ranges::count(rows, ','));
}

}  // namespace
}  // namespace skgemm::cli
