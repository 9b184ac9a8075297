// The shared memory of the fp64 kernels (kernels/dmma_smem.h): stages fit beside what warps exchange, each element of a
// block lies where one lane looks for it, and no quarter of a warp meets a bank twice.
#include "kernels/dmma_smem.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "kernels/catalogue.h"

namespace skgemm::dmma_smem {
namespace {

TEST(DmmaSmem, StagesAndExchangesFitAtEveryWidth) {
  const KernelRow& row = *find_kernel(DataType::f64, 90);
  for (int width = kWidthStep; width <= kMaxWidth; width += row.step_below(width + 1)) {
    EXPECT_EQ(row.whole_width(width), width);
    EXPECT_GE(stages(width), kLeastStages + 1) << width;
    EXPECT_LE(stages(width), kMaxStages) << width;
    EXPECT_LE(stages(width) * stage_bytes(width) + exchange_bytes(width), kTilesBytes) << width;
    EXPECT_EQ(stage_bytes(width) % kAlignment, 0) << "the TMA's swizzle begins anew at each stage";
    // Two by two warps of 32 rows and whole blocks of columns, or two by one, twice, each pair with half of k.
    EXPECT_EQ(width % (shares_k(width) ? kBlock : 2 * kBlock), 0) << width;
  }
  EXPECT_LE(row.smem_bytes, size_t{227} << 10);
  EXPECT_LE(find_kernel(DataType::f64, 80)->smem_bytes, size_t{163} << 10);
}

// Where element (row or column, k) of a block lies: as the TMA permutes lines of 128 bytes.
int place_of(bool k_major, int row, int k) {
  const int line = k_major ? row : k, at = (k_major ? k : row) * 8;
  return line * kLineBytes + ((at / 16 ^ line % 8) * 16) + at % 16;
}

TEST(DmmaSmem, EveryElementIsOneLanesFragment) {
  for (const bool k_major : {false, true}) {
    for (int half = 0; half < 2; ++half) {
      std::set<std::pair<int, int>> seen;
      for (int lane = 0; lane < 32; ++lane) {
        const int row = 2 * pair_of(lane / 4), k = 8 * half + lane % 4 * 2;
        for (int second = 0; second < 2; ++second) {
          const int at = half_at(k_major, fragment_at(k_major, lane, second), half);
          for (int i = 0; i < 2; ++i) {
            const int r = row + (k_major ? second : i), kk = k + (k_major ? i : second);
            EXPECT_EQ(at + 8 * i, place_of(k_major, r, kk)) << lane << ' ' << second;
            EXPECT_TRUE(seen.emplace(r, kk).second) << r << ' ' << kk;
          }
        }
      }
      EXPECT_EQ(seen.size(), size_t{kBlock * kTileK / 2});
    }
  }
}

TEST(DmmaSmem, QuartersOfAWarpReadEightBankGroups) {
  for (const bool k_major : {false, true}) {
    for (int half = 0; half < 2; ++half) {
      for (int second = 0; second < 2; ++second) {
        for (int quarter = 0; quarter < 4; ++quarter) {
          std::set<int> groups;
          for (int lane = 8 * quarter; lane < 8 * quarter + 8; ++lane)
            groups.insert(half_at(k_major, fragment_at(k_major, lane, second), half) / 16 % 8);
          EXPECT_EQ(groups.size(), 8u) << k_major << half << second << quarter;
        }
      }
    }
  }
}

// What a store of C relies on: the two pairs of neighbouring mma columns differ in two bits.
TEST(DmmaSmem, NeighboursPairsDifferInTheLowBits) {
  for (int g = 0; g < 8; g += 2) EXPECT_EQ(2 * pair_of(g) ^ 2 * pair_of(g + 1), 6) << g;
}

}  // namespace
}  // namespace skgemm::dmma_smem
