// Copies operands into lines that the TMA can take (aligned_copy.h), at the rate of memory. One launch for both
// operands of a product, each by some of the CTAs (two launches under a limit of one).
#pragma once
#include "kernels/aligned_copy.h"
#include "kernels/aligned_read.cuh"
#include "kernels/element.cuh"
#include "kernels/ptx/dependent_launch.cuh"

namespace skgemm {

struct AlignParams {
  CopyJobs copies;
  Scalar alpha;  // of the product: when it is 0 there is nothing to read (BLAS), and the copies are not read either
};

// A lane's part of a segment.
struct CopyPart {
  const char* from;  // its first piece, a multiple of 16 bytes
  char* to;
  int left;   // bytes from there to the end of the matrix, or all that the lane reads
  int shift;  // bytes of a piece ahead of the first element
  int step;   // bytes from a piece to the next
  int count;  // pieces
};

__device__ __forceinline__ CopyPart part_of(const CopyJob& x, const CopyWalk& at, int lane) {
  const int64_t entry = x.entries == 1 ? 0 : at.line / x.lines, row = at.line - entry * x.lines;
  const char* const matrix = x.from + entry * x.batch_pitch;
  const char* const from = matrix + row * x.pitch;
  const char* const end = matrix + (x.lines - 1) * x.pitch + x.along * 2;
  const int64_t pieces = pieces_of(x.along), first = int64_t{at.segment} * (kCopyTogether * x.lanes) + lane;
  CopyPart part;
  part.shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
  part.from = from - part.shift + 16 * first;
  part.to = x.to + at.line * x.to_pitch + 16 * first;
  part.step = 16 * x.lanes;
  part.left = static_cast<int>(min(end - part.from, int64_t{kCopyTogether * 32 * 16}));
  part.count = 0;
#pragma unroll
  for (int i = 0; i < kCopyTogether; ++i) part.count += first + i * x.lanes < pieces;
  return part;
}

// All loads are under way before the first is waited for. What lies at the matrix's end and behind is not read, and
// zero. Between lines there may be anything: the TMA does not load it.
__device__ __forceinline__ void copy(const CopyPart& x) {
  uint32_t word[kCopyTogether][8] = {};
#pragma unroll
  for (int i = 0; i < kCopyTogether; ++i) {
    if (i >= x.count) break;
    const auto* const piece = reinterpret_cast<const uint4*>(x.from + i * x.step);
    if (i * x.step + 16 <= x.left) put_piece(word[i], piece[0]);
    if (i * x.step + 32 <= x.left) put_piece(word[i] + 4, piece[1]);
  }
  const int last = x.left & ~15;
  if (x.left > 0 && last < x.left) {
    const uint4 elements = read_elements(x.from + last, (x.left - last) / 2);
#pragma unroll
    for (int i = 0; i < kCopyTogether; ++i) {
      if (i * x.step == last) put_piece(word[i], elements);
      if (i * x.step + 16 == last) put_piece(word[i] + 4, elements);
    }
  }
#pragma unroll
  for (int i = 0; i < kCopyTogether; ++i) {
    if (i >= x.count) break;
    shift_down(word[i], x.shift);
    *reinterpret_cast<uint4*>(x.to + i * x.step) = first_piece(word[i]);
  }
}

__global__ void __launch_bounds__(kCopyThreads) align_lines(const __grid_constant__ AlignParams p) {
  ptx::let_next_grid_start();
  const int cta = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const CopyJob& x = p.copies.of_cta(cta);
  const int lane = thread % x.lanes;
  CopyWalk walk(x, cta, thread / x.lanes);
  ptx::wait_for_grids_before();
  if (read_scalar<float>(p.alpha) == 0) return;
  for (; !walk.ends(x); walk.advance(x)) copy(part_of(x, walk, lane));
}

}  // namespace skgemm
