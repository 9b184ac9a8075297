// gpu.h in a build without CUDA: there is no device, and that is said in words.
#include "src/gpu.h"

namespace skgemm::gpu {
namespace {

constexpr const char* kWhyNot =
    "this libskgemm was built without CUDA: build it where nvcc is on PATH (SKGEMM_CUDA=ON) to use a GPU";

}  // namespace

Availability availability() { return {false, kWhyNot}; }
bool initialized() { return false; }

int current_device() { return -1; }
bool on_current_device(CUstream_st*) { return false; }

const DeviceModel& device_model(int) {
  static const DeviceModel none{};
  return none;
}

Status ready(int) { return Status::no_device(kWhyNot); }

DeviceScope::DeviceScope(int) : before_(-1) {}
DeviceScope::~DeviceScope() = default;

Memory memory_of(const void*) { return Memory::host; }
bool reachable(const void*) { return false; }

Status gemm(const GemmCall&, const LaunchContext&, Plan*) { return Status::no_device(kWhyNot); }
Status plan(const GemmCall&, const LaunchContext&, Plan*) { return Status::no_device(kWhyNot); }
Status gemm_staged(const GemmCall&, bool* c_dirty) {
  *c_dirty = false;
  return Status::no_device(kWhyNot);
}
std::optional<LinkModel> link_model() { return std::nullopt; }

}  // namespace skgemm::gpu
