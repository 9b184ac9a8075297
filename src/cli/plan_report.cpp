#include <fmt/format.h>

#include "src/cli/plan.h"
#include "src/cli/words.h"

namespace skgemm::cli {
namespace {

std::string counted(int64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}
std::string per_cent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

Caption caption_of(const PlanOptions& o, const Planned& planned, const Timeline& t) {
  const Plan& plan = planned.plan;
  const Schedule& s = plan.schedule;
  const std::string batch = o.batch > 1 ? fmt::format(", batch {}", o.batch) : "";
  Caption c;
  c.title = planned.in_steps
                ? fmt::format("{} x {} x {}{}: {} on {}", o.m, o.n, o.k, batch, name_of(s.kind), planned.device)
                : fmt::format("{} x {} x {}, {} {}{}: {} on {}", o.m, o.n, o.k, name_of(parse_type(o.type)),
                              word_of(parse_ops(o.op)), batch, name_of(s.kind), planned.device);
  const ClusterShape& cluster = plan.tile.cluster;
  c.worker_word = cluster.ctas() > 1 ? "cluster" : "CTA";
  std::string grid = fmt::format("{} of {}x{}{}, {} of {}, {}", counted(s.tiles(), "tile"), plan.tile.m, plan.tile.n,
                                 plan.tile.swapped ? " (swapped)" : "", counted(s.space.steps, "k-step"),
                                 planned.tile_k, counted(s.ctas, c.worker_word));
  if (cluster.ctas() > 1) grid += fmt::format(" of {} CTAs", word_of(cluster));
  if (s.split > 1) grid += fmt::format(", split {}", s.split);
  if (s.sk_tiles > 0) grid += fmt::format(", {} shared by k-steps", counted(s.sk_tiles, "tile"));
  c.lines.push_back(grid);
  const std::string fixups = fmt::format("{}, {} stored", counted(t.fixups, "fixup"), counted(t.published, "partial"));
  if (planned.in_steps) {
    c.lines.push_back(fmt::format("utilisation {}, {}", per_cent(t.step_utilisation), fixups));
  } else {
    c.lines.push_back(fmt::format("kernel {}, predicted {:.4g} us, workspace {:.1f} MB", plan.kernel->name,
                                  plan.predicted_us, static_cast<double>(plan.workspace_bytes) / 1e6));
    if (plan.copy_bytes > 0)
      c.lines.push_back(fmt::format("before that, operands are copied into aligned lines: {:.1f} MB, {:.4g} us",
                                    static_cast<double>(plan.copy_bytes) / 1e6, planned.copy_us));
    c.lines.push_back(fmt::format("utilisation {} of the k-step slots, {} of the time; {}",
                                  per_cent(t.step_utilisation), per_cent(t.time_utilisation), fixups));
  }
  c.row_word = planned.in_steps && s.ctas <= planned.places ? "SM" : c.worker_word;
  c.time_unit = planned.in_steps ? "k-steps" : "us";
  return c;
}

nlohmann::json json_of(const PlanOptions& o, const Planned& planned, const Timeline& t) {
  const Plan& plan = planned.plan;
  const Schedule& s = plan.schedule;
  nlohmann::json j = {{"m", o.m},
                      {"n", o.n},
                      {"k", o.k},
                      {"batch", o.batch},
                      {"op", word_of(parse_ops(o.op))},
                      {"device", planned.device},
                      {"tile", {plan.tile.m, plan.tile.n, planned.tile_k}},
                      {"swapped", plan.tile.swapped},
                      {"schedule", name_of(s.kind)},
                      {"ctas", s.ctas},
                      {"split", s.split},
                      {"sk_tiles", s.sk_tiles},
                      {"tiles", s.tiles()},
                      {"steps_per_tile", s.space.steps},
                      {"step_utilisation", t.step_utilisation},
                      {"time_utilisation", t.time_utilisation},
                      {"fixups", t.fixups},
                      {"partials_stored", t.published},
                      {"time_unit", planned.in_steps ? "k-steps" : "us"},
                      {"makespan", t.makespan}};
  if (plan.kernel != nullptr) {
    j["kernel"] = plan.kernel->name;
    j["type"] = name_of(parse_type(o.type));
    j["workspace_bytes"] = plan.workspace_bytes;
    j["predicted_us"] = plan.predicted_us;
  }
  if (const ClusterShape& cluster = plan.tile.cluster; cluster.ctas() > 1) j["cluster"] = {cluster.m, cluster.n};
  if (plan.copy_bytes > 0) j["copy_bytes"] = plan.copy_bytes, j["copy_us"] = planned.copy_us;
  return j;
}

}  // namespace skgemm::cli
