// What a launch hands to the fp64 kernels: the operands as lines, and the run-time shape of the tile.
#pragma once
#include <cuda.h>

#include "kernels/dmma_smem.h"
#include "kernels/launch.h"

namespace skgemm {

// A batch of matrices of lines (rows or columns whose elements are neighbours).
struct CopiedLines {
  CUtensorMap map;  // boxed: of boxes of a block, or of all lines of a stage where they are k-major
  bool boxed;       // the TMA takes it
  const char* data;
  int64_t pitch, batch_pitch;  // bytes
  int64_t extent;              // rows of X, columns of Y
};

struct DmmaParams {
  CopiedLines x, y;
  bool wide;      // both operands can be copied 16 bytes at a time
  bool c_vector;  // columns of C start at multiples of 16 bytes
  bool swapped;   // columns of C run along columns of X*Y, not rows
  char* c;
  int64_t c_pitch, c_batch_pitch;  // bytes
  int last_k;                      // elements of k in a tile's last step
  ShortSchedule schedule;
  int width;
  int stages;
  Scalar alpha, beta;
  uint32_t* counters;
  void* slots;
};

// The address of the kernel's instantiation, as cudaLaunchKernel wants it.
const void* dmma_function(bool x_k_major, bool y_k_major);

int launch_dmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                CUstream_st* stream);

}  // namespace skgemm
