#include "src/cli/bench_runner.h"
#include "src/cli/command.h"

namespace skgemm::cli {

std::unique_ptr<Runner> make_runner(const RunnerOptions&, const std::vector<BenchCase>&) {
  throw UsageError(
      "bench needs a GPU, and this build has no GPU part (configure with -DSKGEMM_CUDA=ON where nvcc is installed)");
}

}  // namespace skgemm::cli
