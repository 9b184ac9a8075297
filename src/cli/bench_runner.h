// Measures cases on the current device. Two implementations: bench_runner_cuda.cpp and, in a build without CUDA,
// bench_runner_none.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/cli/bench_report.h"

namespace skgemm::cli {

struct RunnerOptions {
  bool cublas = true;
  std::string cublas_path;  // "" : where the loader finds it
  bool schedules = false;   // also each forced schedule
  int repeats = 3;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Part, driver, CUDA, cuBLAS, clock.
  virtual Header header() const = 0;
  // Throws std::runtime_error when the device can't go on.
  virtual Result run(const BenchCase& c) = 0;
};

// Allocates pools large enough for all of the cases. Throws UsageError where there is nothing to run on.
std::unique_ptr<Runner> make_runner(const RunnerOptions& options, const std::vector<BenchCase>& cases);

}  // namespace skgemm::cli
