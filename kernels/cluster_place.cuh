// Which part of a cluster's tile a CTA computes, and which of its neighbours' loads it shares. CTA r of a cluster of
// rows x columns CTAs has part (r % rows, r / rows): those of one row use the same 128 rows of X, those of one column
// the same columns of Y. Each loads an equal part of both operands into all CTAs that use them.
#pragma once
#include "kernels/wgmma_params.h"

namespace skgemm {

// All from blockIdx, which the compiler knows to be the same for all threads.
struct ClusterPlace {
  int worker;  // number of the cluster in the grid
  int rank, row, column;

  __device__ __forceinline__ explicit ClusterPlace(const WgmmaParams& p) {
    const int block = static_cast<int>(blockIdx.x), row_bits = log2(p.cluster_rows);
    const int bits = row_bits + log2(p.cluster_columns);
    worker = block >> bits;
    rank = block - (worker << bits);
    column = rank >> row_bits;
    row = rank - (column << row_bits);
  }

  // Of 1, 2 or 4.
  static __device__ __forceinline__ int log2(int extent) { return extent >> 1; }

  // This CTA and the others that use the same rows of X, or columns of Y, each a bit.
  __device__ __forceinline__ uint32_t sharing_x(const WgmmaParams& p) const { return p.sharing_x << row; }
  __device__ __forceinline__ uint32_t sharing_y(const WgmmaParams& p) const {
    return p.sharing_y << column * p.cluster_rows;
  }
};

}  // namespace skgemm
