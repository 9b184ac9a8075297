// Which GPUs there are, whether they can be used, what they are, and where a pointer lives.
#include "src/device.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels/launch.h"
#include "src/log.h"

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
    d.why_not = "no NVIDIA driver, or one older than CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
                std::to_string(CUDART_VERSION % 1000 / 10) +
                " needs: install or update it (nvidia-smi shows the version)";
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

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) (void)cudaGetLastError();
  return value;
}

DeviceModel look_at(int device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) (void)cudaGetLastError();
  DeviceModel m{.name = properties.name,
                .compute_capability = attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
                                      attribute(cudaDevAttrComputeCapabilityMinor, device),
                .sms = attribute(cudaDevAttrMultiProcessorCount, device),
                .clock_ghz = attribute(cudaDevAttrClockRate, device) * 1e-6, .dram_gbs = 0, .l2_gbs = 0,
                .l2_bytes = attribute(cudaDevAttrL2CacheSize, device),
                .smem_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)};
  // Two transfers a clock, bytes of the bus; of the peak about nine tenths can be read. An SM draws about 32 bytes a
  // clock from L2 when all do (measured on sm_80 and sm_90 parts).
  m.dram_gbs = 0.9 * 2e-6 * attribute(cudaDevAttrMemoryClockRate, device) *
               attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  m.l2_gbs = 32.0 * m.sms * m.clock_ghz;
  for (const DeviceModel& known : known_devices()) {
    // A MIG slice has the part's name and fewer SMs; its rates are not the part's.
    if (known.name != m.name || known.sms != m.sms) continue;
    m.dram_gbs = known.dram_gbs;
    m.l2_gbs = known.l2_gbs;
  }
  return m;
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
    case cudaErrorMemoryAllocation: return {SKGEMM_STATUS_ALLOC_FAILED, words + ": free device memory and call again"};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return {SKGEMM_STATUS_ARCH_MISMATCH,
              words + ": libskgemm was not built for this device (CMAKE_CUDA_ARCHITECTURES)"};
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError: return Status::no_device(std::move(words));
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
      return {
          SKGEMM_STATUS_EXECUTION_FAILED,
          words +
              ": an earlier kernel of this process failed, and its CUDA context is lost; compute-sanitizer finds it"};
    default: return {SKGEMM_STATUS_EXECUTION_FAILED, std::move(words)};
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
  if (!initialized() || !availability().usable) return Memory::host;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();  // drivers before 11.0 answer so for memory that CUDA doesn't know
    return Memory::host;
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice: return Memory::device;
    case cudaMemoryTypeManaged: return Memory::managed;
    default: return Memory::host;
  }
}

bool reachable(const void* pointer) {
  // The driver keeps device and host memory in address ranges of their own, in pages of at least 2 MiB, so a page once
  // seen to be the device's is trusted. A stale entry would cost a good error message and nothing else.
  constexpr int kPageBits = 21;
  thread_local std::array<uintptr_t, 64> pages{};
  const uintptr_t page = reinterpret_cast<uintptr_t>(pointer) >> kPageBits;
  uintptr_t& place = pages[page % pages.size()];
  if (place == page && page != 0) return true;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  if (attributes.type == cudaMemoryTypeUnregistered) {
    return attribute(cudaDevAttrPageableMemoryAccess, current_device()) != 0;
  }
  if (attributes.type != cudaMemoryTypeHost) place = page;
  return attributes.devicePointer != nullptr;
}

}  // namespace skgemm::gpu
