// BLAS names with the Fortran calling convention: sgemm_, dgemm_, hgemm_ and their _64_ forms. The 13 documented
// arguments only: C callers pass no hidden string lengths, so none is read.
#include <cstdint>

#include "src/abi/blas_entry.h"

namespace skgemm::abi {
namespace {

// LSAME: the first character, either case.
OpArgument op_of(const char* text) {
  switch (*text) {
    case 'N':
    case 'n':
      return OpArgument::n;
    case 'T':
    case 't':
    case 'C':
    case 'c':
      return OpArgument::t;
    default:
      return OpArgument::invalid;
  }
}

template <class T>
void fortran_gemm(const char* name, bool wide, const cpu_blas::FortranCall<T>& x) {
  const Product<T> product{.op_a = op_of(x.op_a),
                           .op_b = op_of(x.op_b),
                           .m = x.m,
                           .n = x.n,
                           .k = x.k,
                           .alpha = x.alpha,
                           .a = x.a,
                           .lda = x.lda,
                           .b = x.b,
                           .ldb = x.ldb,
                           .beta = x.beta,
                           .c = x.c,
                           .ldc = x.ldc};
  serve({name, {cpu_blas::kDataTypeOf<T>, cpu_blas::Convention::fortran, wide}}, product, x);
}

}  // namespace
}  // namespace skgemm::abi

#define SKGEMM_FORTRAN_GEMM(name, T, Int, wide)                                                                        \
  extern "C" SKGEMM_EXPORT void name(const char* transa, const char* transb, const Int* m, const Int* n, const Int* k, \
                                     const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb,           \
                                     const T* beta, T* c, const Int* ldc) {                                            \
    skgemm::abi::fortran_gemm<T>(#name, wide, {transa, transb, *m, *n, *k, alpha, a, *lda, b, *ldb, beta, c, *ldc});   \
  }
SKGEMM_FORTRAN_GEMM(sgemm_, float, int32_t, false)
SKGEMM_FORTRAN_GEMM(dgemm_, double, int32_t, false)
SKGEMM_FORTRAN_GEMM(hgemm_, uint16_t, int32_t, false)
SKGEMM_FORTRAN_GEMM(sgemm_64_, float, int64_t, true)
SKGEMM_FORTRAN_GEMM(dgemm_64_, double, int64_t, true)
SKGEMM_FORTRAN_GEMM(hgemm_64_, uint16_t, int64_t, true)
