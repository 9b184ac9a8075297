// Where the lines of a batch of matrices start.
#pragma once
#include <cstdint>

namespace skgemm {

struct LineStarts {
  const void* data;
  int64_t pitch, batch_pitch;  // bytes; from entry to entry 0 where there is one
};

// From here on the TMA takes no pitch, bytes (cuTensorMapEncodeTiled, CUDA driver API).
inline constexpr int64_t kTmaPitchEnd = int64_t{1} << 40;

// Whether every line of every batch entry starts at a multiple of `bytes`.
inline bool aligned(const LineStarts& x, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(x.data) % static_cast<uintptr_t>(bytes) == 0 && x.pitch % bytes == 0 &&
         x.batch_pitch % bytes == 0;
}

}  // namespace skgemm
