#include "src/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace skgemm::cli {

Progress::Progress(size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(size_t done, const std::string& words) {
  using std::chrono::duration;
  const Clock::time_point now = Clock::now();
  const double since_last = duration<double>(now - last_).count();
  if (since_last < (terminal_ ? 0.1 : 10.0) && done < total_) return;
  last_ = now;
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const double seconds = duration<double>(now - begin_).count();
  const double left = done > 0 ? seconds / share - seconds : 0;
  const std::string figures = fmt::format("{}/{}  {:.0f} s, {:.0f} s left  {}", done, total_, seconds, left, words);
  if (!terminal_) return fmt::print(stderr, "{}\n", figures);
  constexpr int kBar = 30;
  const auto full = static_cast<size_t>(share * kBar);
  std::string bar;
  for (size_t i = 0; i < kBar; ++i) bar += i < full ? "━" : i == full ? "╸" : " ";
  fmt::print(stderr, "\r\x1b[K{} {}", bar, figures);
  std::fflush(stderr);
}

}  // namespace skgemm::cli
