// C = alpha*sums + beta*C for a tile's fp64 sums, straight from registers: where columns of C start at multiples of 16
// bytes, each store of a warp writes whole sectors.
#pragma once
#include "kernels/mainloop_f64_dmma.cuh"

namespace skgemm {

struct DmmaFactors {
  double alpha, beta;
};

// Where in C a thread's sums go. Of a block of 16x16 it has four pairs of neighbours along a column of C: pair 2*o + s
// is s columns of C and o*odd_* from pair 0.
template <bool kSwapped, bool kYRows>
class DmmaPlaces {
  // Columns of C run along the mma's rows, or along its columns.
  static constexpr bool kAlongRows = kSwapped == kYRows;
  static constexpr int kSteps = 2;  // a warp's blocks follow each other by these in turn

 public:
  static constexpr int kPairs = 4;

  __device__ __forceinline__ DmmaPlaces(const DmmaParams& p, const Output& c, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    const int row = 2 * dmma_smem::pair_of(lane / 4), column = 2 * dmma_smem::pair_of(lane % 4 * 2);
    const bool shares_k = dmma_smem::shares_k(p.width);
    const int x = (kYRows ? column : row) + warp % 2 * 32 + (shares_k ? warp / 2 * dmma_smem::kBlock : 0);
    const int y = (kYRows ? row : column) + (shares_k ? 0 : warp / 2 * (p.width / 2));
    const int along = kSwapped ? y : x, line = kSwapped ? x : y;
    // mma columns 2t and 2t + 1 are pairs that differ in two bits: see pair_of.
    const int odd = (column ^ 6) - column;
    pitch_ = p.c_pitch;
    at_ = c.c + line * pitch_ + along * 8;
    odd_bytes_ = kAlongRows ? odd * pitch_ : odd * 8;
    odd_ = odd;
    left_along_ = c.along - along;
    left_lines_ = c.lines - line;
    const int by_x = shares_k ? 0 : dmma_smem::kBlock, by_y = dmma_smem::kBlock;
    step_x_[0] = by_x;
    step_x_[1] = -by_x;
    step_y_[0] = shares_k ? by_y : 0;
    step_y_[1] = by_y;
  }

  __device__ __forceinline__ double* pair(int i) const {
    return reinterpret_cast<double*>(at_ + (i / 2 == 0 ? 0 : odd_bytes_) + (i % 2 == 0 ? 0 : pitch_));
  }
  // How many elements of it exist.
  __device__ __forceinline__ int exist(int i) const {
    const int odd = i / 2 == 0 ? 0 : odd_;
    return i % 2 < left_lines_ - (kAlongRows ? odd : 0) ? left_along_ - (kAlongRows ? 0 : odd) : 0;
  }
  // From the warp's block `number` to the next.
  __device__ __forceinline__ void advance(int number) {
    const int x = step_x_[number % kSteps], y = step_y_[number % kSteps];
    const int along = kSwapped ? y : x, lines = kSwapped ? x : y;
    at_ += lines * pitch_ + along * 8;
    left_along_ -= along;
    left_lines_ -= lines;
  }

  static __device__ __forceinline__ double2 values(const double* sums, int i) {
    const int odd = i / 2, second = i % 2;
    return kAlongRows ? double2{sums[4 * second + odd], sums[4 * second + 2 + odd]}
                      : double2{sums[2 * second + odd], sums[4 + 2 * second + odd]};
  }

 private:
  char* at_;
  int64_t pitch_, odd_bytes_;
  int odd_, left_along_, left_lines_;
  int step_x_[kSteps], step_y_[kSteps];
};

// kVectors: all of the tile exists, and pairs lie at multiples of 16 bytes. C is read and written as global memory,
// which the compiler can't know of an address that it finds in shared memory.
template <bool kSwapped, bool kYRows, bool kReadC, bool kVectors>
__device__ __forceinline__ void store_blocks(const DmmaParams& p, const double (&sums)[kDmmaSums], const Output& c,
                                             const DmmaFactors& by, int thread) {
  using Places = DmmaPlaces<kSwapped, kYRows>;
  const int blocks = dmma_smem::blocks_of_warp(p.width);
  Places places(p, c, thread);
#pragma unroll
  for (int b = 0; b < kDmmaSums / kSumsOfBlock; ++b) {
    if (b >= blocks) break;
    double2 before[Places::kPairs] = {};
    if constexpr (kReadC) {
#pragma unroll
      for (int i = 0; i < Places::kPairs; ++i) {
        const double* const from = places.pair(i);
        if constexpr (kVectors) {
          before[i] = __ldcg(reinterpret_cast<const double2*>(from));
        } else {
          if (places.exist(i) > 0) before[i].x = __ldcg(from);
          if (places.exist(i) > 1) before[i].y = __ldcg(from + 1);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Places::kPairs; ++i) {
      double2 v = Places::values(sums + b * kSumsOfBlock, i);
      v = {by.alpha * v.x, by.alpha * v.y};
      if constexpr (kReadC) v = {v.x + by.beta * before[i].x, v.y + by.beta * before[i].y};
      double* const to = places.pair(i);
      if constexpr (kVectors) {
        __stcg(reinterpret_cast<double2*>(to), v);
      } else {
        if (places.exist(i) > 0) __stcg(to, v.x);
        if (places.exist(i) > 1) __stcg(to + 1, v.y);
      }
    }
    places.advance(b);
  }
}

}  // namespace skgemm
