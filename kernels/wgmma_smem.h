// Shared memory of the wgmma kernels, and the numbers that the producers, the consumers, the launch and the selector
// agree on. The product of a tile is X*Y with X 128 rows and Y `width` columns: A and B, or, swapped, their transposes
// the other way round.
//
// A stage holds one k-step of X, then of Y, in lines of 128 bytes whose 16-byte pieces the TMA permutes by the line's
// address (128-byte swizzle): 64 k of one row or column for a k-major operand, else 64 rows or columns of one k. Behind
// the stages lie the buffers for results on their way to C.
#pragma once
#include "kernels/queued_units.h"
#include "kernels/types.h"

namespace skgemm::wgmma_smem {

inline constexpr int kRows = 128, kMaxWidth = 256, kTileK = 64, kWidthStep = 16;
inline constexpr int kLineBytes = 128, kBlock = 64;  // a line: 64 elements
inline constexpr int kXBytes = kRows * kLineBytes;   // of a stage
inline constexpr int kConsumers = 2;                 // warpgroups, 64 rows of X each
inline constexpr int kGroupWarps = 4;                // of a warpgroup
inline constexpr int kProducerWarps = kGroupWarps;   // the first warpgroup
inline constexpr int kConsumerWarps = kConsumers * kGroupWarps;
inline constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
inline constexpr int kMostClustered = 8;             // CTAs of a cluster: 1, 2 or 4 along X's rows and Y's columns
inline constexpr int kAlignment = 1024;              // the swizzle's period

// A chunk of results: 64 lines of 64 two-byte elements of C, of one warpgroup.
inline constexpr int kChunkBytes = 64 * kLineBytes, kMostChunks = 4;

inline constexpr int kTilesBytes = 224 << 10;  // stages and chunks
inline constexpr int kMaxStages = 12;
inline constexpr int kLeastStages = 2;  // a stage is released a step after it was summed

// Columns that are loaded for a tile: whole blocks where lines run along them.
SKGEMM_HD constexpr int loaded_width(int width, bool y_k_major) {
  return y_k_major ? width : (width + kBlock - 1) / kBlock * kBlock;
}
SKGEMM_HD constexpr int stage_bytes(int loaded_width) { return kXBytes + loaded_width * kLineBytes; }
// How many stages fit beside so many chunks of each warpgroup.
SKGEMM_HD constexpr int stages(int stage_bytes, int chunks) {
  const int fit = (kTilesBytes - kConsumers * chunks * kChunkBytes) / stage_bytes;
  return fit < kMaxStages ? fit : kMaxStages;
}
static_assert(stages(stage_bytes(kMaxWidth), kMostChunks) >= kLeastStages);

// Chunks of each warpgroup: as many as a tile has, so that its results wait for nothing, as long as four stages are
// left or a tile has no more k-steps than that.
SKGEMM_HD constexpr int chunks_of(int width, int stage_bytes, int64_t steps) {
  int chunks = (width + kBlock - 1) / kBlock;
  while (steps > 4 && chunks > 2 && stages(stage_bytes, chunks) < 4) --chunks;
  return chunks;
}

// Barriers of 8 bytes, and what the warps tell each other.
inline constexpr int kChunkMessageBytes = 24;
inline constexpr int kFullAt = kTilesBytes, kEmptyAt = kFullAt + 8 * kMaxStages;
inline constexpr int kUnitFullAt = kEmptyAt + 8 * kMaxStages, kUnitEmptyAt = kUnitFullAt + 8 * kQueuedUnits;
inline constexpr int kChunkFullAt = kUnitEmptyAt + 8 * kQueuedUnits;  // of each warpgroup's chunks, then the empty ones
inline constexpr int kChunkEmptyAt = kChunkFullAt + 8 * kConsumers * kMostChunks;
inline constexpr int kUnitsAt = kChunkEmptyAt + 8 * kConsumers * kMostChunks;
inline constexpr int kChunksAt = kUnitsAt + kQueuedUnits * kQueuedUnitBytes;
inline constexpr int kSeenAt = kChunksAt + kConsumers * kMostChunks * kChunkMessageBytes;  // a word a warpgroup
inline constexpr int kWarmAt = kSeenAt + 4 * kConsumers;       // a word a warp, for nobody
inline constexpr int kBytes = kWarmAt + kThreads / 32 * 4 + kAlignment;  // the last to align the start
static_assert(kUnitsAt % 8 == 0 && kChunksAt % 8 == 0);
static_assert(kBytes <= 227 << 10, "shared memory of one CTA on sm_90");

}  // namespace skgemm::wgmma_smem
