// The devices of this machine as the tool sees them. Two implementations: device_cuda.cpp and, in a build without CUDA,
// device_none.cpp.
#pragma once
#include <string>
#include <vector>

#include "heuristics/device_model.h"

namespace skgemm::cli {

struct DeviceInfo {
  DeviceModel model;
  int64_t memory_bytes;
  bool usable;  // sm_80 or later
};

struct Machine {
  std::vector<DeviceInfo> devices;
  std::string why_none;      // when devices is empty: one sentence
  std::string driver;        // "580.159.03", "" when there is none
  std::string cuda_driver;   // CUDA version the driver supports, "13.0"
  std::string cuda_runtime;  // that this build uses
};
Machine find_machine();

// Whether this build has a GPU part, and for which architectures: "80 90a-real".
bool built_with_cuda();
std::string built_architectures();

}  // namespace skgemm::cli
