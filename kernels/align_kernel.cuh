// Copies operands into lines that the TMA can take (aligned_copy.h), at the rate of memory. One launch for both
// operands of a product.
#pragma once
#include "kernels/aligned_read.cuh"
#include "kernels/element.cuh"
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/types.h"

namespace skgemm {

inline constexpr int kAlignThreads = 256;

struct AlignJob {
  const char* from;
  char* to;
  int64_t pitch, batch_pitch, to_pitch;  // bytes
  int64_t lines, entries;                // of an entry; how many
  int64_t along;                         // elements of a line
  int lanes;                             // that share a line: 8, 16 or 32
};
struct AlignParams {
  AlignJob job[2];
  int jobs;
  Scalar alpha;  // of the product: when it is 0 there is nothing to read (BLAS), and the copies are not read either
};

__device__ __forceinline__ void align_line(const AlignJob& x, int64_t line, int lane) {
  constexpr int kTogether = 4;
  const int64_t entry = x.entries == 1 ? 0 : line / x.lines, row = line - entry * x.lines;
  const char* const matrix = x.from + entry * x.batch_pitch;
  const char* const from = matrix + row * x.pitch;
  const char* const end = matrix + (x.lines - 1) * x.pitch + x.along * 2;
  const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
  const char* const aligned = from - shift;
  char* const to = x.to + line * x.to_pitch;
  const int64_t pieces = ceil_div(x.along, 8);
  for (int64_t first = lane; first < pieces; first += kTogether * x.lanes) {
    uint32_t word[kTogether][8];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int64_t piece = first + i * x.lanes;
      if (piece >= pieces) break;
      put_piece(word[i], read_piece(aligned + 16 * piece, end));
      put_piece(word[i] + 4, read_piece(aligned + 16 * piece + 16, end));
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int64_t piece = first + i * x.lanes;
      if (piece >= pieces) break;
      shift_down(word[i], shift);
      *reinterpret_cast<uint4*>(to + 16 * piece) = first_piece(word[i]);
    }
  }
}

__global__ void __launch_bounds__(kAlignThreads) align_lines(const __grid_constant__ AlignParams p) {
  ptx::let_next_grid_start();
  ptx::wait_for_grids_before();
  if (read_scalar<float>(p.alpha) == 0) return;
  for (int j = 0; j < p.jobs; ++j) {
    const AlignJob& x = p.job[j];
    const int per_cta = kAlignThreads / x.lanes;
    const int lane = static_cast<int>(threadIdx.x) % x.lanes, team = static_cast<int>(threadIdx.x) / x.lanes;
    // The second operand from the last CTA on, which has the fewest lines of the first.
    const int64_t cta = j == 0 ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
    const int64_t step = int64_t{gridDim.x} * per_cta;
    for (int64_t line = cta * per_cta + team; line < x.lines * x.entries; line += step) align_line(x, line, lane);
  }
}

}  // namespace skgemm
