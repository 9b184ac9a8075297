// `skgemm bench --sweep`: which forced plans of ours are measured for a case, and what is written about them. Pure.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "kernels/catalogue.h"
#include "skgemm.h"
#include "src/cli/bench_report.h"

namespace skgemm::cli {

// What is asked of the library; the plan that it answers with may be another one.
struct Forced {
  int32_t width = 0;  // of the tile; 0: the model chooses
  bool swapped = false;
  ClusterShape cluster = {0, 0};  // {0, 0}: the model chooses
  ScheduleKind schedule{};        // ScheduleKind{}: the model chooses
  int64_t parameter = 0;
};

// Widths of the kernel's tiles that cut `extent` evenly: the narrowest for each number of tiles, each width once, six
// at most, spread from the widest down to the narrowest worth trying.
std::vector<int32_t> balanced_widths(int64_t extent, const KernelRow& kernel);
// All tiles to be tried on an m x n product: those widths either way by single CTAs, and every second one by clusters;
// none where the kernel has no choice.
std::vector<Forced> tiles_for(int64_t m, int64_t n, const KernelRow& kernel);
// Schedules worth forcing on the tiles of `base`, a data-parallel plan with the tile of `tile`.
std::vector<Forced> schedules_for(const Forced& tile, const skgemm_plan_t& base, int64_t workers);
// Whether a plan has the tile and the cluster that were asked for.
bool has_tile(const skgemm_plan_t& plan, const Forced& asked);
TileShape tile_of(const skgemm_plan_t& plan);
// Whether the plan has the schedule and the grid that were asked for.
bool has_schedule(const skgemm_plan_t& plan, const Forced& asked);
// Whether both plans make a launch do the same: hybrids without a partial wave are data-parallel, and so on.
bool same_work(const skgemm_plan_t& x, const skgemm_plan_t& y);

struct SweptPlan {
  Forced forced;
  skgemm_plan_t plan;
  bool chosen = false;  // by the model
  Timing timing;        // graph_us alone
};
struct Sweep {
  BenchCase c;
  std::vector<SweptPlan> plans;  // the model's choice first

  const SweptPlan& chosen() const { return plans.front(); }
  // The fastest with right results; nullptr when there is none.
  const SweptPlan* best() const;
  // The chosen plan's time over the best one's; NaN when either is not measured.
  double regret() const;
};

// "f16_wgmma 256x192 cluster 2x1 swapped stream-k ctas 66"
std::string to_string(const skgemm_plan_t& plan);

std::string sweep_csv_head(const Header& header);
std::string sweep_csv(const Sweep& sweep);
// Best, chosen and regret for each case; geometric mean and worst of all.
std::string sweep_summary(const Header& header, const std::vector<Sweep>& sweeps);
// "h NN 130x128x128 by f16_wgmma ...: C(129, 3) is 1, but ..." for every plan that failed or is wrong.
std::vector<std::string> failures(const std::vector<Sweep>& sweeps);

}  // namespace skgemm::cli
