// Grid-stride fill and count, and a spinning kernel.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>

#include "tests/gpu/device_kernels.h"
#include "tests/support/device_buffer.h"

namespace skgemm::test {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;

__device__ double entry_value(int64_t i, int64_t period) { return static_cast<double>(i / period % 8 + 1); }

template <class T>
__global__ void fill_kernel(T* data, int64_t count, int64_t period) {
  const int64_t step = int64_t{kThreads} * kBlocks;
  for (int64_t i = int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count; i += step) {
    data[i] = static_cast<T>(static_cast<float>(entry_value(i, period)));
  }
}

template <class T>
__global__ void count_kernel(const T* data, int64_t count, int64_t period, double factor, unsigned long long* wrong) {
  const int64_t step = int64_t{kThreads} * kBlocks;
  unsigned long long mine = 0;
  for (int64_t i = int64_t{kThreads} * blockIdx.x + threadIdx.x; i < count; i += step) {
    mine += !(static_cast<double>(static_cast<float>(data[i])) == factor * entry_value(i, period));
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

__global__ void spin_kernel(int64_t nanoseconds) {
  int64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

// Calls `body` with a null pointer of the element type, so that it can name the type.
template <class Body>
void with_type(DataType type, Body&& body) {
  switch (type) {
    case DataType::f16:
      return body(static_cast<__half*>(nullptr));
    case DataType::bf16:
      return body(static_cast<__nv_bfloat16*>(nullptr));
    case DataType::f32:
      return body(static_cast<float*>(nullptr));
    case DataType::f64:
      return body(static_cast<double*>(nullptr));
  }
}

}  // namespace

void fill_by_entry(DataType type, void* data, int64_t count, int64_t period) {
  with_type(type, [&]<class T>(T*) { fill_kernel<<<kBlocks, kThreads>>>(static_cast<T*>(data), count, period); });
  check(cudaDeviceSynchronize(), "fill_by_entry");
}

int64_t count_wrong(DataType type, const void* data, int64_t count, int64_t period, double factor) {
  const DeviceBuffer counter(std::vector<std::byte>(sizeof(unsigned long long)));
  auto* wrong = reinterpret_cast<unsigned long long*>(counter.data());
  with_type(type, [&]<class T>(T*) {
    count_kernel<<<kBlocks, kThreads>>>(static_cast<const T*>(data), count, period, factor, wrong);
  });
  check(cudaDeviceSynchronize(), "count_wrong");
  unsigned long long result = 0;
  check(cudaMemcpy(&result, wrong, sizeof result, cudaMemcpyDeviceToHost), "copy the count");
  return static_cast<int64_t>(result);
}

void occupy_sms(cudaStream_t stream, int blocks, int milliseconds) {
  int device = 0, smem = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&smem, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  check(cudaFuncSetAttribute(spin_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem), "cudaFuncSetAttribute");
  spin_kernel<<<blocks, 1024, static_cast<size_t>(smem), stream>>>(int64_t{milliseconds} * 1'000'000);
  check(cudaGetLastError(), "occupy_sms");
}

}  // namespace skgemm::test
