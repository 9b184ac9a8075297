// What a product with host operands needs besides its plan: streams, pinned buffers, device memory, and the copies
// through them. One set serves one call at a time; a small pool of them serves all threads (108 short-lived threads
// leave nothing behind). Failures are thrown as StagingError and caught in staging.cpp.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <exception>
#include <memory>

#include "src/gemm_call.h"
#include "src/host/staging_plan.h"
#include "src/status.h"

namespace skgemm::gpu {

struct StagingError : std::exception {
  explicit StagingError(Status s) : status(std::move(s)) {}
  Status status;
};
// Throws unless the call succeeded; `what` completes "could not ...".
void check(cudaError_t error, const char* what);

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "record an event"); }
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "order two streams"); }
  void wait() const { check(cudaEventSynchronize(event_), "finish the work in flight"); }

 private:
  cudaEvent_t event_ = nullptr;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

enum class BufferKind { device, pinned };
// Memory that only grows, or is given back as a whole.
class Buffer {
 public:
  explicit Buffer(BufferKind kind) : kind_(kind) {}
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void reserve(size_t bytes);
  void release();
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  BufferKind kind_;
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// A rectangle in host memory, as the program laid it out.
struct HostBlock {
  const char* data;           // its first element
  int64_t rows, cols, pitch;  // elements, elements, bytes
  DataType type;
};

class Stager {
 public:
  explicit Stager(int number) : device_number(number) {}

  // Host rectangle to device columns of `to_type` at staged_ld(rows), in stream order of `in`. Returns when the host
  // memory has been read.
  void upload(const HostBlock& from, char* to, DataType to_type);
  // Device columns to pinned slot `slot`, in stream order of `out`.
  void download(const char* from, size_t bytes, int slot);
  // Waits for that slot, then writes exactly the rectangle's rows to host memory.
  void write_back(int slot, DataType from_type, const HostBlock& to);
  // Waits for everything in flight, whatever its outcome.
  void drain() noexcept;

  const int device_number;
  Stream in, compute, out;
  Buffer device{BufferKind::device};

 private:
  static constexpr int kPieces = 3;
  static constexpr int kSlots = static_cast<int>(StagingPlan::kTileSlots);
  Buffer piece_[kPieces]{Buffer{BufferKind::pinned}, Buffer{BufferKind::pinned}, Buffer{BufferKind::pinned}};
  Event piece_sent_[kPieces];
  int next_piece_ = 0;
  Buffer result_[kSlots]{Buffer{BufferKind::pinned}, Buffer{BufferKind::pinned}};
  Event result_ready_[kSlots];
};

// Lends a Stager of the device; waits while all are lent.
class StagerLease {
 public:
  explicit StagerLease(int device);
  ~StagerLease();
  StagerLease(const StagerLease&) = delete;
  StagerLease& operator=(const StagerLease&) = delete;
  Stager& operator*() const { return *stager_; }
  Stager* operator->() const { return stager_.get(); }
  void discard() { broken_ = true; }  // after a failure: not lent again

 private:
  std::unique_ptr<Stager> stager_;
  bool broken_ = false;
};

}  // namespace skgemm::gpu
