// One product run again and again under forced tiles and schedules, against one reference.
#pragma once
#include <array>
#include <span>

#include "kernels/catalogue.h"
#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {

// The kernels whose tile width is run-time data: fp16 and bf16 on sm_90. Skips on other devices.
class TileTest : public GpuTest {
 protected:
  void SetUp() override;
};

// The same for each pair of types.
class TypedTileTest : public TileTest, public testing::WithParamInterface<TypePair> {
 protected:
  static GemmCase product(const char* op, int64_t m, int64_t n, int64_t k) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.op = op, c.m = m, c.n = n, c.k = k;
    return c;
  }
};

struct Tile {
  int64_t width;
  skgemm_orientation_t orientation;
  int64_t cluster_m = 1, cluster_n = 1;  // CTAs

  Modes modes() const {
    return {.width = width, .orientation = orientation, .cluster_m = cluster_m, .cluster_n = cluster_n};
  }
};
inline constexpr skgemm_orientation_t kOrientations[] = {SKGEMM_ORIENTATION_STRAIGHT, SKGEMM_ORIENTATION_SWAPPED};
inline constexpr int64_t kWidthStep = 16, kWidest = 256;
inline constexpr int64_t kClusteredWidths[] = {16, 48, 64, 112, 128, 256};
inline constexpr std::span kClusters = std::span(kClusterShapes).subspan<1>();  // of more than one CTA
static_assert(kClusterShapes[0].ctas() == 1);
inline constexpr size_t kSingleTiles = 2 * kWidest / kWidthStep;
inline constexpr size_t kTiles = kSingleTiles + 2 * std::size(kClusteredWidths) * std::size(kClusters);
// All widths, each straight and swapped, by single CTAs; then some by each kind of cluster.
constexpr std::array<Tile, kTiles> all_tiles() {
  std::array<Tile, kTiles> tiles{};
  size_t count = 0;
  for (int64_t width = kWidthStep; width <= kWidest; width += kWidthStep) {
    for (const skgemm_orientation_t orientation : kOrientations) tiles[count++] = {width, orientation};
  }
  for (const int64_t width : kClusteredWidths) {
    for (const skgemm_orientation_t orientation : kOrientations) {
      for (const ClusterShape& cluster : kClusters) tiles[count++] = {width, orientation, cluster.m, cluster.n};
    }
  }
  return tiles;
}
inline constexpr std::array<Tile, kTiles> kAllTiles = all_tiles();
constexpr std::span<const Tile> single_tiles() { return std::span(kAllTiles).first(kSingleTiles); }
constexpr std::span<const Tile> clustered_tiles() { return std::span(kAllTiles).subspan(kSingleTiles); }

// Where a matrix lies: the elements by which its leading dimension is past a multiple of 8, and those from a 256-byte
// boundary to its first one.
struct Place {
  int64_t past, offset;
};
struct Placement {
  Place a, b, c;
};
inline constexpr Placement kAligned{{8, 8}, {0, 0}, {8, 16}};  // for TMA
inline constexpr Placement kOdd{{1, 1}, {3, 3}, {5, 1}};       // for nothing wider than an element
inline constexpr Placement kPlacements[] = {
    kAligned,
    kOdd,
    {{2, 2}, {4, 4}, {6, 6}},  // even
    {{0, 0}, {7, 0}, {0, 0}},  // all but B
    {{5, 5}, {0, 0}, {0, 0}},  // all but A
    {{0, 0}, {0, 0}, {1, 0}},  // all but C
    {{0, 1}, {0, 5}, {0, 3}},  // aligned leading dimensions, misaligned pointers
};
GemmCase placed(GemmCase c, const Placement& where);

// A case's values do not depend on where they lie, so its reference holds for every placement.
Reference reference_of(const GemmCase& c);
// C is `value` throughout.
Reference constant_reference(const GemmCase& c, double value);

class KnownProduct {
 public:
  KnownProduct(const GemmCase& c, Reference expected);

  // Runs under the modes, over a fresh C. What was forced must also be what is planned.
  testing::AssertionResult run(skgemm_handle_t handle, const Modes& modes);
  // The same, and judges.
  testing::AssertionResult right(skgemm_handle_t handle, const Modes& modes);
  // C and what is around it, after the last run.
  const std::vector<std::byte>& bits() const { return bits_; }

 private:
  testing::AssertionResult planned_as_forced(skgemm_handle_t handle) const;

  DeviceCase product_;
  Reference expected_;
  std::vector<std::byte> only_right_;  // bits, where rounding leaves no choice; otherwise empty
  std::vector<std::byte> bits_;
};

}  // namespace skgemm::test
