// Copies of operands whose lines start at any address, with lines that start where the TMA wants them.
#pragma once
#include "kernels/types.h"

namespace skgemm {

struct AlignedCopy {
  int64_t pitch, bytes;  // from line to line; of one batch entry, a multiple of 256
};

// Of `lines` lines of `along` two-byte elements. Whole sectors of 32 bytes, so that lines are not written in halves.
SKGEMM_HD constexpr AlignedCopy aligned_copy(int64_t along, int64_t lines) {
  const int64_t pitch = ceil_div(along * 2, 32) * 32;
  return {pitch, ceil_div(pitch * lines, 256) * 256};
}

}  // namespace skgemm
