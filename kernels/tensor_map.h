// Matrices as tensors for the TMA (cuTensorMapEncodeTiled, CUDA driver API).
#pragma once
#include <cuda.h>

#include "kernels/line_starts.h"
#include "kernels/types.h"

namespace skgemm {

// A batch of matrices of lines whose elements are neighbours.
struct TensorLines {
  LineStarts starts;
  int64_t along, lines, batch;  // elements of a line, lines, entries
};

// Whether the driver that is loaded can encode tensors.
bool has_tensor_maps();
// Whether the TMA can take such lines.
bool tma_takes(const LineStarts& x);
// Of such lines, in boxes of 128 bytes by box_lines, the box's 16-byte pieces permuted by the 128-byte swizzle. Returns
// a cudaError_t as int.
int encode_map(CUtensorMap* map, DataType type, const TensorLines& x, int box_lines);

}  // namespace skgemm
