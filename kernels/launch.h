// The host side of the kernels: plain values in, a CUDA launch out. No BLAS, no handle, no policy.
#pragma once
#include <cstdint>

#include "kernels/catalogue.h"
#include "kernels/schedule.h"

struct CUstream_st;

namespace skgemm {

// alpha or beta: a value, or a device address read when the kernel runs. `type` is that of the device scalar
// (f16 for cuBLAS's half scalars, f32, f64).
struct Scalar {
  double value;
  const void* device;
  DataType type;
};

struct Operand {
  const void* data;
  int64_t ld, batch_stride;  // elements
  bool k_major;              // contiguous along k: A with op T, B with op N
};

struct GemmArgs {
  int64_t m, n, k;
  Operand a, b;
  void* c;
  int64_t ldc, c_batch_stride;  // elements
  DataType in, out;
  Scalar alpha, beta;
  uint32_t* counters;  // kCounterCapacity zeros; nullptr when the schedule has no counters
  void* slots;         // 16-byte aligned
  void* copies;        // room for aligned copies (aligned_copy.h) of A, then B, those TMA can't take; nullptr: none
  int64_t most_ctas = 8192;  // of the kernel that makes the copies
  int64_t sms = 0;           // of the device
};

struct ScaleArgs {  // C = beta*C over a batch; beta == 0 writes zeros without reading
  int64_t m, n, batch;
  void* c;
  int64_t ldc, c_batch_stride;
  DataType type;
  Scalar beta;
  int64_t most_ctas = 8192;  // several waves on any part; the kernel strides over the rest
};

// All return a cudaError_t as int; 0 is success. Launches are asynchronous.
int launch_gemm(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                CUstream_st* stream);
int launch_scale(const ScaleArgs& args, CUstream_st* stream);
// Whether a kernel (as a graph's node names it) is one that launch_gemm may start before the grids ahead of it are
// complete. Each waits for all of them before it reads a value or writes one, so that its end is after theirs.
bool waits_for_grids_before(const void* function);
// Loads every kernel of the current device and raises its shared-memory limit, so that a first launch inside a stream
// capture does nothing that a capture forbids. Once per device.
int prepare_kernels(int compute_capability);

}  // namespace skgemm
