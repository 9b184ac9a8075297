// Which GPUs there are, whether they can be used, what they are, and where a pointer lives.
#include "src/device.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels/launch.h"
#include "src/log.h"
#include "src/look_at.h"

namespace skgemm::gpu {
namespace {

std::atomic<bool> g_in_child{false};  // forked after the driver was asked: CUDA can't be used here
std::atomic<bool> g_found{false};     // the driver was asked and has a device

struct Driver {
  int devices = 0;
  std::string why_not;
};

Driver ask_driver() {
  Driver d;
  const cudaError_t error = cudaGetDeviceCount(&d.devices);
  if (error != cudaSuccess) d.devices = 0;
  (void)cudaGetLastError();
  if (error == cudaErrorInsufficientDriver) {
    d.why_not = "no NVIDIA driver, or one too old for CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
                std::to_string(CUDART_VERSION % 1000 / 10) + ": install or update it (nvidia-smi shows the version)";
  } else if (error == cudaErrorNoDevice || (error == cudaSuccess && d.devices == 0)) {
    d.why_not = "the NVIDIA driver shows no GPU: see nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set";
  } else if (error != cudaSuccess) {
    d.why_not = std::string("CUDA can't be used in this process: ") + cudaGetErrorString(error) +
                " (a child of a process that used CUDA can't use it: start children with spawn or exec)";
  }
  g_found.store(d.devices > 0, std::memory_order_release);
  log::event(d.devices > 0 ? std::to_string(d.devices) + " CUDA device(s)" : d.why_not);
  return d;
}

const Driver& driver() {
  static const Driver& d = *new Driver(ask_driver());
  return d;
}

bool driver_initialised() {
  using CountDevices = CUresult (*)(int*);
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto count = reinterpret_cast<CountDevices>(dlsym(library, "cuDeviceGetCount"));
  int devices = 0;
  const bool is = count != nullptr && count(&devices) == CUDA_SUCCESS && devices > 0;
  dlclose(library);
  return is;
}

// The program's own use of CUDA, seen without joining it: the driver is in the process and has been initialised. To
// start it takes tens of milliseconds, so a "no" holds for a tick of the coarse clock (some 4 ms) and small products
// don't pay.
bool driver_in_use() {
  static std::atomic<bool> in_use{false};
  static std::atomic<int64_t> tick_of_no{-1};
  if (in_use.load(std::memory_order_relaxed)) return true;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t tick = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  if (tick_of_no.load(std::memory_order_relaxed) == tick) return false;
  if (driver_initialised()) {
    in_use.store(true, std::memory_order_relaxed);
    return true;
  }
  tick_of_no.store(tick, std::memory_order_relaxed);
  return false;
}

// Whether the CPU can read an address, asked of the kernel: it reads the new signal mask before it refuses the request.
bool cpu_can_read(const void* address) {
  constexpr size_t kMaskBytes = 8;
  const uintptr_t place = reinterpret_cast<uintptr_t>(address) / kMaskBytes * kMaskBytes;
  const int before = errno;
  const bool can = syscall(SYS_rt_sigprocmask, ~0, place, nullptr, kMaskBytes) != 0 && errno != EFAULT;
  errno = before;
  return can;
}

bool reads_pageable_memory(int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, cudaDevAttrPageableMemoryAccess, device) != cudaSuccess) (void)cudaGetLastError();
  return value != 0;
}

// Whether kernels of the current device can use another device's memory: its peer access, or its pool's, is on.
bool peer_access_is_on(const void* pointer) {
  using GetAttribute = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);
  static const auto get = reinterpret_cast<GetAttribute>([]() -> void* {
    void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // stays: CUDA is in use
    return library == nullptr ? nullptr : dlsym(library, "cuPointerGetAttribute");
  }());
  unsigned long long flags = 0;
  return get != nullptr &&
         get(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, reinterpret_cast<CUdeviceptr>(pointer)) == CUDA_SUCCESS &&
         flags == CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
}

Status prepare(const Device& d) {
  if (find_kernel(DataType::f32, d.model.compute_capability) == nullptr) {
    return {SKGEMM_STATUS_ARCH_MISMATCH,
            "device " + std::to_string(d.number) + " (" + d.model.name + ") has compute capability " +
                std::to_string(d.model.compute_capability / 10) + "." +
                std::to_string(d.model.compute_capability % 10) + "; libskgemm's kernels need 8.0 or later"};
  }
  return status_of(static_cast<cudaError_t>(prepare_kernels(d.model.compute_capability)), "loading the kernels");
}

}  // namespace

