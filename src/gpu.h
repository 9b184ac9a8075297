// The GPU as the rest of the library sees it: can it be used, what is it, and run this call on it. Two implementations:
// gpu.cpp on the CUDA runtime, gpu_none.cpp in a build without CUDA. No CUDA header is included here.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "heuristics/select.h"
#include "src/gemm_call.h"
#include "src/status.h"

struct CUstream_st;

namespace skgemm::gpu {

// Whether there is a device to run on; the first call asks the driver and its answer is remembered (design D16). In a
// child after fork always false. `why_not` is then one sentence for logs and errors.
struct Availability {
  bool usable;
  std::string why_not;
};
Availability availability();
// True once the driver has been asked and a device found: whether a pointer may be a device pointer at all.
bool initialized();

// The current device's model, measured attributes and its number; only when availability().usable.
int current_device();
const DeviceModel& device_model(int device);

// Where a pointer lives. Never initialises CUDA: before that, every pointer is host memory.
enum class Memory { host, device, managed };
Memory memory_of(const void* pointer);

// What one call needs besides its operands.
struct LaunchContext {
  CUstream_st* stream = nullptr;
  Limits limits;
  void* workspace = nullptr;     // the user's, else nullptr: leased from the library's own
  size_t workspace_bytes = 0;
};
// The spine (validated device-pointer call -> degenerate | plan -> lease -> launch). Asynchronous.
Status gemm(const GemmCall& call, const LaunchContext& context, Plan* planned = nullptr);
// The plan alone. Uses the current device.
Status plan(const GemmCall& call, const LaunchContext& context, Plan* out);

// Host operands through the device in pipelined panels (src/host/staging.cpp). Synchronous. On failure C may have been
// partly written only when *c_dirty is set.
Status gemm_staged(const GemmCall& call, bool* c_dirty);
// Bytes per second over the link and flop/s of the kernels, for the offload decision; measured once, lazily.
struct LinkModel {
  double to_device_gbs, from_device_gbs, startup_us;
};
std::optional<LinkModel> link_model();

}  // namespace skgemm::gpu
