// C = alpha*sums + beta*C for a tile's fp64 sums, straight from registers: where columns of C start at multiples of 16
// bytes, each store of a warp writes whole sectors.
#pragma once
#include "kernels/mainloop_f64_dmma.cuh"

namespace skgemm {

struct DmmaFactors {
  double alpha, beta;
};

// Where a thread's sums of a block of 16x16 lie in the tile: the first of its pair along the mma's rows, and of the
// first pair along its columns.
struct DmmaPlace {
  int row, column;  // of the mma

  // Block `number` of the warp, which has width/16 of them: of its 32 rows of X, column by column of Y.
  template <bool kYRows>
  static __device__ __forceinline__ DmmaPlace of(int thread, int number, int width) {
    const int warp = thread / 32, lane = thread % 32;
    const int block = warp / 2 * dmma_smem::blocks_of_warp(width) + number;
    const int x = warp % 2 * 32 + block % 2 * 16, y = block / 2 * 16;
    return {(kYRows ? y : x) + 2 * dmma_smem::pair_of(lane / 4),
            (kYRows ? x : y) + 2 * dmma_smem::pair_of(lane % 4 * 2)};
  }
};

// Two neighbouring elements of a column of C.
struct PairOfC {
  double* at;
  int exist;  // of the two

  __device__ __forceinline__ double2 read(bool vector) const {
    double2 v{};
    if (vector && exist >= 2) return *reinterpret_cast<const double2*>(at);
    if (exist > 0) v.x = at[0];
    if (exist > 1) v.y = at[1];
    return v;
  }
  __device__ __forceinline__ void write(const double2& v, bool vector) const {
    if (vector && exist >= 2) {
      *reinterpret_cast<double2*>(at) = v;
      return;
    }
    if (exist > 0) at[0] = v.x;
    if (exist > 1) at[1] = v.y;
  }
};

// A block's four pairs. Columns of C run along the mma's rows (kAlongRows) or along its columns.
template <bool kAlongRows>
struct BlockOfC {
  static constexpr int kPairs = 4;
  const DmmaParams& p;
  const Output& c;
  DmmaPlace place;

  __device__ __forceinline__ PairOfC pair(int i) const {
    // mma columns 2t and 2t + 1 are pairs that differ in two bits: see pair_of.
    const int odd = i / 2, second = i % 2, column = odd ? place.column ^ 6 : place.column;
    const int line = (kAlongRows ? column : place.row) + second, along = kAlongRows ? place.row : column;
    return {reinterpret_cast<double*>(c.c + line * p.c_pitch) + along, line < c.lines ? c.along - along : 0};
  }
  static __device__ __forceinline__ double2 values(const double* sums, int i) {
    const int odd = i / 2, second = i % 2;
    return kAlongRows ? double2{sums[4 * second + odd], sums[4 * second + 2 + odd]}
                      : double2{sums[2 * second + odd], sums[4 + 2 * second + odd]};
  }
};

template <bool kSwapped, bool kYRows, bool kReadC>
__device__ __forceinline__ void store_blocks(const DmmaParams& p, const double (&sums)[kDmmaSums], const Output& c,
                                             const DmmaFactors& by, int thread) {
  const int blocks = dmma_smem::blocks_of_warp(p.width);
#pragma unroll
  for (int b = 0; b < kDmmaSums / kSumsOfBlock; ++b) {
    if (b >= blocks) break;
    using Block = BlockOfC<kSwapped == kYRows>;
    const Block block{p, c, DmmaPlace::of<kYRows>(thread, b, p.width)};
    double2 before[Block::kPairs];
    if constexpr (kReadC) {
#pragma unroll
      for (int i = 0; i < Block::kPairs; ++i) before[i] = block.pair(i).read(p.c_vector);
    }
#pragma unroll
    for (int i = 0; i < Block::kPairs; ++i) {
      double2 v = Block::values(sums + b * kSumsOfBlock, i);
      v = {by.alpha * v.x, by.alpha * v.y};
      if constexpr (kReadC) v = {v.x + by.beta * before[i].x, v.y + by.beta * before[i].y};
      block.pair(i).write(v, p.c_vector);
    }
  }
}

}  // namespace skgemm
