// Which tiles of a kernel with a run-time width are worth trying on a product, and how fast each can be at best.
#pragma once
#include <algorithm>
#include <array>
#include <iterator>

#include "heuristics/select.h"

namespace skgemm {

class WidthSearch {
 public:
  // What is searched: it must outlive the search.
  struct Field {
    const Shape& shape;
    const KernelRow& row;
    const WidthConstants& k;
    const DeviceModel& device;
  };
  WidthSearch(const Field& field, const Limits& limits);

  // Calls try_tile(TileShape) for every tile whose least time is worth(us), the most promising one first.
  template <class Worth, class Try>
  void visit(Worth&& worth, Try&& try_tile) const {
    const Found *begin = found_.data(), *end = begin + count_;
    const Found* first =
        std::min_element(begin, end, [](const Found& x, const Found& y) { return x.least_us < y.least_us; });
    try_tile(first->tile);
    for (const Found* f = begin; f != end; ++f) {
      if (f != first && worth(f->least_us)) try_tile(f->tile);
    }
  }

 private:
  struct Found {
    TileShape tile;
    double least_us;
  };
  void along(int64_t extent, bool swapped, int forced);
  void add(int width, bool swapped);
  double least_us(const TileShape& tile, int64_t workers) const;

  static constexpr size_t kClusters = std::size(kClusterShapes);
  static constexpr size_t kMostFound = 64 * kClusters;  // more than both orientations have widths
  Field field_;
  double steps_;
  bool cluster_forced_ = false;
  std::array<int64_t, kClusters> workers_{};  // of each of kClusterShapes that run at once; 0: not to be tried
  size_t count_ = 0;
  std::array<Found, kMostFound> found_;
};

}  // namespace skgemm
