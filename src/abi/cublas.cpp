// cuBLAS names. The definitions compile against NVIDIA's own header, so a wrong type is an error; what stands behind a
// name is called by that name's own type.
#include "src/abi/cublas_entry.h"

// A product C = alpha*op(A)*op(B) + beta*C of one type throughout.
#define SKGEMM_CUBLAS_GEMM(name, T, Int, type)                                                                       \
  extern "C" SKGEMM_EXPORT cublasStatus_t CUBLASWINAPI name(                                                         \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k,                \
      const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) {                      \
    using Function = decltype(&name);                                                                                \
    static constinit skgemm::real_cublas::Entry<Function> real(#name);                                               \
    const skgemm::abi::CublasCall call{#name, skgemm::DataType::type, handle, transa, transb, m, n, k, alpha, a,     \
                                       lda, b, ldb, beta, c, ldc};                                                   \
    return skgemm::abi::serve(call, real, [&](Function function) {                                                   \
      return function(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                         \
    });                                                                                                              \
  }
SKGEMM_CUBLAS_GEMM(cublasDgemm_v2, double, int, f64)
SKGEMM_CUBLAS_GEMM(cublasDgemm_v2_64, double, int64_t, f64)
