#include "tests/cpu/fake_cuda.h"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "src/degenerate.h"
#include "src/gpu.h"
#include "tests/support/element.h"
#include "tests/support/random.h"

namespace skgemm::test::fake_cuda {
namespace {

struct Work {
  std::function<void()> run;    // empty: a wait
  cudaEvent_t event = nullptr;  // a wait for this record of it, or the record itself
  int64_t record = 0;
};

struct Runtime {
  Settings settings;
  Random random{1};
  std::map<cudaStream_t, std::deque<Work>> streams;
  std::map<cudaStream_t, uint64_t> rank;
  std::map<cudaEvent_t, int64_t> recorded, reached;  // of each event: records asked for, and passed
  std::map<void*, size_t> device, pinned, managed, other_device;
  size_t device_bytes = 0;
  int64_t calls = 0;
  uintptr_t next_name = 16;

  bool fails() { return settings.fail_at >= 0 && calls++ >= settings.fail_at; }
};

Runtime& runtime() {
  static auto& the_runtime = *new Runtime;
  return the_runtime;
}

bool runnable(const Work& work) { return work.run != nullptr || runtime().reached[work.event] >= work.record; }

// Runs the next piece of work of one stream that may go on. False when none may. A stream keeps its rank for a while,
// so that the others fall far behind: work that may overtake does.
bool step() {
  Runtime& r = runtime();
  if (r.random.one_in(16)) r.rank.clear();
  std::deque<Work>* next = nullptr;
  uint64_t highest = 0;
  for (auto& [stream, queue] : r.streams) {
    const uint64_t rank = r.rank.try_emplace(stream, r.random.bits() | 1).first->second;
    if (queue.empty() || !runnable(queue.front()) || rank <= highest) continue;
    next = &queue;
    highest = rank;
  }
  if (next == nullptr) return false;
  const Work work = std::move(next->front());
  next->pop_front();
  if (work.run) work.run();
  return true;
}

template <class Done>
cudaError_t run_until(const Done& done) {
  while (!done()) {
    if (!step()) std::abort();  // a wait for something that nobody will record
  }
  return cudaSuccess;
}

void enqueue(cudaStream_t stream, std::function<void()> run) {
  runtime().streams[stream].push_back({std::move(run), nullptr, 0});
}

void copy_rectangle(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) {
    std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  }
}

void* allocate(std::map<void*, size_t>& where, size_t bytes) {
  void* data = std::malloc(bytes);
  std::memset(data, 0xff, bytes);  // NaN in every type
  where[data] = bytes;
  return data;
}

bool inside(const std::map<void*, size_t>& where, const void* pointer) {
  auto it = where.upper_bound(const_cast<void*>(pointer));
  if (it == where.begin()) return false;
  --it;
  return static_cast<const char*>(pointer) < static_cast<const char*>(it->first) + it->second;
}

double element(const Matrix& x, DataType type, int64_t row, int64_t col) {
  return load_element(type, static_cast<const std::byte*>(x.data) + (row + col * x.ld) * size_of(type));
}

void multiply(const GemmCall& call, double alpha, double beta) {
  for (int64_t j = 0; j < call.n; ++j) {
    for (int64_t i = 0; i < call.m; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < call.k; ++k) {
        sum += (call.op_a == Op::n ? element(call.a, call.in, i, k) : element(call.a, call.in, k, i)) *
               (call.op_b == Op::n ? element(call.b, call.in, k, j) : element(call.b, call.in, j, k));
      }
      auto* c = static_cast<std::byte*>(call.c.data) + (i + j * call.c.ld) * size_of(call.out);
      store_element(call.out, c, alpha * sum + (beta == 0 ? 0 : beta * load_element(call.out, c)));
    }
  }
}

}  // namespace

void reset(const Settings& settings) {
  Runtime& r = runtime();
  r.settings = settings;
  r.random = Random(settings.seed);
  for (auto& [stream, queue] : r.streams) queue.clear();
  r.managed.clear();
  r.other_device.clear();
  r.calls = 0;
}

void place(const void* data, size_t bytes, Kind kind) {
  (kind == Kind::managed ? runtime().managed : runtime().other_device)[const_cast<void*>(data)] = bytes;
}

