// Measures cases on the current device. Two implementations: bench_runner_cuda.cpp and, in a build without CUDA,
// bench_runner_none.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/cli/bench_sweep.h"

namespace skgemm::cli {

struct RunnerOptions {
  bool cublas = true;
  std::string cublas_path;  // "" : where the loader finds it
  bool schedules = false;   // also each forced schedule
  int repeats = 3;
  unsigned watchdog_s = 60;  // of a sweep's single plans
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Part, driver, CUDA, cuBLAS, clock.
  virtual Header header() const = 0;
  // What the host's time went to so far.
  virtual std::string spent() const = 0;
  // Both throw std::runtime_error when the device can't go on. `check`: the results against fp64 sums.
  virtual Result run(const BenchCase& c, bool check) = 0;
  // The model's choice and what could be forced instead.
  virtual Sweep sweep(const BenchCase& c, bool check) = 0;
};

// Allocates pools large enough for all of the cases. Throws UsageError where there is nothing to run on.
std::unique_ptr<Runner> make_runner(const RunnerOptions& options, const std::vector<BenchCase>& cases);

}  // namespace skgemm::cli
