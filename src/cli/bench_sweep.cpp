#include "src/cli/bench_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>
#include <tuple>

namespace skgemm::cli {
namespace {

constexpr const char* kColumns =
    "m,n,k,op_a,op_b,type,align,kernel,tile_m,tile_n,swapped,cluster_m,cluster_n,schedule,ctas,split,sk_tiles,steps,"
    "workspace_bytes,predicted_us,us,chosen,tiles,a_align,b_align,c_align,out,batch,beta,wrong";

// The largest power of two, 16 at most, that divides the bytes between columns.
int pitch_align(int64_t ld, DataType type) {
  return 1 << std::countr_zero(static_cast<uint64_t>(ld * size_of(type)) | 16);
}

const char* word_of_schedule(const skgemm_plan_t& plan) { return name_of(static_cast<ScheduleKind>(plan.schedule)); }

}  // namespace

std::vector<int32_t> balanced_widths(int64_t extent, const KernelRow& kernel) {
  const int64_t narrowest = kernel.narrowest;
  constexpr size_t kMost = 6;
  std::vector<int32_t> widths;
  for (int64_t tiles = ceil_div(extent, kernel.tile_n);; ++tiles) {
    const int64_t width = kernel.whole_width(ceil_div(extent, tiles));
    if (width < narrowest && !widths.empty()) break;
    const auto kept = static_cast<int32_t>(std::max(width, narrowest));
    if (widths.empty() || kept < widths.back()) widths.push_back(kept);
    if (width <= narrowest) break;
  }
  if (widths.size() <= kMost) return widths;
  std::vector<int32_t> spread;
  for (size_t i = 0; i < kMost; ++i) spread.push_back(widths[i * (widths.size() - 1) / (kMost - 1)]);
  return spread;
}

std::vector<Forced> tiles_for(int64_t m, int64_t n, const KernelRow& kernel) {
  std::vector<Forced> tiles;
  if (kernel.width_step == 0) return tiles;
  for (const ClusterShape& cluster : kClusterShapes) {
    if (cluster.ctas() > kernel.most_clustered) continue;
    const size_t every = cluster.ctas() == 1 ? 1 : cluster.ctas() < 8 ? 2 : 3;
    for (const bool swapped : {false, true}) {
      const std::vector<int32_t> widths = balanced_widths(swapped ? m : n, kernel);
      for (size_t i = 0; i < widths.size(); i += every)
        tiles.push_back({.width = widths[i], .swapped = swapped, .cluster = cluster});
    }
  }
  return tiles;
}

// The parts that tiles are cut into: the more tiles are tried, the fewer.
std::vector<Forced> schedules_for(const Forced& tile, const skgemm_plan_t& base, int64_t workers) {
  std::vector<Forced> list;
  const auto add = [&](ScheduleKind schedule, int64_t parameter) {
    list.push_back(tile);
    list.back().schedule = schedule, list.back().parameter = parameter;
  };
  add(ScheduleKind::data_parallel, 0);
  const int64_t steps = base.tiles * base.steps_per_tile;
  const bool one_tile_only = tile.width == 0, clustered = base.cluster_m * base.cluster_n > 1;
  using Parts = std::vector<int64_t>;
  for (const int64_t parts : one_tile_only ? Parts{2, 3, 4, 6, 8} : clustered ? Parts{3} : Parts{2, 5}) {
    const int64_t grid = base.tiles * parts;
    if (grid < workers && grid <= steps) add(ScheduleKind::stream_k, grid);
  }
  if (workers <= steps && (base.tiles < workers || one_tile_only)) add(ScheduleKind::stream_k, workers);
  add(ScheduleKind::one_tile, 0);
  add(ScheduleKind::two_tile, 0);
  return list;
}

bool has_tile(const skgemm_plan_t& plan, const Forced& asked) {
  const TileShape tile = tile_of(plan);
  return tile.swapped == asked.swapped && tile.cluster == asked.cluster && tile.width() == asked.width;
}

TileShape tile_of(const skgemm_plan_t& plan) {
  return {plan.tile_m, plan.tile_n, plan.swapped != 0, {plan.cluster_m, plan.cluster_n}};
}

bool has_schedule(const skgemm_plan_t& plan, const Forced& asked) {
  if (static_cast<ScheduleKind>(plan.schedule) != asked.schedule) return false;
  return asked.schedule != ScheduleKind::stream_k || plan.ctas == asked.parameter;
}

// The kernel tells fixed split from the rest only (kernels/schedule.h); a split of 1 is no split, and sharing all tiles
// between as many CTAs is not sharing.
bool same_work(const skgemm_plan_t& x, const skgemm_plan_t& y) {
  const auto key = [](const skgemm_plan_t& p) {
    const int64_t shared = p.ctas == p.tiles ? 0 : p.sk_tiles;
    return std::tuple(std::string_view(p.kernel), p.tile_m, p.tile_n, p.swapped, p.cluster_m, p.cluster_n, p.ctas,
                      p.split, shared);
  };
  return key(x) == key(y);
}

const SweptPlan* Sweep::best() const {
  const SweptPlan* fastest = nullptr;
  for (const SweptPlan& p : plans) {
    if (!p.timing.measured()) continue;
    if (fastest == nullptr || p.timing.graph_us < fastest->timing.graph_us) fastest = &p;
  }
  return fastest;
}

double Sweep::regret() const {
  const SweptPlan* fastest = best();
  return fastest == nullptr || !chosen().timing.measured() ? NAN : chosen().timing.graph_us / fastest->timing.graph_us;
}

std::string to_string(const skgemm_plan_t& plan) {
  const ClusterShape cluster{plan.cluster_m, plan.cluster_n};
  const std::string clustered = cluster.ctas() > 1 ? fmt::format(" cluster {}", word_of(cluster)) : "";
  std::string text = fmt::format("{} {}x{}{}{} {} ctas {}", plan.kernel, plan.tile_m, plan.tile_n, clustered,
                                 plan.swapped != 0 ? " swapped" : "", word_of_schedule(plan), plan.ctas);
  if (plan.split > 1) text += fmt::format(" split {}", plan.split);
  return text;
}

std::string sweep_csv_head(const Header& header) { return csv_head(header) + kColumns + "\n"; }

std::string sweep_csv(const Sweep& sweep) {
  const BenchCase& c = sweep.c;
  const std::string ops = word_of(c.ops);
  const int a = pitch_align(c.lda, c.type), b = pitch_align(c.ldb, c.type), to = pitch_align(c.ldc, c.out);
  std::string out;
  for (const SweptPlan& s : sweep.plans) {
    const skgemm_plan_t& p = s.plan;
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},", c.m, c.n, c.k, ops[0], ops[1], word_of(c.type),
                   std::min(a, b));
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},", p.kernel, p.tile_m, p.tile_n, p.swapped, p.cluster_m,
                   p.cluster_n);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{:.3f},{},{},", word_of_schedule(p), p.ctas, p.split,
                   p.sk_tiles, p.steps_per_tile, p.workspace_bytes, p.predicted_us, time_cell(s.timing.graph_us),
                   s.chosen ? 1 : 0);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{:.17g},{}\n", p.tiles, a, b, to, word_of(c.out),
                   c.batch, c.beta, outcome(s.timing).empty() ? 0 : 1);
  }
  return out;
}

