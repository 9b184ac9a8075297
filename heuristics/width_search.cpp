#include "heuristics/width_search.h"

#include <cmath>

namespace skgemm {

WidthSearch::WidthSearch(const Field& field, const Limits& limits)
    : field_(field),
      steps_(static_cast<double>(ceil_div(field.shape.k, field.row.tile_k))) {
  if (limits.forced_orientation != Orientation::swapped) along(field.shape.n, false, limits.forced_width);
  if (limits.forced_orientation != Orientation::straight) along(field.shape.m, true, limits.forced_width);
}

// For each number of tiles across an extent the narrowest width that needs no more, widest first.
void WidthSearch::along(int64_t extent, bool swapped, int forced) {
  const int64_t step = field_.row.width_step;
  const auto whole = [step](int64_t width) { return ceil_div(width, step) * step; };
  if (forced > 0) return add(std::min<int64_t>(whole(forced), field_.row.tile_n), extent, swapped);
  constexpr int64_t kNarrow = 32;  // below this the tensor cores wait for the rows' operand
  const int64_t narrowest = std::min(kNarrow, whole(extent));
  for (int64_t width = field_.row.tile_n; width >= narrowest; width -= step) {
    width = whole(ceil_div(extent, ceil_div(extent, width)));
    add(width, extent, swapped);
  }
}

void WidthSearch::add(int64_t width, int64_t extent, bool swapped) {
  const auto& [shape, row, k, room] = field_;
  const TileShape tile = row.tile(static_cast<int>(width), swapped);
  const auto across = static_cast<double>(ceil_div(extent, width));
  const auto rows = static_cast<double>(ceil_div(swapped ? shape.n : shape.m, row.tile_m));
  const double tiles = across * rows * static_cast<double>(shape.batch);
  found_[count_++] = {tile, least_us(costs_of(k, candidate_of(shape, row, tile)), tiles)};
}

// No schedule is faster: tiles stay whole, or all CTAs share the steps evenly and the least fixup follows. (A smaller
// grid's faster steps never make up for the CTAs it lacks.)
double WidthSearch::least_us(const CandidateCosts& costs, double tiles) const {
  const auto p = static_cast<double>(field_.room.ctas());
  const CostConstants some = costs.at(static_cast<int64_t>(std::min(tiles, p))), all = costs.at(field_.room.ctas());
  const double waves = std::ceil(tiles / p);
  const double whole = some.a + waves * steps_ * some.solo + (waves - 1) * some.e;
  return std::min(whole, all.a + tiles * steps_ / p * all.solo + some.b + some.d);
}

}  // namespace skgemm
