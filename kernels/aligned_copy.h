// Copies of operands whose lines start at any address, with lines that start where the TMA wants them.
#pragma once
#include "kernels/types.h"

namespace skgemm {

struct AlignedCopy {
  int64_t pitch, bytes;  // from line to line; of one batch entry, a multiple of 256
};

inline constexpr int kCopyAlignment = 32;  // bytes, of lines: whole sectors, so that none is written in halves

// Of `lines` lines of `along` two-byte elements.
SKGEMM_HD constexpr AlignedCopy aligned_copy(int64_t along, int64_t lines) {
  const int64_t pitch = ceil_div(along * 2, kCopyAlignment) * kCopyAlignment;
  return {pitch, ceil_div(pitch * lines, 256) * 256};
}

}  // namespace skgemm
