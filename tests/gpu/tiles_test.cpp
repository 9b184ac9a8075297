// Every tile width along either side of C, for every layout and placement of the operands: as they lie, or from copies
// of one or both; and clusters of CTAs, some of which have no row or no column of C.
#include <limits>
#include <numeric>
#include <tuple>

#include "tests/gpu/known_product.h"

namespace skgemm::test {
namespace {

class Tiles : public TypedTileTest {
 protected:
  // Two tiles and a ragged one of the widest, along both sides; more k-steps than a ring has stages; k exact in bf16.
  GemmCase several_tiles(const char* op) const { return product(op, 293, 267, 11 * 64 + 28); }

  // All tiles at all placements, 332 runs; clusters where the placement of A and B makes a difference to them.
  void expect_right(const GemmCase& c, const Reference& expected) {
    for (size_t i = 0; i < std::size(kPlacements); ++i) {
      KnownProduct known(placed(c, kPlacements[i]), expected);
      for (const Tile& tile : single_tiles()) ASSERT_TRUE(known.right(handle(), tile.modes()));
      if (i != 0 && i != 1 && i != 5) continue;
      for (const Tile& tile : clustered_tiles()) ASSERT_TRUE(known.right(handle(), tile.modes()));
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
  constexpr size_t kRuns = 16, kStride = 5;  // tiles a product; no factor in common with their number
  static_assert(std::gcd(kStride, kTiles) == 1);
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
        ASSERT_TRUE(known.right(handle(), tile.modes()));
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
        nans.force(tile.modes());
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
  constexpr Tile tiles[] = {{16, SKGEMM_ORIENTATION_STRAIGHT},        {48, SKGEMM_ORIENTATION_SWAPPED},
                            {112, SKGEMM_ORIENTATION_SWAPPED},        {160, SKGEMM_ORIENTATION_STRAIGHT},
                            {64, SKGEMM_ORIENTATION_STRAIGHT},        {256, SKGEMM_ORIENTATION_SWAPPED},
                            {64, SKGEMM_ORIENTATION_STRAIGHT, 2, 1},  {112, SKGEMM_ORIENTATION_SWAPPED, 1, 2},
                            {128, SKGEMM_ORIENTATION_STRAIGHT, 2, 2}, {48, SKGEMM_ORIENTATION_SWAPPED, 2, 2}};
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
          Modes modes = tile.modes();
          ASSERT_TRUE(known.right(handle(), modes));
          modes.schedule = SKGEMM_SCHEDULE_STREAM_K, modes.parameter = 37;
          ASSERT_TRUE(known.right(handle(), modes));
        }
      }
    }
  }
}

// One operand for all entries, at places that TMA does not take: where it is copied first, it is copied once.
TEST_P(Tiles, SharedOperandsAreCopied) {
  for (const BatchLayout& layout : {BatchLayout{1}, {1, true, false}, {1, false, true}, {1, true, true}}) {
    GemmCase c = placed(product("TN", 140, 150, 2000), kOdd);
    c.batch = 3, c.fill = Fill::integer;
    const GemmCase packed = completed(c);
    c.stride_a = layout.one_a ? 0 : packed.stride_a + layout.past;
    c.stride_b = layout.one_b ? 0 : packed.stride_b + layout.past;
    Modes modes{.width = 64, .orientation = SKGEMM_ORIENTATION_STRAIGHT, .schedule = SKGEMM_SCHEDULE_DATA_PARALLEL};
    DeviceCase operands(c);
    operands.force(modes);
    {
      const HandleModes forced(handle(), operands.gemm_case());
      const skgemm_gemm_t call = operands.call();
      skgemm_plan_t plan{};
      check(skgemm_gemm_plan(handle(), &call, &plan), "skgemm_gemm_plan");
      ASSERT_EQ(plan.workspace_bytes > 0, GetParam().in != DataType::f64) << "fp64 is never copied, all else here is";
    }
    KnownProduct known(c, reference_of(c));
    ASSERT_TRUE(known.right(handle(), modes));
    modes.schedule = SKGEMM_SCHEDULE_STREAM_K;
    ASSERT_TRUE(known.right(handle(), modes));
  }
}

// Many tiles to a CTA and nothing summed in between, tiles of odd and even numbers of chunks on their way to C.
TEST_P(Tiles, AlphaZeroFollowsOnItself) {
  GemmCase c = product("NN", 500, 700, 100);
  c.alpha = 0, c.beta = 2, c.fill = Fill::integer, c.device_scalars = 1;
  const Reference expected = reference_of(c);
  for (const Placement& where : {kAligned, kOdd}) {
    KnownProduct known(placed(c, where), expected);
    for (const Tile& tile : kAllTiles) {
      Modes modes = tile.modes();
      modes.sms = 8;  // room for one cluster of the largest
      ASSERT_TRUE(known.right(handle(), modes));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Tiles, testing::ValuesIn(kWidthPairs), param_name);

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
      EXPECT_EQ(swapped ? plan.tile_m / plan.cluster_m : plan.tile_n / plan.cluster_n, (width + 15) / 16 * 16);
      EXPECT_EQ(swapped ? plan.tile_n / plan.cluster_n : plan.tile_m / plan.cluster_m, 128);
    }
  }
}

