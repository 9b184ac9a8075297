// Who may use which device memory for partial sums (design D6). A lease belongs to one launch in flight:
// - launches on one stream run one after the other, so they share the stream's region, which grows;
// - a captured launch uses a region that lives as long as its graph; launches of one capture share it where the graph
//   orders one after the other;
// - a user's workspace is the user's: carve() only finds the places in it.
// The pool's lock is held from the choice of a region to the end of the launch, as another thread's lease in between
// could outgrow the region and give it up. So a launch that waits for room in its stream holds up the device's others.
// The counters at a region's start are zeroed once, by the pool (a user's for every call); every launch leaves them
// zero (kernels/fixup.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernels/fixup.h"

struct CUstream_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUevent_st;

namespace skgemm {

inline constexpr size_t kWorkspaceAlignment = 256;

struct WorkspaceRegion {
  char* data = nullptr;
  size_t bytes = 0;

  uint32_t* counters() const { return reinterpret_cast<uint32_t*>(data); }
  void* slots() const { return data == nullptr ? nullptr : data + kCounterBytes; }
};

// The aligned part of a user's workspace; empty when not even the counters fit.
WorkspaceRegion carve(void* workspace, size_t bytes);

// The stream of a call, as far as workspaces are concerned.
struct StreamState {
  CUstream_st* stream = nullptr;
  uint64_t id = 0;              // of the stream, or while it is captured of the capture; never used again in a process
  CUgraph_st* graph = nullptr;  // while it is captured
};

// What the pool asks of the device. The CUDA one is in device_memory.cpp; tests bring their own.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual char* allocate(size_t bytes) = 0;  // nullptr: there is none
  virtual void free(char* data) = 0;
  // Zeroes in stream order, or at once while the stream is captured: the zeros must not become a node of the graph.
  virtual bool clear(char* data, size_t bytes, const StreamState& stream) = 0;
  // A mark behind all work so far in the stream, moving `mark` there if it isn't nullptr; nullptr on failure.
  virtual CUevent_st* mark(const StreamState& stream, CUevent_st* mark) = 0;
  virtual bool passed(CUevent_st* mark) = 0;
  virtual void forget(CUevent_st* mark) = 0;
  // The node that the capture would put its next one after; nullptr when there isn't exactly one.
  virtual CUgraphNode_st* tail(const StreamState& stream) = 0;
  // Whether the capture would put its next node after `node`.
  virtual bool follows(const StreamState& stream, CUgraphNode_st* node) = 0;
  // Calls gone(record) some time after the graph, its clones and its executables are gone. gone() makes no CUDA call.
  virtual bool when_graph_dies(const StreamState& stream, void (*gone)(void*), void* record) = 0;
};

class WorkspacePool;

// Holds a region from the choice of the plan to the launch. Its end says: all launches that use it are in the stream.
class WorkspaceLease {
 public:
  WorkspaceLease() = default;
  explicit WorkspaceLease(WorkspaceRegion region) : region_(region) {}  // a user's
  WorkspaceLease(WorkspaceLease&& other) noexcept { *this = std::move(other); }
  WorkspaceLease& operator=(WorkspaceLease&& other) noexcept;
  ~WorkspaceLease();

  uint32_t* counters() const { return region_.counters(); }
  void* slots() const { return region_.slots(); }
  size_t bytes() const { return region_.bytes; }
  explicit operator bool() const { return region_.data != nullptr; }

 private:
  friend class WorkspacePool;
  WorkspaceRegion region_;
  WorkspacePool* pool_ = nullptr;
  StreamState stream_;
  void* owner_ = nullptr;                // the pool's record of it
  std::unique_lock<std::mutex> lock_;  // of the pool: no other thread takes, grows or gives back a region meanwhile
};

// All regions of one device.
class WorkspacePool {
 public:
  explicit WorkspacePool(DeviceMemory& memory) : memory_(memory) {}
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  // A region of at least `bytes` for a launch in `stream`; an empty lease when the device has no room.
  WorkspaceLease lease(const StreamState& stream, size_t bytes);

  // Once there are more streams, launches leave marks, so that the regions of streams that are gone can be taken over.
  static constexpr size_t kStreamsWithoutMarks = 16;
  // When the device had no room for a size, it is asked again only every so many times: the question costs a call.
  static constexpr unsigned kAskAgain = 256;

 private:
  friend class WorkspaceLease;
  struct StreamRegion {
    WorkspaceRegion region;
    CUevent_st* mark = nullptr;  // behind the last launch, once there are many streams
    uint64_t used = 0;           // when, in leases
  };
  struct CapturedRegion {
    WorkspaceRegion region;
    uint64_t capture = 0;
    CUgraphNode_st* last = nullptr;  // the last launch that uses it
    WorkspacePool* pool = nullptr;
  };
  struct Idle {
    WorkspaceRegion region;
    CUevent_st* mark = nullptr;  // free once this has passed; nullptr: free now
  };

  StreamRegion* region_of_stream(const StreamState& stream, size_t bytes);
  CapturedRegion* region_of_capture(const StreamState& stream, size_t bytes);
  WorkspaceRegion obtain(const StreamState& stream, size_t bytes);
  WorkspaceRegion take_idle(size_t bytes);
  WorkspaceRegion take_over(size_t bytes);
  WorkspaceRegion allocate(size_t bytes);
  void free_idle();
  void take_back();
  void finish(const WorkspaceLease& lease);
  static void graph_gone(void* record);

  DeviceMemory& memory_;
  std::mutex mutex_;  // of everything below but `returned_`
  std::unordered_map<uint64_t, StreamRegion> streams_;
  std::list<CapturedRegion> captured_;
  std::vector<Idle> idle_;
  uint64_t leases_ = 0;
  bool marking_ = false;  // for good: an old mark says nothing about launches made without one
  size_t refused_bytes_ = SIZE_MAX;  // the device had no room for this much
  unsigned refusals_ = 0;

  std::mutex returned_mutex_;  // never held over a CUDA call: graph_gone() may run while another thread is in one
  std::vector<CapturedRegion*> returned_;
};

}  // namespace skgemm
