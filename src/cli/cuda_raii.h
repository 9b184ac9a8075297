// The few CUDA runtime objects that the benchmark owns.
#pragma once
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string_view>

namespace skgemm::cli {

inline void must(cudaError_t error, std::string_view doing) {
  if (error != cudaSuccess) throw std::runtime_error(fmt::format("{}: {}", doing, cudaGetErrorString(error)));
}

class DeviceMemory {
 public:
  DeviceMemory(size_t bytes, std::string_view purpose) : bytes_(bytes) {
    must(cudaMalloc(&data_, bytes),
         fmt::format("{:.1f} GB of device memory for {}", static_cast<double>(bytes) * 1e-9, purpose));
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using Stream = std::unique_ptr<CUstream_st, Destroy<cudaStreamDestroy>>;
using Event = std::unique_ptr<CUevent_st, Destroy<cudaEventDestroy>>;
using Graph = std::unique_ptr<CUgraph_st, Destroy<cudaGraphDestroy>>;
using PinnedMemory = std::unique_ptr<std::byte, Destroy<cudaFreeHost>>;
using GraphExec = std::unique_ptr<CUgraphExec_st, Destroy<cudaGraphExecDestroy>>;

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  return Stream(stream);
}

inline PinnedMemory make_pinned(size_t bytes) {
  void* data = nullptr;
  must(cudaMallocHost(&data, bytes), "pinned memory");
  return PinnedMemory(static_cast<std::byte*>(data));
}

inline Event make_event() {
  cudaEvent_t event = nullptr;
  must(cudaEventCreate(&event), "an event");
  return Event(event);
}

}  // namespace skgemm::cli
