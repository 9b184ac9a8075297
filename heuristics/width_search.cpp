#include "heuristics/width_search.h"

#include <cmath>

namespace skgemm {

WidthSearch::WidthSearch(const Field& field, const Limits& limits)
    : field_(field),
      steps_(static_cast<double>(ceil_div(field.shape.k, field.row.tile_k))) {
  for (size_t i = 0; i < kClusters; ++i) {
    const ClusterShape& cluster = kClusterShapes[i];
    if (cluster.ctas() > field.row.most_clustered) continue;
    workers_[i] = room_for(field.row, field.device, limits, cluster).ctas();
    cluster_forced_ |= workers_[i] > 0 && cluster == limits.forced_cluster;
  }
  for (size_t i = 0; cluster_forced_ && i < kClusters; ++i) {
    if (kClusterShapes[i] != limits.forced_cluster) workers_[i] = 0;
  }
  if (limits.forced_orientation != Orientation::swapped) along(field.shape.n, false, limits.forced_width);
  if (limits.forced_orientation != Orientation::straight) along(field.shape.m, true, limits.forced_width);
}

// For each number of tiles across an extent the narrowest width that needs no more, widest first.
void WidthSearch::along(int64_t extent, bool swapped, int forced) {
  const KernelRow& row = field_.row;
  if (forced > 0) return add(static_cast<int>(std::min<int64_t>(row.whole_width(forced), row.tile_n)), swapped);
  const int64_t narrowest = std::min<int64_t>(row.narrowest, row.whole_width(extent));
  for (int64_t width = row.tile_n; width >= narrowest; width -= row.step_below(width)) {
    width = row.whole_width(ceil_div(extent, ceil_div(extent, width)));
    add(static_cast<int>(width), swapped);
  }
}

void WidthSearch::add(int width, bool swapped) {
  const Shape& shape = field_.shape;
  for (size_t i = 0; i < kClusters; ++i) {
    const TileShape tile = field_.row.tile(width, swapped, kClusterShapes[i]);
    if (workers_[i] == 0 || (tile.has_idle_ctas(shape.m, shape.n) && !cluster_forced_)) continue;
    found_[count_++] = {tile, least_us(tile, workers_[i])};
  }
}

// No schedule is faster: tiles stay whole, or all workers share the steps evenly and the least fixup follows. (The
// faster steps of a smaller grid never make up for the workers it lacks.)
double WidthSearch::least_us(const TileShape& tile, int64_t workers) const {
  const Shape& shape = field_.shape;
  const CandidateCosts costs = costs_of(field_.k, candidate_of(shape, field_.row, tile));
  const auto tiles = static_cast<double>(ceil_div(shape.m, tile.m) * ceil_div(shape.n, tile.n) * shape.batch);
  const auto p = static_cast<double>(workers);
  const CostConstants some = costs.at(static_cast<int64_t>(std::min(tiles, p)), workers);
  const CostConstants all = costs.at(workers, workers);
  const double waves = std::ceil(tiles / p);
  const double whole = some.a + waves * steps_ * (tiles < p ? some.solo : some.c) + (waves - 1) * some.e;
  return std::min(whole, all.a + tiles * steps_ / p * all.c + some.b + some.d);
}

}  // namespace skgemm
