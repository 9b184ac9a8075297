// DeviceMemory (workspace.h) on the CUDA runtime. Nothing here becomes part of a graph that is being captured.
#include <algorithm>
#include <array>
#include <vector>

#include "src/device.h"

namespace skgemm::gpu {
namespace {

// The older names of the same calls, without the edges' data.
#if CUDART_VERSION >= 13000
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                         cudaGraph_t* graph, const cudaGraphNode_t** nodes, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
cudaError_t predecessors(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
#else
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                         cudaGraph_t* graph, const cudaGraphNode_t** nodes, size_t* count) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}
cudaError_t predecessors(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, count);
}
#endif

// A failure that the caller answers by doing without.
bool good(cudaError_t error) {
  if (error == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

// The nodes that the capture of `stream` would put its next one after.
std::vector<cudaGraphNode_t> frontier(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* nodes = nullptr;
  size_t count = 0;
  if (!good(capture_info(stream, &status, nullptr, nullptr, &nodes, &count)) || status != cudaStreamCaptureStatusActive)
    return {};
  return {nodes, nodes + count};
}

class CudaMemory final : public DeviceMemory {
 public:
  char* allocate(size_t bytes) override {
    const RelaxedCapture relaxed;
    void* data = nullptr;
    return good(cudaMalloc(&data, bytes)) ? static_cast<char*>(data) : nullptr;
  }

  void free(char* data) override {
    const RelaxedCapture relaxed;
    good(cudaFree(data));
  }

  bool clear(char* data, size_t bytes, const StreamState& stream) override {
    if (stream.graph == nullptr) return good(cudaMemsetAsync(data, 0, bytes, stream.stream));
    const RelaxedCapture relaxed;
    // Not the legacy stream, which other captures may forbid, and nothing that waits for it.
    if (own_stream_ == nullptr && !good(cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking))) return false;
    return good(cudaMemsetAsync(data, 0, bytes, own_stream_)) && good(cudaStreamSynchronize(own_stream_));
  }

  CUevent_st* mark(const StreamState& stream, CUevent_st* mark) override {
    const RelaxedCapture relaxed;
    if (mark == nullptr && !good(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming))) return nullptr;
    if (good(cudaEventRecord(mark, stream.stream))) return mark;
    good(cudaEventDestroy(mark));
    return nullptr;
  }

  bool passed(CUevent_st* mark) override {
    const RelaxedCapture relaxed;
    return good(cudaEventQuery(mark));
  }

  void forget(CUevent_st* mark) override {
    const RelaxedCapture relaxed;
    good(cudaEventDestroy(mark));
  }

  CUgraphNode_st* tail(const StreamState& stream) override {
    const std::vector<cudaGraphNode_t> nodes = frontier(stream.stream);
    return nodes.size() == 1 ? nodes.front() : nullptr;
  }

  // A walk against the edges, near nodes first. Between two products of one stream there are few nodes; a long way
  // round is answered with no, which costs a region of its own.
  bool follows(const StreamState& stream, CUgraphNode_st* node) override {
    constexpr size_t kVisits = 256;
    std::vector<cudaGraphNode_t> queue = frontier(stream.stream);
    for (size_t i = 0; i < queue.size() && i < kVisits; ++i) {
      if (queue[i] == node) return true;
      std::array<cudaGraphNode_t, 16> before;
      size_t count = before.size();
      if (!good(predecessors(queue[i], before.data(), &count)))
        continue;  // more than 16, or edges that don't order fully
      for (size_t b = 0; b < std::min(count, before.size()); ++b) queue.push_back(before[b]);
    }
    return false;
  }

  bool when_graph_dies(const StreamState& stream, void (*gone)(void*), void* record) override {
    const RelaxedCapture relaxed;
    cudaUserObject_t object = nullptr;
    if (!good(cudaUserObjectCreate(&object, record, gone, 1, cudaUserObjectNoDestructorSync))) return false;
    if (good(cudaGraphRetainUserObject(stream.graph, object, 1, cudaGraphUserObjectMove))) return true;
    // Releasing the object would call gone() for a record that the pool is about to drop: better to leak 16 bytes.
    return false;
  }

 private:
  cudaStream_t own_stream_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceMemory> make_device_memory() { return std::make_unique<CudaMemory>(); }

cudaError_t state_of(CUstream_st* stream, StreamState* state) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  state->stream = stream;
  state->graph = nullptr;
  cudaError_t error = capture_info(stream, &status, &id, &state->graph, nullptr, nullptr);
  if (error == cudaSuccess && status == cudaStreamCaptureStatusInvalidated) error = cudaErrorStreamCaptureInvalidated;
  if (error == cudaSuccess && status == cudaStreamCaptureStatusNone) {
    state->graph = nullptr;
    error = cudaStreamGetId(stream, &id);
  }
  state->id = id;
  return error;
}

}  // namespace skgemm::gpu
