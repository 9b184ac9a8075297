// Ends the process with the case's name when one case hangs: a kernel that never ends can't be stopped from inside.
#pragma once
#include <string_view>

namespace skgemm::cli {

class Watchdog {
 public:
  // 0 seconds: never.
  Watchdog(std::string_view words, unsigned seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

inline constexpr int kHangStatus = 3;  // exit status after a hang

}  // namespace skgemm::cli
