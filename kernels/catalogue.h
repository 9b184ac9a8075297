// The built kernels, one row each. The selector, the launcher and the kernels themselves read the same numbers.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/types.h"

namespace skgemm {

// CTAs of a cluster along m and n: neighbours along n use the same rows of op(A), neighbours along m the same columns
// of op(B), and load them together.
struct ClusterShape {
  int m = 1, n = 1;

  constexpr int ctas() const { return m * n; }
  bool operator==(const ClusterShape&) const = default;
};
// Those that a kernel can be asked for, where it has any: up to eight CTAs, the most that every part with clusters
// takes (CUDA C++ Programming Guide, "Thread Block Clusters").
inline constexpr ClusterShape kClusterShapes[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}};

// The block of C, in elements, that a worker (a CTA, or a cluster that acts as one) computes at a time. Swapped: as
// C^T = op(B)^T*op(A)^T, so that the kernel's rows lie along n and its run-time width along m.
struct TileShape {
  int m, n;
  bool swapped;
  ClusterShape cluster = {};

  constexpr int width() const { return swapped ? m / cluster.m : n / cluster.n; }  // of one CTA's part
  // Whether a CTA of the cluster finds nothing to do, even in the first tile of a rows x columns product.
  constexpr bool has_idle_ctas(int64_t rows, int64_t columns) const {
    return (cluster.m > 1 && m - m / cluster.m >= rows) || (cluster.n > 1 && n - n / cluster.n >= columns);
  }
  bool operator==(const TileShape&) const = default;
};

struct KernelRow {
  const char* name;
  DataType in;                 // type of A and B
  int arch_min, arch_max;      // compute capabilities, as 80 or 90
  bool by_tma;                 // reads operands by TMA alone: extents below 2^31, lines at multiples of 16 bytes
  bool waits;                  // for the grids before it, ahead of the end of which it may be launched
  int tile_m, tile_n, tile_k;  // elements; tile_m rows and up to tile_n columns where the width is run-time data
  int width_step;              // the width may be any multiple of this up to fine_width, then of twice this up to
  int fine_width;              // tile_n, on either side of C; 0: fixed
  int narrowest;               // the width below which the multiplications wait for operands: not worth trying
  int stages;                  // shared-memory buffers in the copy pipeline; 0: as many as fit beside each other
  int threads;
  int workers;        // of a CTA, each with units of its own
  int ctas_per_sm;    // resident CTAs the kernel is built for (launch bounds)
  int counters;       // arrival counters of a CTA's part of a shared tile: one for each part a warpgroup finishes alone
  int most_clustered;  // CTAs of the largest cluster
  size_t smem_bytes;  // dynamic shared memory of a CTA

  constexpr int workers_per_sm() const { return ctas_per_sm * workers; }
  // The narrowest width of at least that, and how far the next narrower one is from a width.
  constexpr int64_t whole_width(int64_t least) const {
    const int64_t step = least > fine_width ? 2 * width_step : width_step;
    return (least + step - 1) / step * step;
  }
  constexpr int step_below(int64_t width) const { return width > fine_width ? 2 * width_step : width_step; }

  constexpr TileShape tile(int width, bool swapped, ClusterShape cluster = {}) const {
    const int m = swapped ? width : tile_m, n = swapped ? tile_m : width;
    return {m * cluster.m, n * cluster.n, swapped, cluster};
  }
  constexpr size_t slot_bytes(const TileShape& tile) const {  // one partial tile
    return static_cast<size_t>(tile.m) * tile.n * size_of(accumulator_of(in));
  }
};

std::span<const KernelRow> catalogue();
// The row of that name; nullptr when there is none.
const KernelRow* find_kernel(std::string_view name);
// The row for an element type on a device; nullptr when the device is too old. `small_extents`: m, n and k are below
// 2^31, which kernels by_tma need.
const KernelRow* find_kernel(DataType in, int compute_capability, bool small_extents = true);

}  // namespace skgemm
