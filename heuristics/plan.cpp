#include "heuristics/plan.h"

#include <cstdio>

namespace skgemm {

std::string to_string(const Plan& plan) {
  if (plan.kernel == nullptr) return plan.why_not == nullptr ? "no kernel" : plan.why_not;
  const Schedule& s = plan.schedule;
  const ClusterShape& c = plan.tile.cluster;
  char cluster[32] = "", copies[32] = "", text[320];
  if (c.ctas() > 1) std::snprintf(cluster, sizeof cluster, " cluster %dx%d", c.m, c.n);
  if (plan.copy_bytes > 0) {
    std::snprintf(copies, sizeof copies, " copies=%.1fMB", static_cast<double>(plan.copy_bytes) / 1e6);
  }
  std::snprintf(
      text, sizeof text,
      "%s %dx%dx%d%s%s %s g=%lld split=%lld sk_tiles=%lld tiles=%lld steps=%lld workspace=%.1fMB%s predicted=%.1fus",
      plan.kernel->name, plan.tile.m, plan.tile.n, plan.kernel->tile_k, cluster,
      plan.tile.swapped ? " swapped" : "",
      name_of(s.kind), static_cast<long long>(s.ctas), static_cast<long long>(s.split),
      static_cast<long long>(s.sk_tiles), static_cast<long long>(s.tiles()), static_cast<long long>(s.space.steps),
      static_cast<double>(plan.workspace_bytes) / 1e6, copies, plan.predicted_us);
  return text;
}

}  // namespace skgemm