GemmCase clustered(DataType in, int64_t m, int64_t n) {
  GemmCase c;
  c.in = c.out = in;
  c.m = 500, c.n = 700, c.k = 300;
  c.width = 64, c.orientation = SKGEMM_ORIENTATION_STRAIGHT;
  c.cluster_m = m, c.cluster_n = n;
  return c;
}

TEST_F(TilePlans, ForcedClustersAreReported) {
  for (const auto& [m, n] : kClusterShapes) {
    const skgemm_plan_t plan = plan_of(handle(), placed(clustered(DataType::f16, m, n), kAligned));
    EXPECT_EQ(plan.cluster_m, m);
    EXPECT_EQ(plan.cluster_n, n);
    EXPECT_EQ(plan.tile_m, 128 * m);
    EXPECT_EQ(plan.tile_n, 64 * n);
    EXPECT_EQ(plan.tiles, (500 + plan.tile_m - 1) / plan.tile_m * ((700 + plan.tile_n - 1) / plan.tile_n));
    const skgemm_plan_t single = plan_of(handle(), clustered(DataType::f32, m, n));
    EXPECT_TRUE(single.cluster_m == 1 && single.cluster_n == 1) << "the kernels of fp32 have no clusters";
  }
}

// With a byte less than their copies take, A and B are read as they lie, by the kernel that can.
TEST_F(TilePlans, WithoutRoomForCopiesTheOtherKernelIsTaken) {
  for (const auto& [in, wgmma, mma] : {std::tuple{DataType::f16, "f16_wgmma", "f16_mma"},
                                       {DataType::bf16, "bf16_wgmma", "bf16_mma"}}) {
    for (const Placement& where : {kOdd, kPlacements[3], kPlacements[4], kPlacements[6]}) {
      GemmCase c = placed(clustered(in, 2, 1), where);
      c.fill = Fill::integer, c.beta = 1, c.schedule = SKGEMM_SCHEDULE_DATA_PARALLEL;
      const skgemm_plan_t ample = plan_of(handle(), c);
      EXPECT_STREQ(ample.kernel, wgmma);
      EXPECT_GT(ample.workspace_bytes, 0u);
      c.workspace = static_cast<int64_t>(ample.workspace_bytes);
      EXPECT_STREQ(plan_of(handle(), c).kernel, wgmma);
      ASSERT_TRUE(passes(handle(), c));
      for (const int64_t bytes : {c.workspace - 1, int64_t{1}}) {
        c.workspace = bytes;
        const skgemm_plan_t plan = plan_of(handle(), c);
        EXPECT_STREQ(plan.kernel, mma);
        EXPECT_EQ(plan.workspace_bytes, 0u);
        EXPECT_TRUE(plan.cluster_m == 1 && plan.cluster_n == 1 && plan.tile_m == 128 && plan.tile_n == 128);
        ASSERT_TRUE(passes(handle(), c));
        c.schedule = SKGEMM_SCHEDULE_AUTO;
        ASSERT_TRUE(passes(handle(), c));
      }
    }
  }
}

// Aligned ones too, where they are too far apart for TMA, or go backwards: the only line of A, entries of a batch.
TEST_F(TilePlans, PitchesThatTmaCannotTakeAreCopied) {
  GemmCase far = placed(clustered(DataType::f16, 1, 2), kAligned), backwards = far;
  far.k = 1, far.lda = int64_t{1} << 39;
  const GemmCase packed = completed(backwards);
  backwards.batch = 3, backwards.stride_a = -(packed.stride_a + 7) / 8 * 8;
  backwards.stride_b = (packed.stride_b + 7) / 8 * 8;
  for (GemmCase c : {far, backwards}) {
    c.fill = Fill::integer, c.schedule = SKGEMM_SCHEDULE_DATA_PARALLEL;
    const skgemm_plan_t plan = plan_of(handle(), c);
    EXPECT_STREQ(plan.kernel, "f16_wgmma");
    EXPECT_GT(plan.workspace_bytes, 0u) << "the copies";
    ASSERT_TRUE(passes(handle(), c));
    c.workspace = 1;
    EXPECT_STREQ(plan_of(handle(), c).kernel, "f16_mma");
    ASSERT_TRUE(passes(handle(), c));
  }
}

TEST_F(TilePlans, WrongClustersAreRefused) {
  for (const auto& [m, n] : {std::pair{0, 1}, {1, 0}, {3, 1}, {4, 4}, {1, 8}, {-1, -1}, {2, 0}}) {
    EXPECT_EQ(skgemm_set_cluster(handle(), m, n), SKGEMM_STATUS_INVALID_VALUE) << m << ' ' << n;
    EXPECT_NE(std::string(skgemm_last_error()).find("cluster"), std::string::npos) << skgemm_last_error();
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
