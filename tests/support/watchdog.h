// A deadline for one test: when it passes, the process says which test hung and aborts, so that a hang is a failure.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace skgemm::test {

class Watchdog {
 public:
  Watchdog(std::string name, std::chrono::milliseconds limit);
  ~Watchdog();  // in time: nothing happens
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace skgemm::test
