// Every tile width along either side of C, for every layout and placement of the operands: by TMA, by the row producer,
// and by both.
#include <limits>

#include "tests/gpu/known_product.h"

namespace skgemm::test {
namespace {

constexpr std::array<Tile, kTiles> kAllTiles = all_tiles();

class Tiles : public TypedTileTest {
 protected:
  // Two tiles and a ragged one of the widest, along both sides; more k-steps than a ring has stages; k exact in bf16.
  GemmCase several_tiles(const char* op) const { return product(op, 293, 267, 11 * 64 + 28); }

  // All tiles at all placements, 448 runs.
  void expect_right(const GemmCase& c, const Reference& expected) {
    for (const Placement& where : kPlacements) {
      KnownProduct known(placed(c, where), expected);
      for (const Tile& tile : kAllTiles) {
        ASSERT_TRUE(known.right(handle(), {.width = tile.width, .orientation = tile.orientation}));
      }
    }
  }
};

TEST_P(Tiles, OnesGiveK) {
  for (const char* op : kOps) {
    GemmCase c = several_tiles(op);
    c.fill = Fill::ones;
    ASSERT_NO_FATAL_FAILURE(expect_right(c, constant_reference(c, static_cast<double>(c.k))));
  }
}

// Not constant: an element from or at the wrong place shows too. C is read.
TEST_P(Tiles, IntegersAreExact) {
  for (const char* op : kOps) {
    GemmCase c = several_tiles(op);
    c.fill = Fill::integer, c.beta = 2;
    ASSERT_NO_FATAL_FAILURE(expect_right(c, reference_of(c)));
  }
}

// k from 1 with all short ends of a k-step, m and n from 1 and about the tiles' rows and widths.
TEST_P(Tiles, RandomDataIsWithinTheBound) {
  constexpr int64_t extents[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  14,
                                 15, 16, 17, 18, 19, 20, 63, 64, 65, 127, 128, 129, 255, 257};
  constexpr double betas[] = {0, 1, -0.5};
  constexpr size_t kRuns = 8, kStride = 5;  // tiles a product; no factor in common with their number
  std::vector<int64_t> ks = {127, 128, 129, 191, 1000};
  for (int64_t k = 1; k <= 70; ++k) ks.push_back(k);
  size_t i = 0;
  for (const int64_t k : ks) {
    for (const char* op : kOps) {
      ++i;
      constexpr size_t count = std::size(extents);
      GemmCase c = product(op, extents[(5 * i + i / count) % count], extents[(11 * i + 3) % count], k);
      c.alpha = 0.75, c.beta = betas[i % 3], c.seed = static_cast<int64_t>(i);
      KnownProduct known(placed(c, kPlacements[i % std::size(kPlacements)]), reference_of(c));
      for (size_t run = 0; run < kRuns; ++run) {
        const Tile& tile = kAllTiles[(i + kStride * run) % kTiles];
        ASSERT_TRUE(known.right(handle(), {.width = tile.width, .orientation = tile.orientation}));
      }
    }
  }
}

// NaN in the last row and column of the operands and past them: what a box or a piece reads beyond the product, or
// beyond the tile, must not reach it.
TEST_P(Tiles, NaNStaysInItsRowAndColumn) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* op : kOps) {
    for (const Placement& where : {kAligned, kOdd}) {
      GemmCase c = placed(product(op, 140, 150, 70), where);
      c.fill = Fill::integer;
      DeviceCase nans(c);
      Operands& o = nans.operands();
      o.a.set(o.a.shape().rows - 1, o.a.shape().cols - 1, nan);
      o.b.set(o.b.shape().rows - 1, o.b.shape().cols - 1, nan);
      nans.refresh();
      const Reference expected = reference_gemm(nans.gemm_case(), o);
      for (const Tile& tile : kAllTiles) {
        nans.force({.width = tile.width, .orientation = tile.orientation});
        const HandleModes modes(handle(), nans.gemm_case());
        nans.reset_c();
        check(nans.run(handle()), "gemm");
        check(cudaDeviceSynchronize(), "the kernel");
        ASSERT_TRUE(nans.judge(expected));
      }
    }
  }
}