std::string sweep_summary(const Header& header, const std::vector<Sweep>& sweeps) {
  std::string out = summary_head(header);
  std::vector<double> regrets;
  const Sweep* worst = nullptr;
  size_t plans = 0;
  for (const Sweep& s : sweeps) {
    plans += s.plans.size();
    const SweptPlan* best = s.best();
    const double regret = s.regret();
    if (std::isnan(regret)) {
      out += fmt::format("{}: not measured\n", to_string(s.c));
      continue;
    }
    fmt::format_to(std::back_inserter(out),
                   "{}: regret {:.3f}; chosen {:.2f} us, {:.2f} predicted: {}; best {:.2f} us, "
                   "{:.2f} predicted: {}\n",
                   to_string(s.c), regret, s.chosen().timing.graph_us, s.chosen().plan.predicted_us,
                   to_string(s.chosen().plan), best->timing.graph_us, best->plan.predicted_us, to_string(best->plan));
    regrets.push_back(regret);
    if (worst == nullptr || regret > worst->regret()) worst = &s;
  }
  const Distribution d = distribution(std::move(regrets));
  if (worst != nullptr) {
    out += fmt::format(
        "\nregret of {} cases, {} plans: geometric mean {:.4f}, median {:.4f}, p95 {:.3f}, worst {:.3f} "
        "({})\n",
        d.count, plans, d.geomean, d.median, d.p95, d.max, to_string(worst->c));
  }
  const std::vector<std::string> bad = failures(sweeps);
  out += fmt::format("{} plans wrong or failed\n", bad.size()) + listed(bad);
  return out;
}

std::vector<std::string> failures(const std::vector<Sweep>& sweeps) {
  std::vector<std::string> list;
  for (const Sweep& s : sweeps) {
    for (const SweptPlan& p : s.plans) {
      if (const std::string words = outcome(p.timing); !words.empty())
        list.push_back(fmt::format("{} by {}: {}", to_string(s.c), to_string(p.plan), words));
    }
  }
  return list;
}

}  // namespace skgemm::cli
