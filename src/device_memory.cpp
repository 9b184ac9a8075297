// DeviceMemory (workspace.h) on the CUDA runtime. Nothing here becomes part of a graph that is being captured.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/launch.h"
#include "src/device.h"

namespace skgemm::gpu {
namespace {

// The nodes that a stream's next one goes after, and what each edge there would say. `edges` may stay nullptr: nothing.
struct CaptureTips {
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
};

// The same calls by the names of either CUDA. Without room for the edges' data they fail where there is any
// (cudaErrorLossyQuery).
#if CUDART_VERSION >= 13000
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                         cudaGraph_t* graph, CaptureTips* tips) {
  if (tips == nullptr) return cudaStreamGetCaptureInfo(stream, status, id, graph);
  return cudaStreamGetCaptureInfo(stream, status, id, graph, &tips->nodes, &tips->edges, &tips->count);
}
cudaError_t predecessors(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, edges, count);
}
#else
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                         cudaGraph_t* graph, CaptureTips* tips) {
  if (tips == nullptr) return cudaStreamGetCaptureInfo_v3(stream, status, id, graph);
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, &tips->nodes, &tips->edges, &tips->count);
}
cudaError_t predecessors(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, size_t* count) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, edges, count);
}
#endif

// A failure that the caller answers by doing without.
bool good(cudaError_t error) {
  if (error == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

// Whether a node with this edge starts after the whole of the other one.
bool orders_fully(const cudaGraphEdgeData& edge) {
  return edge.type == cudaGraphDependencyTypeDefault && edge.from_port == cudaGraphKernelNodePortDefault;
}

// Whether a node that is launched as a programmatic dependent is complete only after what it depends on. Of the
// library's own kernels that is known; another's may end without having waited.
bool waits_for_grids_before(cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  const RelaxedCapture relaxed;
  if (!good(cudaGraphNodeGetType(node, &type)) || type != cudaGraphNodeTypeKernel) return false;
  cudaKernelNodeParams kernel{};
  return good(cudaGraphKernelNodeGetParams(node, &kernel)) && skgemm::waits_for_grids_before(kernel.func);
}

// The nodes that the capture of `stream` would put its next one after, all of each.
std::vector<cudaGraphNode_t> frontier(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CaptureTips tips;
  if (!good(capture_info(stream, &status, nullptr, nullptr, &tips)) || status != cudaStreamCaptureStatusActive)
    return {};
  std::vector<cudaGraphNode_t> nodes;
  for (size_t i = 0; i < tips.count; ++i) {
    if (tips.edges == nullptr || orders_fully(tips.edges[i])) nodes.push_back(tips.nodes[i]);
  }
  return nodes;
}

// The nodes that are complete when `node` is, one edge away.
std::vector<cudaGraphNode_t> complete_before(cudaGraphNode_t node) {
  constexpr size_t kMost = 16;
  std::array<cudaGraphNode_t, kMost> before{};
  std::array<cudaGraphEdgeData, kMost> edges{};
  size_t count = kMost;
  if (!good(predecessors(node, before.data(), edges.data(), &count))) return {};
  std::vector<cudaGraphNode_t> nodes;
  for (size_t i = 0; i < std::min(count, kMost); ++i) {
    const bool programmatic = edges[i].type == cudaGraphDependencyTypeProgrammatic &&
                              edges[i].from_port == cudaGraphKernelNodePortProgrammatic;
    if (orders_fully(edges[i]) || (programmatic && waits_for_grids_before(node))) nodes.push_back(before[i]);
  }
  return nodes;
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
      for (cudaGraphNode_t before : complete_before(queue[i])) queue.push_back(before);
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
  cudaError_t error = capture_info(stream, &status, &id, &state->graph, nullptr);
  if (error == cudaSuccess && status == cudaStreamCaptureStatusInvalidated) error = cudaErrorStreamCaptureInvalidated;
  if (error == cudaSuccess && status == cudaStreamCaptureStatusNone) {
    state->graph = nullptr;
    error = cudaStreamGetId(stream, &id);
  }
  state->id = id;
  return error;
}

}  // namespace skgemm::gpu
