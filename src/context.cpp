#include "src/context.h"

#include <deque>
#include <mutex>

namespace skgemm {
namespace {

constexpr uint32_t kLive = 0x534b474d;  // "SKGM"

// Never destroyed: programs destroy handles in static destructors.
struct Discarded {
  std::mutex mutex;
  std::deque<skgemm_context*> contexts;
};
Discarded& discarded() {
  static Discarded& all = *new Discarded;
  return all;
}

}  // namespace

skgemm_context* make_context(int device) {
  skgemm_context* context = nullptr;
  {
    const std::lock_guard lock(discarded().mutex);
    if (discarded().contexts.size() > kHandlesBetweenUses) {
      context = discarded().contexts.front();
      discarded().contexts.pop_front();
    }
  }
  if (context == nullptr) context = new skgemm_context;
  context->device = device;
  context->scalars = PointerMode::host;
  context->math = SKGEMM_MATH_DEFAULT;
  context->launch = {};
  context->magic.store(kLive, std::memory_order_release);
  return context;
}

bool discard_context(skgemm_context* context) {
  if (context == nullptr || context->magic.exchange(0, std::memory_order_acq_rel) != kLive) return false;
  const std::lock_guard lock(discarded().mutex);
  discarded().contexts.push_back(context);
  return true;
}

bool is_live(const skgemm_context* context) {
  return context != nullptr && context->magic.load(std::memory_order_acquire) == kLive;
}

}  // namespace skgemm
