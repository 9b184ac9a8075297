// CBLAS names: cblas_sgemm, cblas_dgemm, cblas_hgemm and their 64-bit forms. h follows MKL: MKL_F16 is the bit pattern
// in an unsigned short, scalars by value. Row-major C = op(A)*op(B) is column-major C^T = op(B)^T*op(A)^T on the same
// memory.
#include <cstdint>
#include <utility>

#include "src/abi/blas_entry.h"

namespace skgemm::abi {
namespace {

constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113;

OpArgument op_of(int transpose) {
  return transpose == kNoTrans                            ? OpArgument::n
         : transpose == kTrans || transpose == kConjTrans ? OpArgument::t
                                                          : OpArgument::invalid;
}

template <class T>
void cblas_gemm(const char* name, bool wide, const cpu_blas::CblasCall<T>& x) {
  Product<T> product{.op_a = op_of(x.op_a),
                     .op_b = op_of(x.op_b),
                     .m = x.m,
                     .n = x.n,
                     .k = x.k,
                     .alpha = &x.alpha,
                     .a = x.a,
                     .lda = x.lda,
                     .b = x.b,
                     .ldb = x.ldb,
                     .beta = &x.beta,
                     .c = x.c,
                     .ldc = x.ldc};
  if (x.layout == kRowMajor) {
    std::swap(product.op_a, product.op_b);
    std::swap(product.m, product.n);
    std::swap(product.a, product.b);
    std::swap(product.lda, product.ldb);
    product.row_major = true;
  } else if (x.layout != kColMajor) {
    product.layout_valid = false;
  }
  serve({name, {cpu_blas::kDataTypeOf<T>, cpu_blas::Convention::cblas, wide}}, product, x);
}

}  // namespace
}  // namespace skgemm::abi

#define SKGEMM_CBLAS_GEMM(name, T, Int, wide)                                                                        \
  extern "C" SKGEMM_EXPORT void name(int layout, int transa, int transb, Int m, Int n, Int k, T alpha, const T* a,   \
                                     Int lda, const T* b, Int ldb, T beta, T* c, Int ldc) {                          \
    skgemm::abi::cblas_gemm<T>(#name, wide, {layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}); \
  }
SKGEMM_CBLAS_GEMM(cblas_sgemm, float, int32_t, false)
SKGEMM_CBLAS_GEMM(cblas_dgemm, double, int32_t, false)
SKGEMM_CBLAS_GEMM(cblas_hgemm, uint16_t, int32_t, false)
SKGEMM_CBLAS_GEMM(cblas_sgemm_64, float, int64_t, true)
SKGEMM_CBLAS_GEMM(cblas_dgemm_64, double, int64_t, true)
SKGEMM_CBLAS_GEMM(cblas_hgemm_64, uint16_t, int64_t, true)
SKGEMM_CBLAS_GEMM(cblas_sgemm64_, float, int64_t, true)
SKGEMM_CBLAS_GEMM(cblas_dgemm64_, double, int64_t, true)
SKGEMM_CBLAS_GEMM(cblas_hgemm64_, uint16_t, int64_t, true)
