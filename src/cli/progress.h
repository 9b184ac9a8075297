// How far a long run is: a bar with the time left on a terminal, a line every ten seconds elsewhere. On stderr.
#pragma once
#include <chrono>
#include <string>

namespace skgemm::cli {

class Progress {
 public:
  explicit Progress(size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total are done; `words` says what was last.
  void show(size_t done, const std::string& words);

 private:
  using Clock = std::chrono::steady_clock;
  size_t total_;
  bool terminal_;
  Clock::time_point begin_ = Clock::now(), last_{};
};

}  // namespace skgemm::cli