Status status_of(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return Status::success();
  (void)cudaGetLastError();
  std::string words = std::string(doing) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  switch (error) {
    case cudaErrorMemoryAllocation:
      return {SKGEMM_STATUS_ALLOC_FAILED, words + ": free device memory and call again"};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return {SKGEMM_STATUS_ARCH_MISMATCH,
              words + ": libskgemm was not built for this device (CMAKE_CUDA_ARCHITECTURES)"};
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
      return Status::no_device(std::move(words));
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
      return {
          SKGEMM_STATUS_EXECUTION_FAILED,
          words +
              ": an earlier kernel of this process failed, and its CUDA context is lost; compute-sanitizer finds it"};
    default:
      return {SKGEMM_STATUS_EXECUTION_FAILED, std::move(words)};
  }
}

Device& device(int number) {
  // Constructed once the device count is known.
  struct Entry {
    std::once_flag once;
    Device device{};
  };
  static std::vector<Entry>& all = *new std::vector<Entry>(static_cast<size_t>(driver().devices));
  Entry& entry = all.at(static_cast<size_t>(number));
  std::call_once(entry.once, [&] {
    const RelaxedCapture relaxed;
    Device& d = entry.device;
    d.number = number;
    d.model = look_at(number);
    d.memory = make_device_memory();
    d.workspaces = std::make_unique<WorkspacePool>(*d.memory);
    d.status = prepare(d);
    log::event("device " + std::to_string(number) + ": " + d.model.name + ", " + std::to_string(d.model.sms) +
               " SMs, " + (d.status.ok() ? "ready" : d.status.words));
  });
  return entry.device;
}

Availability availability() {
  static std::atomic<bool> watching{false};
  if (!watching.exchange(true, std::memory_order_relaxed)) {
    // Before the driver is asked: a child forked meanwhile must not wait for a thread that it doesn't have.
    pthread_atfork(nullptr, nullptr, [] { g_in_child.store(true, std::memory_order_relaxed); });
  }
  if (g_in_child.load(std::memory_order_relaxed)) {
    return {false, "this process was forked from one that had asked for a GPU: CUDA can't be used in it"};
  }
  const Driver& d = driver();
  return {d.devices > 0, d.why_not};
}

bool initialized() {
  if (g_in_child.load(std::memory_order_relaxed)) return false;
  return g_found.load(std::memory_order_acquire) || driver_in_use();
}

int current_device() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) (void)cudaGetLastError();
  return device;
}

bool on_current_device(CUstream_st* stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return true;
#if CUDART_VERSION >= 12080  // before, a launch in the wrong stream fails
  int device = 0;
  if (cudaStreamGetDevice(stream, &device) == cudaSuccess) return device == current_device();
  (void)cudaGetLastError();
#endif
  return true;
}

const DeviceModel& device_model(int number) {
  const DeviceScope scope(number);
  return device(number).model;
}

Status ready(int number) {
  const Availability gpu = availability();
  if (!gpu.usable) return Status::no_device(gpu.why_not);
  const DeviceScope scope(number);
  return device(number).status;
}

DeviceScope::DeviceScope(int device) : before_(current_device()) {
  if (before_ == device) {
    before_ = -1;
  } else {
    (void)cudaSetDevice(device);
  }
}

DeviceScope::~DeviceScope() {
  if (before_ >= 0) (void)cudaSetDevice(before_);
}

Memory memory_of(const void* pointer) {
  if (!initialized()) return Memory::host;
  cudaPointerAttributes attributes{};
  const cudaError_t error =
      availability().usable ? cudaPointerGetAttributes(&attributes, pointer) : cudaErrorInsufficientDriver;
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    // cudaErrorInvalidValue is what drivers before 11.0 say of memory that CUDA doesn't know.
    return error == cudaErrorInvalidValue || cpu_can_read(pointer) ? Memory::host : Memory::unknown;
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
      return Memory::device;
    case cudaMemoryTypeManaged:
      return Memory::managed;
    default:
      return Memory::host;
  }
}

bool reachable(const void* pointer) {
  // The driver keeps device and host memory in address ranges of their own, in pages of at least 2 MiB, so a page once
  // seen to be a device's is trusted. A stale entry would cost a good error message and nothing else.
  constexpr int kPageBits = 21;
  thread_local std::array<uintptr_t, 64> seen{};  // page * 256 + device
  const int current = current_device();
  const uintptr_t page = reinterpret_cast<uintptr_t>(pointer) >> kPageBits;
  const uintptr_t key = page << 8 | static_cast<uintptr_t>(current & 0xff);
  uintptr_t& place = seen[page % seen.size()];
  if (place == key && page != 0) return true;
  cudaPointerAttributes attributes{};
  if (const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer); error != cudaSuccess) {
    (void)cudaGetLastError();
    return error != cudaErrorInvalidValue;  // any other is not about the pointer, and the launch will say it
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
      if (attributes.device != current) return peer_access_is_on(pointer);
      [[fallthrough]];
    case cudaMemoryTypeManaged:
      place = key;
      return true;
    case cudaMemoryTypeHost:
      return attributes.devicePointer != nullptr;
    default:
      return reads_pageable_memory(current);
  }
}

}  // namespace skgemm::gpu
