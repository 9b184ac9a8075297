// The GPU as the rest of the library sees it: can it be used, what is it, and run this call on it. Two implementations:
// on the CUDA runtime (gpu.cpp the spine, device.cpp the rest) and gpu_none.cpp in a build without CUDA. No CUDA header
// is included here.
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
// Whether a pointer may be a device pointer at all: a device is in use here, or the program has loaded the driver
// itself.
bool initialized();

// The current device's model, measured attributes and its number; only when availability().usable.
int current_device();
const DeviceModel& device_model(int device);

// Whether products can run on a device: NO_DEVICE or ARCH_MISMATCH with words otherwise. The first call loads the
// kernels.
Status ready(int device);

// Whether work in a stream runs on the current device; only when availability().usable.
bool on_current_device(CUstream_st* stream);

// Makes a device current for a scope, and the one before it again afterwards; only when availability().usable.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;  // -1: nothing to go back to
};

// Where a pointer lives. Pinned memory is host memory. Never initialises CUDA in a program that has not done so itself.
// `unknown`: CUDA can't be asked (its context is lost, or the driver is too old for this library) and the CPU can't
// read the address. Treat it like `device`: gemm() and gemm_staged() then fail in words, where a CPU BLAS would fault.
enum class Memory { host, device, managed, unknown };
Memory memory_of(const void* pointer);
// Whether a kernel on the current device can read the address: memory of this device, of another whose peer access is
// on, managed and pinned memory, and all memory where the device shares the host's page tables. About 1 us for a 2 MiB
// page not seen before by this thread, then a few ns. Staging copies what is host memory or not reachable.
bool reachable(const void* pointer);

// What one call needs besides its operands.
struct LaunchContext {
  CUstream_st* stream = nullptr;
  Limits limits;
  void* workspace = nullptr;  // the user's, else nullptr: leased from the library's own
  size_t workspace_bytes = 0;
};
// The spine (validated device-pointer call -> degenerate | plan -> lease -> launch). Asynchronous. `planned` is left
// alone by a degenerate call.
Status gemm(const GemmCall& call, const LaunchContext& context, Plan* planned = nullptr);
// The plan alone, with all the workspace it may want. Uses the current device.
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
