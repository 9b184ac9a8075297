#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <fstream>

#include "src/cli/device.h"
#include "src/look_at.h"

namespace skgemm::cli {
namespace {

std::string version_words(int version) {
  return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// The kernel module's own version; containers show it too.
std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  file >> version;
  return version;
}

DeviceInfo describe(int device) {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, device);
  const DeviceModel model = gpu::look_at(device);
  return {model, static_cast<int64_t>(properties.totalGlobalMem), model.compute_capability >= 80};
}

}  // namespace

Machine find_machine() {
  Machine machine;
  int cuda_driver = 0, cuda_runtime = 0, count = 0;
  cudaDriverGetVersion(&cuda_driver);
  cudaRuntimeGetVersion(&cuda_runtime);
  machine.driver = driver_version();
  machine.cuda_driver = version_words(cuda_driver);
  machine.cuda_runtime = version_words(cuda_runtime);
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (cuda_driver == 0) {
    machine.why_none = "no NVIDIA driver is loaded (libcuda.so.1 was not found)";
  } else if (error != cudaSuccess) {
    machine.why_none = fmt::format("the CUDA runtime says: {}", cudaGetErrorString(error));
  }
  for (int device = 0; error == cudaSuccess && device < count; ++device) machine.devices.push_back(describe(device));
  return machine;
}

bool built_with_cuda() { return true; }
std::string built_architectures() { return SKGEMM_BUILT_ARCHITECTURES; }

}  // namespace skgemm::cli
