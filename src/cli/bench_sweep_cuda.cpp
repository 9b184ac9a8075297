#include "src/cli/bench_sweep_cuda.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "heuristics/select.h"
#include "src/cli/watchdog.h"

namespace skgemm::cli {
namespace {

constexpr double kReplayUs = 400;  // of one replay; an event's time has half a microsecond's resolution
constexpr int64_t kMostCalls = 64;
constexpr int kReplays = 3;
constexpr int kWarmCalls = 3;

}  // namespace

Sweeper::Sweeper(Stage& stage, const DeviceModel& device, unsigned watchdog_s)
    : stage_(stage), ours_(stage.stream()), device_(device), watchdog_s_(watchdog_s) {}

Sweep Sweeper::sweep(const BenchCase& c, bool check) {
  Sweep sweep{.c = c, .plans = {}};
  sweep.plans.push_back({.forced = {}, .plan = plan({}, c), .chosen = true, .timing = {}});
  SweptPlan& chosen = sweep.plans.front();
  const double us = stage_.warm_up(ours_, kWarmCalls, chosen.timing.failed);
  if (!chosen.timing.failed.empty()) return sweep;
  calls_ = std::clamp<int64_t>(std::llround(kReplayUs / us), 2, kMostCalls);
  check_ = check;
  if (check) stage_.begin_references(calls_);

  const KernelRow* const kernel = find_kernel(std::string_view(chosen.plan.kernel));
  const std::vector<Forced> tiles = kernel == nullptr ? std::vector<Forced>{} : tiles_for(c.m, c.n, *kernel);
  for (const Forced& tile : tiles) add_tile(tile, *kernel, sweep);
  if (tiles.empty() && kernel != nullptr) add_tile({}, *kernel, sweep);  // a kernel of one tile: its schedules
  for (SweptPlan& swept : sweep.plans) measure(swept, c);
  return sweep;
}

skgemm_plan_t Sweeper::plan(const Forced& forced, const BenchCase& c) {
  const skgemm_orientation_t side = forced.width == 0 ? SKGEMM_ORIENTATION_AUTO
                                    : forced.swapped  ? SKGEMM_ORIENTATION_SWAPPED
                                                      : SKGEMM_ORIENTATION_STRAIGHT;
  ours_.force_tile(forced.width, side);
  ours_.force_cluster(forced.cluster);
  ours_.force(forced.schedule, forced.parameter);
  return ours_.plan(c, stage_.operands(0));
}

void Sweeper::add_tile(const Forced& tile, const KernelRow& kernel, Sweep& sweep) {
  Forced whole = tile;
  whole.schedule = ScheduleKind::data_parallel;
  const skgemm_plan_t base = plan(whole, sweep.c);
  if (base.tiles == 0 || (tile.width != 0 && !has_tile(base, tile))) return;
  const TileShape shape = tile_of(base);
  if (shape.has_idle_ctas(sweep.c.m, sweep.c.n)) return;
  const int64_t workers = room_for(kernel, device_, {}, shape.cluster).ctas();
  for (const Forced& forced : schedules_for(tile, base, workers)) {
    const skgemm_plan_t answer = plan(forced, sweep.c);
    if ((tile.width != 0 && !has_tile(answer, tile)) || !has_schedule(answer, forced)) continue;
    const auto known = [&](const SweptPlan& p) { return same_work(p.plan, answer); };
    if (std::ranges::any_of(sweep.plans, known)) continue;
    sweep.plans.push_back({.forced = forced, .plan = answer, .chosen = false, .timing = {}});
  }
}

void Sweeper::measure(SweptPlan& swept, const BenchCase& c) {
  Timing& timing = swept.timing;
  const Watchdog watchdog(fmt::format("{} by {}", to_string(c), to_string(swept.plan)), watchdog_s_);
  plan(swept.forced, c);
  const GraphExec graph = stage_.capture(ours_, calls_, timing.failed);
  if (!timing.failed.empty()) return;
  std::vector<double> times;
  for (int i = 0; i < kReplays; ++i) {
    times.push_back(stage_.replay(graph, calls_));
    if (i > 0 || !check_) continue;
    timing.wrong = stage_.check(ours_, timing.failed);
    if (!timing.failed.empty()) return;
  }
  timing.graph_us = distribution(std::move(times)).median;
}

}  // namespace skgemm::cli
