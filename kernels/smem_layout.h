// Where the elements of an operand's tile lie in shared memory, and which thread copies which. Host+device: the kernel
// addresses by these functions, the catalogue sizes by them, and a test proves that they are free of bank conflicts.
//
// A stage holds one k-step of A's tile, then one of B's. A tile is a set of lines: runs of elements that are contiguous
// in global memory, along k for a k-major operand and along m or n for the other.
#pragma once
#include "kernels/kernel_config.h"

namespace skgemm {

template <DataType kType, bool kKMajor, int kExtent, int kTileK>
struct TileLayout {
  static constexpr int kSize = size_of(kType);
  static constexpr int kLines = kKMajor ? kExtent : kTileK;
  static constexpr int kRun = kKMajor ? kTileK : kExtent;  // elements of a line
  // FFMA wants neighbouring m or n in one 16-byte load, so a k-major fp32 operand is transposed on its way in.
  static constexpr bool kTransposed = kType == DataType::f32 && kKMajor;
  // fp32 lines are padded by 16 bytes: eight k of four rows, one warp's transposing copy, then meet all 32 banks.
  static constexpr int kF32Pitch = (kExtent + 4) * 4;
  static constexpr int kBytes = kType == DataType::f32 ? kTileK * kF32Pitch : kLines * kRun * kSize;

  // Byte offset of element `at` of a line. Tensor-core tiles keep lines dense and permute the 16-byte chunks of a line
  // by XOR, so that the eight rows that one ldmatrix (or one quarter of a 16-byte load) reads lie in different banks.
  SKGEMM_HD static constexpr int offset(int line, int at) {
    if constexpr (kType == DataType::f32) {
      return kKMajor ? at * kF32Pitch + line * 4 : line * kF32Pitch + at * 4;
    } else {
      const int byte = at * kSize;
      return line * kRun * kSize + (((byte >> 4) ^ chunk_key(line)) << 4) + (byte & 15);
    }
  }

  // For a step that has no bit in common with the line, offset(line + step, at) is (offset(line, at) ^ line_flip(step))
  // + line_add(step): one lane-dependent number serves all of a thread's pieces.
  SKGEMM_HD static constexpr int line_flip(int step) { return kType == DataType::f32 ? 0 : chunk_key(step) << 4; }
  SKGEMM_HD static constexpr int line_add(int step) {
    return kType != DataType::f32 ? step * kRun * kSize : kKMajor ? step * 4 : step * kF32Pitch;
  }
  SKGEMM_HD static constexpr int offset_of_k(int k, int mn) { return kKMajor ? offset(mn, k) : offset(k, mn); }

  SKGEMM_HD static constexpr int chunk_key(int line) {
    return kKMajor ? (line >> 1) & 3 : line & 7;
  }
};

template <DataType kType, bool kAKMajor, bool kBKMajor>
struct SmemLayout {
  static constexpr KernelConfig kConfig = config_of(kType);
  using A = TileLayout<kType, kAKMajor, kConfig.tile_m, kConfig.tile_k>;
  using B = TileLayout<kType, kBKMajor, kConfig.tile_n, kConfig.tile_k>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  static constexpr int kBytes = kConfig.stages * kStageBytes;
  static_assert(A::kBytes % 128 == 0 && kStageBytes % 128 == 0,
                "the XOR of chunks works on addresses that are multiples of 128 bytes");

  static constexpr int kBOffset = A::kBytes;  // of B's tile in a stage
};

// How the threads of a CTA share out a tile in pieces of kBytes: thread t copies element at(t) of the lines
// line(t) + i*kLineStep, i = 0..kCount-1.
template <class Layout, int kBytes, int kThreads>
struct CopyShare {
  static constexpr int kElements = kBytes / Layout::kSize;  // of a piece
  static constexpr int kPieces = Layout::kRun / kElements;  // of a line
  static constexpr int kLanes = Layout::kTransposed ? 8
                                : kPieces < 32      ? kPieces
                                                    : 32;  // lanes of a warp along one line
  static constexpr int kWarps = kPieces / kLanes;     // warps along one line
  static constexpr int kLineStep = kThreads / kPieces;
  static constexpr int kCount = Layout::kLines / kLineStep;
  static_assert(kLineStep * kCount == Layout::kLines && kLanes * kWarps == kPieces);
  static_assert(!Layout::kTransposed || kElements == 1, "a transposed tile is copied element by element");

  SKGEMM_HD static constexpr int at(int thread) {
    return (thread % kLanes + kLanes * (thread / 32 % kWarps)) * kElements;
  }
  SKGEMM_HD static constexpr int line(int thread) {
    return thread % 32 / kLanes + 32 / kLanes * (thread / 32 / kWarps);
  }
};

// The share of whole steps: pieces of 16 bytes, or of one element where the tile is transposed.
template <class Layout, int kThreads>
using WholeShare = CopyShare<Layout, Layout::kTransposed ? Layout::kSize : 16, kThreads>;

// The blocks that a warp loads from a tile differ from its first one by constants: offset_of_k(k + dk, mn + dmn) is
// (offset_of_k(k, mn) ^ flip(dmn, dk)) + add(dmn, dk) where dmn and dk have no bit in common with mn and k inside a
// block.
template <class Layout, bool kKMajor>
struct BlockStep {
  static constexpr int kSize = Layout::kSize;
  SKGEMM_HD static constexpr int flip(int mn, int k) { return (kKMajor ? k : mn) * kSize & 127; }
  SKGEMM_HD static constexpr int add(int mn, int k) {
    return kKMajor ? mn * Layout::kRun * kSize : k * Layout::kRun * kSize + (mn * kSize & ~127);
  }
};

// Half types: byte offset in a tile of the row that `lane` gives to ldmatrix.x4 for the block of 16 m or n by 16 k at
// (first_mn, k 0). An mma takes its operands from neighbouring registers, which settles the order of the matrices:
// for the mma's rows (mn 0-7, k 0-7), (mn 8-15, k 0-7), (mn 0-7, k 8-15), (mn 8-15, k 8-15); for its columns the middle
// two are exchanged.
template <class Layout, bool kKMajor, bool kMmaRows>
struct HalfBlock : BlockStep<Layout, kKMajor> {
  SKGEMM_HD static constexpr int lane_offset(int first_mn, int lane) {
    const int low = lane / 8 % 2 * 8, high = lane / 16 * 8;
    const int mn = first_mn + (kMmaRows ? low : high), k = kMmaRows ? high : low;
    return kKMajor ? Layout::offset(mn + lane % 8, k) : Layout::offset(k + lane % 8, mn);
  }
};

}  // namespace skgemm
