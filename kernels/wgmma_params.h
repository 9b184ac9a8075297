// What a launch hands to the wgmma kernels: the operands and C as tensors, and the run-time shape of the tile.
#pragma once
#include <cuda.h>

#include "kernels/launch.h"
#include "kernels/wgmma_smem.h"

namespace skgemm {

// A batch of matrices of lines (rows or columns whose elements are neighbours).
struct Lines {
  CUtensorMap map;
  const char* data;
  int64_t pitch, batch_pitch;  // bytes
  int box_lines;               // of the boxes that a CTA loads
  // Of a stage CTAs that share an operand load equal parts, each as many boxes of 64 elements by box_lines. A part
  // begins so many lines, elements of a line, and bytes of the stage, behind the one before.
  int part_blocks, part_lines, part_along, part_bytes;
};

struct WgmmaParams {
  Lines x, y;
  char* c;
  int64_t c_pitch, c_batch_pitch;  // bytes
  bool c_vector;                   // columns of C start at multiples of 16 bytes: two warps store C apart; else, where
                                   // that takes longer, all consumers do
  bool swapped;                    // columns of C run along columns of X*Y, not rows
  DataType out;
  ShortSchedule schedule;
  int rows, columns;  // of the product X*Y
  int cluster_rows, cluster_columns;  // CTAs of a cluster along the rows and along the columns
  uint32_t sharing_x, sharing_y;      // those that use the first's rows, and its columns, each a bit
  int width;                          // columns of one CTA's part of a tile
  int loaded;            // loaded_width
  int stages, stage_bytes;
  int chunks;            // buffers of each warpgroup for results on their way to C
  bool reads;            // A and B, as far as the host knows: alpha != 0
  bool alpha_known;      // to the host
  bool prefetches;       // the first k-steps, before the grids ahead have ended
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

inline const void* wgmma_function(DataType in, bool x_k_major, bool y_k_major) {
  return in == DataType::f16 ? wgmma_function<DataType::f16>(x_k_major, y_k_major)
                             : wgmma_function<DataType::bf16>(x_k_major, y_k_major);
}

int launch_wgmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                 CUstream_st* stream);
// What launch_wgmma launches besides the kernels of the types, and its loading.
const void* align_function();
int prepare_wgmma();

}  // namespace skgemm