struct BatchLayout {
  int64_t past;                       // of the strides, beyond a multiple of 8
  bool one_a = false, one_b = false;  // broadcast
};

// Strides that TMA takes and that it does not, and one A or B for all entries.
TEST_P(Tiles, StridedBatches) {
  constexpr BatchLayout layouts[] = {{8}, {1}, {0, true, false}, {3, false, true}, {2, true, true}};
  constexpr Tile tiles[] = {{16, SKGEMM_ORIENTATION_STRAIGHT}, {48, SKGEMM_ORIENTATION_SWAPPED},
                            {112, SKGEMM_ORIENTATION_SWAPPED}, {160, SKGEMM_ORIENTATION_STRAIGHT},
                            {64, SKGEMM_ORIENTATION_STRAIGHT}, {256, SKGEMM_ORIENTATION_SWAPPED}};
  size_t i = 0;
  for (const int64_t batch : {3, 17}) {
    for (const BatchLayout& layout : layouts) {
      for (const Placement& where : {kAligned, kOdd}) {
        GemmCase c = placed(product(kOps[i++ % 4], 70, 141, 100), where);
        c.batch = batch, c.beta = 1, c.fill = Fill::integer;
        const GemmCase packed = completed(c);
        const auto stride = [&](int64_t entry) { return (entry + 7) / 8 * 8 + layout.past; };
        c.stride_a = layout.one_a ? 0 : stride(packed.stride_a);
        c.stride_b = layout.one_b ? 0 : stride(packed.stride_b);
        c.stride_c = stride(packed.stride_c);
        KnownProduct known(c, reference_of(c));
        for (const Tile& tile : tiles) {
          Modes modes{.width = tile.width, .orientation = tile.orientation};
          ASSERT_TRUE(known.right(handle(), modes));
          modes.schedule = SKGEMM_SCHEDULE_STREAM_K, modes.parameter = 37;
          ASSERT_TRUE(known.right(handle(), modes));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Tiles, testing::ValuesIn(kHalfPairs), param_name);

class TilePlans : public TileTest {};

// A width is a multiple of 8, and one that the kernel has not is rounded up.
TEST_F(TilePlans, WidthsAreRoundedUp) {
  GemmCase c;
  c.in = c.out = DataType::f16;
  c.m = 500, c.n = 700, c.k = 300;
  const DeviceCase product(placed(c, kOdd));
  const skgemm_gemm_t call = product.call();
  for (int32_t width = 8; width <= kWidest; width += 8) {
    for (const skgemm_orientation_t orientation : {SKGEMM_ORIENTATION_STRAIGHT, SKGEMM_ORIENTATION_SWAPPED}) {
      const bool swapped = orientation == SKGEMM_ORIENTATION_SWAPPED;
      check(skgemm_set_tile(handle(), width, orientation), "skgemm_set_tile");
      skgemm_plan_t plan{};
      check(skgemm_gemm_plan(handle(), &call, &plan), "skgemm_gemm_plan");
      EXPECT_EQ(plan.swapped, swapped ? 1 : 0);
      EXPECT_EQ(swapped ? plan.tile_m : plan.tile_n, (width + 15) / 16 * 16);
      EXPECT_EQ(swapped ? plan.tile_n : plan.tile_m, 128);
    }
  }
}

TEST_F(TilePlans, WrongTilesAreRefused) {
  for (const int32_t width : {-8, 4, 17, 264}) {
    EXPECT_EQ(skgemm_set_tile(handle(), width, SKGEMM_ORIENTATION_AUTO), SKGEMM_STATUS_INVALID_VALUE) << width;
    EXPECT_NE(std::string(skgemm_last_error()).find("width"), std::string::npos) << skgemm_last_error();
  }
  EXPECT_EQ(skgemm_set_tile(handle(), 64, static_cast<skgemm_orientation_t>(3)), SKGEMM_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace skgemm::test
