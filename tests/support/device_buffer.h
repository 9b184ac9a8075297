// Owners of CUDA things for tests: memory, streams, graphs, a library handle. Errors throw, and a throw fails the test.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "skgemm.h"

namespace skgemm::test {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

inline void check(skgemm_status_t status, const char* what) {
  if (status != SKGEMM_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": " + skgemm_status_string(status) + ": " + skgemm_last_error());
  }
}

// Complete on return: a copy from pageable memory may otherwise still be on its way, unseen by non-blocking streams.
inline void copy_to_device(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
  check(cudaStreamSynchronize(nullptr), "copy to the device");
}

class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check(cudaMalloc(&data_, bytes), "cudaMalloc");
  }
  explicit DeviceBuffer(const std::vector<std::byte>& from) : DeviceBuffer(from.size()) { upload(from); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t bytes() const { return bytes_; }
  void upload(const std::vector<std::byte>& from) { copy_to_device(data_, from.data(), from.size()); }
  std::vector<std::byte> download() const {
    std::vector<std::byte> to(bytes_);
    if (bytes_ > 0) check(cudaMemcpy(to.data(), data_, bytes_, cudaMemcpyDeviceToHost), "copy from the device");
    return to;
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// A stream that does not synchronise with the default stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Handle {
 public:
  Handle() { check(skgemm_create(&handle_), "skgemm_create"); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { skgemm_destroy(handle_); }
  operator skgemm_handle_t() const { return handle_; }

 private:
  skgemm_handle_t handle_ = nullptr;
};

// What `record` puts on `stream`, captured and made ready to launch.
class Graph {
 public:
  template <class Record>
  Graph(cudaStream_t stream, Record&& record) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    record();
    check(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&exec_, graph_, 0), "cudaGraphInstantiate");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(exec_);
    cudaGraphDestroy(graph_);
  }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(exec_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace skgemm::test
