// What the cuBLAS entry points share: serve the product on the stream of the caller's handle, or hand the call, whole
// and unchanged, to the real cuBLAS, whose status and words the program knows (design D13, D18).
#pragma once
#include <cstdint>

#include "src/abi/real_cublas.h"
#include "src/gemm_call.h"
#include "src/host/cpu_gemm.h"

#define SKGEMM_EXPORT __attribute__((visibility("default")))

namespace skgemm::abi {

// A call in the words of cuBLAS.
struct CublasCall {
  const char* name;
  DataType type;  // of all matrices and both scalars
  cublasHandle_t handle;
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  const void *alpha, *a;
  int64_t lda;
  const void* b;
  int64_t ldb;
  const void* beta;
  void* c;
  int64_t ldc;
};

// Whether the product is on its way. If not, C is untouched and the log says why.
bool serve_on_gpu(const CublasCall& call) noexcept;

// Says why a call is answered without cuBLAS, and gives the answer.
cublasStatus_t refuse_null_handle(const CublasCall& call) noexcept;
cublasStatus_t refuse_without_cublas(const CublasCall& call) noexcept;

// `forward` calls the function it is given with the caller's own arguments. A call that cuBLAS makes while it has one
// from us (its own entry points are not ours, but another library may stand in between) goes straight back to it.
template <class Function, class Forward>
cublasStatus_t serve(const CublasCall& call, real_cublas::Entry<Function>& real, const Forward& forward) {
  if (call.handle == nullptr) return refuse_null_handle(call);
  const Function function = real.get();
  if (function == nullptr) return refuse_without_cublas(call);
  const bool nested = CallDepth::nested();
  const CallDepth depth;
  return !nested && serve_on_gpu(call) ? CUBLAS_STATUS_SUCCESS : forward(function);
}

}  // namespace skgemm::abi
