// The CUDA runtime's side of gpu.h, for the files that include CUDA's headers: errors in words, capture mode, devices.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "src/gpu.h"
#include "src/workspace.h"

namespace skgemm::gpu {

// "<doing>: <what CUDA says>", and what to do about it where that is known. Clears the runtime's last error.
Status status_of(cudaError_t error, const char* doing);

// While it lives, this thread may allocate, wait and load kernels although a stream is being captured somewhere: none
// of that is meant to become part of the graph.
class RelaxedCapture {
 public:
  RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// One GPU, from its first use to the end of the process: static destructors may still multiply, and by then the driver
// may be gone, so nothing here is ever destroyed.
struct Device {
  int number;
  DeviceModel model;
  Status status;  // whether products can run on it
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<WorkspacePool> workspaces;
};
// Only when availability().usable, with the device current; looked at once.
Device& device(int number);

std::unique_ptr<DeviceMemory> make_device_memory();
// What the pool must know of a stream: its identity, or that of its capture.
cudaError_t state_of(CUstream_st* stream, StreamState* state);

}  // namespace skgemm::gpu
