#include "src/cli/watchdog.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace skgemm::cli {
namespace {

// For the signal handler, which may only read memory and write(2).
char message[256];
volatile std::sig_atomic_t message_length = 0;

void on_alarm(int) {
  const ssize_t written = write(STDERR_FILENO, message, static_cast<size_t>(message_length));
  _exit(written >= 0 ? kHangStatus : 1);
}

}  // namespace

Watchdog::Watchdog(std::string_view words, unsigned seconds) {
  constexpr std::string_view before = "\nskgemm: hangs in ", after = " (see --watchdog)\n";
  const size_t length = std::min(words.size(), sizeof message - before.size() - after.size());
  std::memcpy(message, before.data(), before.size());
  std::memcpy(message + before.size(), words.data(), length);
  std::memcpy(message + before.size() + length, after.data(), after.size());
  message_length = static_cast<std::sig_atomic_t>(before.size() + length + after.size());
  std::signal(SIGALRM, on_alarm);
  alarm(seconds);
}

Watchdog::~Watchdog() { alarm(0); }

}  // namespace skgemm::cli
