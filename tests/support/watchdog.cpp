// The thread behind a deadline.
#include "tests/support/watchdog.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace skgemm::test {

Watchdog::Watchdog(std::string name, std::chrono::milliseconds limit)
    : thread_([this, name = std::move(name), limit] {
        std::unique_lock lock(mutex_);
        if (done_.wait_for(lock, limit, [this] { return finished_; })) return;
        std::fprintf(stderr, "HANG: %s did not finish within %lld ms; aborting\n", name.c_str(),
                     static_cast<long long>(limit.count()));
        std::fflush(nullptr);
        std::abort();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  done_.notify_all();
  thread_.join();
}

}  // namespace skgemm::test
