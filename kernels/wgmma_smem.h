// Shared memory of the wgmma kernels, and the numbers that the producer, the warpgroups, the launch and the selector
// agree on. The product of a tile is X*Y with X 128 rows and Y `width` columns: A and B, or, swapped, their transposes
// the other way round.
//
// A stage holds one k-step of X, then of Y, in lines of 128 bytes whose 16-byte chunks the TMA permutes by the line's
// address (128-byte swizzle): 64 k of one row or column for a k-major operand, else 64 rows or columns of one k.
#pragma once
#include "kernels/types.h"

namespace skgemm::wgmma_smem {

inline constexpr int kRows = 128, kMaxWidth = 256, kTileK = 64, kWidthStep = 16;
inline constexpr int kLineBytes = 128, kBlock = 64;  // a line: 64 elements
inline constexpr int kXBytes = kRows * kLineBytes;   // of a stage
inline constexpr int kConsumers = 2;                 // warpgroups, 64 rows of X each
inline constexpr int kThreads = (1 + kConsumers) * 128;
inline constexpr int kRingBytes = 192 << 10, kMaxStages = 12;
inline constexpr int kOutputBytes = 4096;  // of results on their way to C, a warp
inline constexpr int kAlignment = 1024;    // the swizzle's period

// Columns that are loaded for a tile: whole blocks where lines run along them.
SKGEMM_HD constexpr int loaded_width(int width, bool y_k_major) {
  return y_k_major ? width : (width + kBlock - 1) / kBlock * kBlock;
}
SKGEMM_HD constexpr int stage_bytes(int loaded_width) { return kXBytes + loaded_width * kLineBytes; }
SKGEMM_HD constexpr int stages(int stage_bytes) {
  return kRingBytes / stage_bytes < kMaxStages ? kRingBytes / stage_bytes : kMaxStages;
}

inline constexpr int kOutputAt = kRingBytes;
inline constexpr int kBarriersAt = kOutputAt + 4 * kConsumers * kOutputBytes;
inline constexpr int kFullAt = kBarriersAt, kEmptyAt = kFullAt + 8 * kMaxStages;  // 8 bytes a barrier
inline constexpr int kSeenAt = kEmptyAt + 8 * kMaxStages;       // a word for each warpgroup's arrivals
inline constexpr int kQueueAt = kSeenAt + 8;                    // the row producer's: eight steps of 16 bytes
inline constexpr int kWalkAt = kQueueAt + 128;                       // and where each of its warps stands
inline constexpr int kParkedAt = kWalkAt + 4 * 24, kParkedBytes = 128;  // a consumer warp's
inline constexpr int kBytes = kParkedAt + 4 * kConsumers * kParkedBytes + kAlignment;  // the last to align the start
static_assert(kBytes <= 227 << 10, "shared memory of one CTA on sm_90");

}  // namespace skgemm::wgmma_smem
