// Where one side of a ring of barriers stands: the barrier, and the parity of the phase that it is in there.
#pragma once
#include <cstdint>

namespace skgemm {

struct RingPosition {
  int at = 0;
  uint32_t phase = 0;

  __device__ __forceinline__ void advance(int barriers) {
    if (++at == barriers) {
      at = 0;
      phase ^= 1;
    }
  }
};

}  // namespace skgemm