void enqueue_on_default_stream(std::function<void()> run) { enqueue(nullptr, std::move(run)); }

int64_t calls() { return runtime().calls; }

int64_t held() {
  const Runtime& r = runtime();
  int64_t sum = static_cast<int64_t>(r.streams.size() + r.recorded.size());
  for (const auto* memory : {&r.device, &r.pinned}) {
    for (const auto& [data, bytes] : *memory) sum += static_cast<int64_t>(bytes);
  }
  return sum;
}

}  // namespace skgemm::test::fake_cuda

namespace fake = skgemm::test::fake_cuda;
using fake::runtime;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(runtime().next_name += 16);
  runtime().streams[*stream];
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return fake::run_until([stream] { return runtime().streams[stream].empty(); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  runtime().streams.erase(stream);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(runtime().next_name += 16);
  runtime().recorded[*event] = 0;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  runtime().recorded.erase(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const int64_t record = ++runtime().recorded[event];
  fake::enqueue(stream, [event, record] { runtime().reached[event] = record; });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  runtime().streams[stream].push_back({nullptr, event, runtime().recorded[event]});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const int64_t record = runtime().recorded[event];
  return fake::run_until([event, record] { return runtime().reached[event] >= record; });
}
cudaError_t cudaMalloc(void** data, size_t bytes) {
  if (runtime().fails() || runtime().device_bytes + bytes > runtime().settings.free_bytes)
    return cudaErrorMemoryAllocation;
  *data = fake::allocate(runtime().device, bytes);
  runtime().device_bytes += bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  runtime().device_bytes -= runtime().device[data];
  runtime().device.erase(data);
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  if (runtime().fails()) return cudaErrorMemoryAllocation;
  *data = fake::allocate(runtime().pinned, bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  runtime().pinned.erase(data);
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *total = runtime().settings.free_bytes;
  *free_bytes = *total - runtime().device_bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (runtime().fails()) return cudaErrorLaunchFailure;
  fake::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream) {
  if (runtime().fails()) return cudaErrorLaunchFailure;
  fake::enqueue(stream, [=] { fake::copy_rectangle(to, to_pitch, from, from_pitch, width, height); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind) {
  if (runtime().fails()) return cudaErrorLaunchFailure;
  fake::copy_rectangle(to, to_pitch, from, from_pitch, width, height);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  const bool other = fake::inside(runtime().other_device, pointer);
  attributes->device = other ? 1 : 0;
  attributes->type = fake::inside(runtime().managed, pointer)           ? cudaMemoryTypeManaged
                     : other || fake::inside(runtime().device, pointer) ? cudaMemoryTypeDevice
                                                                        : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an injected failure"; }

}  // extern "C"

namespace skgemm::gpu {
namespace {
int current = 0;
}

Availability availability() { return {true, {}}; }
int current_device() { return current; }
DeviceScope::DeviceScope(int device) : before_(std::exchange(current, device)) {}
DeviceScope::~DeviceScope() { current = before_; }
Memory memory_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, pointer);
  return attributes.type == cudaMemoryTypeDevice    ? Memory::device
         : attributes.type == cudaMemoryTypeManaged ? Memory::managed
                                                    : Memory::host;
}
bool reachable(const void* pointer) {
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, pointer);
  return attributes.type == cudaMemoryTypeManaged ||
         (attributes.type == cudaMemoryTypeDevice && attributes.device == current);
}

Status gemm(const GemmCall& call, const LaunchContext& context, Plan*) {
  if (runtime().fails()) return {SKGEMM_STATUS_EXECUTION_FAILED, "an injected failure"};
  for (const Matrix* x : {&call.a, &call.b, &call.c}) {
    if (!reachable(x->data)) return {SKGEMM_STATUS_EXECUTION_FAILED, "an illegal address"};
  }
  const double alpha = host_scalar(call.scalar_type, call.alpha), beta = host_scalar(call.scalar_type, call.beta);
  if (context.stream == nullptr) {
    fake::multiply(call, alpha, beta);
  } else {
    fake::enqueue(context.stream, [=] { fake::multiply(call, alpha, beta); });
  }
  return Status::success();
}

}  // namespace skgemm::gpu
