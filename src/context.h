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
};

namespace skgemm {

// The memory of a destroyed handle is never given back, so that asking a destroyed handle whether it is live is no read
// of freed memory. It becomes a new handle only when this many were destroyed after it: destroying a handle twice must
// not destroy the one made in between.
inline constexpr size_t kHandlesBetweenUses = 1024;
skgemm_context* make_context(int device);
// False when the handle is NULL or not live.
bool discard_context(skgemm_context* context);
bool is_live(const skgemm_context* context);

}  // namespace skgemm
