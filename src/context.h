// The native handle. Handles are bound to the device that was current when they were made.
#pragma once
#include <atomic>
#include <cstdint>

#include "src/gpu.h"

struct skgemm_context {
  std::atomic<uint32_t> magic{0};
  int device = 0;
  skgemm::PointerMode scalars = skgemm::PointerMode::host;
  skgemm_math_mode_t math = SKGEMM_MATH_DEFAULT;
  skgemm::gpu::LaunchContext launch;
  bool workspace_clear = false;  // the user workspace's counters have been zeroed
};

namespace skgemm {

// The memory of a destroyed handle is kept for the next one and never given back, so that asking a destroyed handle
// whether it is live is no read of freed memory.
skgemm_context* make_context(int device);
// False when the handle is NULL or not live.
bool discard_context(skgemm_context* context);
bool is_live(const skgemm_context* context);

}  // namespace skgemm
