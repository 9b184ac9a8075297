// Shared memory of the fp64 kernels, and the numbers that the producers, the consumers, the launch and the selector
// agree on. The product of a tile is X*Y with X 64 rows and Y `width` columns: A and B, or, swapped, their transposes
// the other way round.
//
// A stage holds one k-step of X, then of Y, in blocks of 16 rows or columns by 16 k: 16 lines of 128 bytes, of one row
// or column each for a k-major operand, else of one k each. The 16-byte pieces of a line are permuted by its number
// modulo eight, so that a quarter of a warp reads fragments from eight different groups of banks.
#pragma once
#include "kernels/queued_units.h"
#include "kernels/types.h"

namespace skgemm::dmma_smem {

inline constexpr int kRows = 64, kMaxWidth = 128, kTileK = 16, kWidthStep = 16, kFineWidth = 64;
inline constexpr int kBlock = 16, kLineBytes = 128, kBlockBytes = kBlock * kLineBytes;
inline constexpr int kRowBlocks = kRows / kBlock;
// Byte offset in a block of the 16-byte piece `piece` of line `line`.
SKGEMM_HD constexpr int piece_at(int line, int piece) { return line * kLineBytes + ((piece ^ (line & 7)) << 4); }

// Of a block's 16 rows (or columns) lane g = lane/4 of a warp has the pair 2*pair_of(g), 2*pair_of(g) + 1, and of eight
// k lane t = lane%4 has 2t and 2t + 1. A quarter of a warp that reads pieces has four t of two neighbours g, whose
// pairs must not differ in bit 0 alone (k-major lines), nor agree in it (others): bits of g stand for 3, 1 and 4.
SKGEMM_HD constexpr int pair_of(int g) { return (g & 1) * 3 ^ (g >> 1 & 1) ^ (g & 4); }

// Where a lane's fragments of a block begin: of a k-major operand in its pair's row `second` (0 or 1), else in the line
// of its k `second`.
SKGEMM_HD constexpr int fragment_at(bool k_major, int lane, int second) {
  const int t = lane % 4, pair = pair_of(lane / 4);
  return k_major ? piece_at(2 * pair + second, t) : piece_at(2 * t + second, pair);
}
// From there on, at k-half `half` of the step.
SKGEMM_HD constexpr int half_at(bool k_major, int fragment, int half) {
  return k_major ? fragment ^ half * (kLineBytes / 2) : fragment + half * (kTileK / 2) * kLineBytes;
}

// Of a worker. A CTA has two (on sm_90; else one), each with a schedule's units, shared memory and barriers of its own:
// one multiplies while the other stores. As CTAs of their own they would share a multiprocessor less evenly, the older
// one ahead of the other.
inline constexpr int kConsumerWarps = 4, kProducerWarps = 4;
inline constexpr int kConsumerThreads = 32 * kConsumerWarps, kProducerThreads = 32 * kProducerWarps;
inline constexpr int kWorkerThreads = kConsumerThreads + kProducerThreads;
inline constexpr int kMostWorkers = 2;

// Warps of 32 rows each: two by two, or, where a tile is too narrow for that, two by one and twice, each pair of warps
// with one half of every k-step.
SKGEMM_HD constexpr bool shares_k(int width) { return width <= 64; }
// Blocks of 16x16 sums that a warp has in the end.
SKGEMM_HD constexpr int blocks_of_warp(int width) { return width / kBlock; }

inline constexpr int kTilesBytes = 108 << 10;  // stages, and the sums that warps exchange
inline constexpr int kMaxStages = 8;
inline constexpr int kLeastStages = 2;
SKGEMM_HD constexpr int stage_bytes(int width) { return (kRows + width) * kLineBytes; }
SKGEMM_HD constexpr int exchange_bytes(int width) {
  return shares_k(width) ? kConsumerWarps * blocks_of_warp(width) * kBlockBytes : 0;
}
SKGEMM_HD constexpr int stages(int width) {
  const int fit = (kTilesBytes - exchange_bytes(width)) / stage_bytes(width);
  return fit < kMaxStages ? fit : kMaxStages;
}

// Barriers of 8 bytes, and what the warps tell each other.
inline constexpr int kFullAt = kTilesBytes, kEmptyAt = kFullAt + 8 * kMaxStages;
inline constexpr int kUnitFullAt = kEmptyAt + 8 * kMaxStages, kUnitEmptyAt = kUnitFullAt + 8 * kQueuedUnits;
inline constexpr int kUnitsAt = kUnitEmptyAt + 8 * kQueuedUnits;
inline constexpr int kSeenAt = kUnitsAt + kQueuedUnits * kQueuedUnitBytes;
inline constexpr int kAlignment = 1024;  // the period of the TMA's swizzle
inline constexpr int kFactorsAt = kSeenAt + 16;  // of each consumer warp
inline constexpr int kFactorsBytes = 16;
inline constexpr int kUsedBytes = kFactorsAt + kConsumerWarps * kFactorsBytes;
inline constexpr int kWorkerBytes = (kUsedBytes + kAlignment - 1) / kAlignment * kAlignment;
// Of a CTA; the last to align the start.
SKGEMM_HD constexpr int bytes(int workers) { return workers * kWorkerBytes + kAlignment; }
static_assert(bytes(kMostWorkers) <= 227 << 10, "shared memory of one CTA on sm_90");

}  // namespace skgemm::dmma_smem
