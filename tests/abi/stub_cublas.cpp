#include "tests/abi/stub_cublas.h"

namespace {

StubCublas& stub() {
  static StubCublas the_stub{};
  return the_stub;
}

template <class T>
cublasStatus_t get(T* value, const T& set) {
  ++stub().asked;
  *value = set;
  return stub().getters;
}

cublasStatus_t remember(const StubCall& call) {
  ++stub().called;
  stub().last = call;
  return stub().products;
}

}  // namespace

extern "C" {

StubCublas* stub_cublas() { return &stub(); }

cublasStatus_t cublasGetStream_v2(cublasHandle_t, cudaStream_t* stream) { return get(stream, stub().stream); }
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t, cublasPointerMode_t* mode) { return get(mode, stub().scalars); }
cublasStatus_t cublasGetMathMode(cublasHandle_t, cublasMath_t* mode) { return get(mode, stub().math); }
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t, int* sms) { return get(sms, stub().sms); }

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const double* alpha, const double* a, int lda, const double* b, int ldb,
                              const double* beta, double* c, int ldc) {
  if (stub().reenters) return cublasDgemm_v2_64(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return remember({"cublasDgemm_v2", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}
cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m,
                                 int64_t n, int64_t k, const double* alpha, const double* a, int64_t lda,
                                 const double* b, int64_t ldb, const double* beta, double* c, int64_t ldc) {
  return remember({"cublasDgemm_v2_64", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

}  // extern "C"
