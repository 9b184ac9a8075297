#include "src/cli/device.h"

namespace skgemm::cli {

Machine find_machine() {
  return {.devices = {},
          .why_none = "this build has no GPU part (configure with -DSKGEMM_CUDA=ON where nvcc is installed)",
          .driver = "",
          .cuda_driver = "",
          .cuda_runtime = ""};
}

bool built_with_cuda() { return false; }
std::string built_architectures() { return ""; }

}  // namespace skgemm::cli
