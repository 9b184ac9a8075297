// The shared memory of the wgmma kernels (kernels/wgmma_smem.h) at every tile width: nothing overlaps, the ring is as
// deep as fits, and all that the TMA swizzles lies where the swizzle's pattern begins.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/wgmma_smem.h"

namespace skgemm::wgmma_smem {
namespace {

constexpr int kMostBoxLines = 256;  // cuTensorMapEncodeTiled, CUDA driver API: boxDim

// Calls body(width, y_k_major).
template <class Body>
void for_each_tile(Body&& body) {
  for (int width = kWidthStep; width <= kMaxWidth; width += kWidthStep) {
    for (const bool y_k_major : {false, true}) body(width, y_k_major);
  }
}

TEST(WgmmaSmem, WholeBlocksAreLoadedWhereLinesRunAlongColumns) {
  for_each_tile([](int width, bool y_k_major) {
    const int loaded = loaded_width(width, y_k_major);
    EXPECT_GE(loaded, width);
    EXPECT_LE(loaded, kMostBoxLines);
    if (y_k_major) {
      EXPECT_EQ(loaded, width);
    } else {
      EXPECT_EQ(loaded % kBlock, 0);
      EXPECT_LT(loaded, width + kBlock);
    }
  });
}

TEST(WgmmaSmem, TheRingIsAsDeepAsFits) {
  for_each_tile([](int width, bool y_k_major) {
    const int bytes = stage_bytes(loaded_width(width, y_k_major));
    for (int chunks = 1; chunks <= kMostChunks; ++chunks) {
      const int depth = stages(bytes, chunks), taken = kConsumers * chunks * kChunkBytes;
      EXPECT_GE(depth, 3) << "one stage is summed, one is released a step later, one is filled";
      EXPECT_LE(depth, kMaxStages);
      EXPECT_LE(depth * bytes + taken, kTilesBytes);
      if (depth < kMaxStages) {
        EXPECT_GT((depth + 1) * bytes + taken, kTilesBytes);
      }
    }
  });
}

TEST(WgmmaSmem, ChunksLeaveRoomForFourStagesOrForAllSteps) {
  for_each_tile([](int width, bool y_k_major) {
    const int bytes = stage_bytes(loaded_width(width, y_k_major)), all = (width + kBlock - 1) / kBlock;
    EXPECT_EQ(chunks_of(width, bytes, 1), all);
    EXPECT_EQ(chunks_of(width, bytes, 4), all);
    const int chunks = chunks_of(width, bytes, 5);
    EXPECT_GE(chunks, std::min(all, 2));
    EXPECT_TRUE(chunks <= 2 || stages(bytes, chunks) >= 4) << width;
    EXPECT_TRUE(chunks == all || stages(bytes, chunks + 1) < 4) << width;
  });
}

// A stage holds 64 k of every row and column, two bytes each.
TEST(WgmmaSmem, AStageHoldsOneStepOfBothOperands) {
  EXPECT_EQ(kLineBytes, 2 * kBlock);
  EXPECT_EQ(kTileK, kBlock);
  EXPECT_EQ(kXBytes, 2 * kRows * kTileK);
  for_each_tile([](int width, bool y_k_major) {
    const int loaded = loaded_width(width, y_k_major);
    EXPECT_EQ(stage_bytes(loaded), 2 * (kRows + loaded) * kTileK);
  });
}

// The pattern is a function of the address: line i of an operand, a warpgroup's rows, a block and a chunk is line i of
// the pattern only if they begin with it.
TEST(WgmmaSmem, SwizzledPartsBeginWithThePattern) {
  for_each_tile([](int width, bool y_k_major) {
    EXPECT_EQ(stage_bytes(loaded_width(width, y_k_major)) % kAlignment, 0) << width;
  });
  EXPECT_EQ(kXBytes % kAlignment, 0);
  EXPECT_EQ(kXBytes / kConsumers % kAlignment, 0);
  EXPECT_EQ(kBlock * kLineBytes % kAlignment, 0);
  EXPECT_EQ(kChunkBytes % kAlignment, 0);
}

struct Region {
  const char* name;
  int begin, bytes, alignment;
};

TEST(WgmmaSmem, RegionsFollowEachOtherAndFit) {
  const std::vector<Region> regions = {
      {"stages and chunks", 0, kTilesBytes, kAlignment},
      {"full barriers", kFullAt, 8 * kMaxStages, 8},
      {"empty barriers", kEmptyAt, 8 * kMaxStages, 8},
      {"barriers of full units", kUnitFullAt, 8 * kQueuedUnits, 8},
      {"barriers of empty units", kUnitEmptyAt, 8 * kQueuedUnits, 8},
      {"barriers of full chunks", kChunkFullAt, 8 * kConsumers * kMostChunks, 8},
      {"barriers of empty chunks", kChunkEmptyAt, 8 * kConsumers * kMostChunks, 8},
      {"units", kUnitsAt, kQueuedUnits * kQueuedUnitBytes, 8},
      {"where chunks belong", kChunksAt, kConsumers * kMostChunks * kChunkMessageBytes, 8},
      {"arrivals seen", kSeenAt, 4 * kConsumers, 4},
      {"warm parameters", kWarmAt, 4 * kThreads / 32, 4},
  };
  int end = 0;
  for (const Region& region : regions) {
    EXPECT_GE(region.begin, end) << region.name << " overlaps what is before it";
    EXPECT_EQ(region.begin % region.alignment, 0) << region.name;
    end = region.begin + region.bytes;
  }
  EXPECT_LE(end, kBytes - kAlignment) << "the start may be moved up to the next multiple of the alignment";
  EXPECT_LE(kBytes, 227 << 10) << "CUDA programming guide, compute capability 9.0";
}

}  // namespace
}  // namespace skgemm::wgmma_smem
