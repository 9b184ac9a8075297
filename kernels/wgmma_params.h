// What a launch hands to the wgmma kernels: the operands and C as tensors, and the run-time shape of the tile.
#pragma once
#include <cuda.h>

#include "kernels/launch.h"
#include "kernels/wgmma_smem.h"

namespace skgemm {

// A batch of matrices of lines (rows or columns whose elements are neighbours).
struct Lines {
  CUtensorMap map;  // when `tma`
  const char* data;
  int64_t pitch, batch_pitch;  // bytes
  bool tma;                    // all lines start at multiples of 16 bytes, as the TMA wants them
};

struct WgmmaParams {
  Lines x, y, c;
  Schedule schedule;
  int64_t rows, columns, k;  // of the product X*Y
  int width;                 // columns of a tile
  int loaded;                // loaded_width
  int stages, stage_bytes;
  bool swapped;          // lines of C run along columns of X*Y, not rows
  int c_box_log2_bytes;  // C moves in boxes of this many bytes of a line
  int c_box_lines;       // and so many lines
  DataType out;
  Scalar alpha, beta;
  uint32_t* counters;
  void* slots;
};

template <DataType kIn>
const void* wgmma_function(bool x_k_major, bool y_k_major);
template <>
const void* wgmma_function<DataType::f16>(bool x_k_major, bool y_k_major);
template <>
const void* wgmma_function<DataType::bf16>(bool x_k_major, bool y_k_major);

int launch_wgmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                 CUstream_st* stream);

}  // namespace skgemm
