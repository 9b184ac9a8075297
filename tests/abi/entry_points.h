// The BLAS and CBLAS names of the library as a program declares them, one row each, called alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>

#include "tests/support/element.h"
#include "tests/support/gemm_case.h"
#include "tests/support/reference.h"

#define SKGEMM_DECLARE_FORTRAN(name, T, Int)                                                                        \
  void name(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*, const T*, \
            const Int*, const T*, T*, const Int*);
#define SKGEMM_DECLARE_CBLAS(name, T, Int) \
  void name(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
extern "C" {
SKGEMM_DECLARE_FORTRAN(sgemm_, float, int32_t)
SKGEMM_DECLARE_FORTRAN(dgemm_, double, int32_t)
SKGEMM_DECLARE_FORTRAN(hgemm_, uint16_t, int32_t)
SKGEMM_DECLARE_FORTRAN(sgemm_64_, float, int64_t)
SKGEMM_DECLARE_FORTRAN(dgemm_64_, double, int64_t)
SKGEMM_DECLARE_FORTRAN(hgemm_64_, uint16_t, int64_t)
SKGEMM_DECLARE_CBLAS(cblas_sgemm, float, int32_t)
SKGEMM_DECLARE_CBLAS(cblas_dgemm, double, int32_t)
SKGEMM_DECLARE_CBLAS(cblas_hgemm, uint16_t, int32_t)
SKGEMM_DECLARE_CBLAS(cblas_sgemm_64, float, int64_t)
SKGEMM_DECLARE_CBLAS(cblas_dgemm_64, double, int64_t)
SKGEMM_DECLARE_CBLAS(cblas_hgemm_64, uint16_t, int64_t)
SKGEMM_DECLARE_CBLAS(cblas_sgemm64_, float, int64_t)
SKGEMM_DECLARE_CBLAS(cblas_dgemm64_, double, int64_t)
SKGEMM_DECLARE_CBLAS(cblas_hgemm64_, uint16_t, int64_t)
}

namespace skgemm::test {

// A call's arguments in the widest types; scalars as the element type holds them.
struct CallArguments {
  char op_a, op_b;
  int64_t m, n, k;
  double alpha = 1, beta = 0;
  const void* a = nullptr;
  int64_t lda;
  const void* b = nullptr;
  int64_t ldb;
  void* c = nullptr;
  int64_t ldc;
  bool row_major = false;     // CBLAS only
  bool scalars_null = false;  // Fortran only
};

struct EntryPoint {
  const char* name;
  DataType type;
  bool cblas, wide;
  void (*call)(const CallArguments&);
};

inline void PrintTo(const EntryPoint& entry, std::ostream* out) { *out << entry.name; }

template <class T>
T scalar(double value) {
  if constexpr (sizeof(T) == 2) {
    T bits = 0;
    std::byte bytes[2];
    store_element(DataType::f16, bytes, value);
    std::memcpy(&bits, bytes, 2);
    return bits;
  } else {
    return static_cast<T>(value);
  }
}

template <auto kFunction, class T, class Int>
void call_fortran(const CallArguments& x) {
  const Int m = static_cast<Int>(x.m), n = static_cast<Int>(x.n), k = static_cast<Int>(x.k);
  const Int lda = static_cast<Int>(x.lda), ldb = static_cast<Int>(x.ldb), ldc = static_cast<Int>(x.ldc);
  const T alpha = scalar<T>(x.alpha), beta = scalar<T>(x.beta);
  const T *alpha_at = x.scalars_null ? nullptr : &alpha, *beta_at = x.scalars_null ? nullptr : &beta;
  kFunction(&x.op_a, &x.op_b, &m, &n, &k, alpha_at, static_cast<const T*>(x.a), &lda, static_cast<const T*>(x.b), &ldb,
            beta_at, static_cast<T*>(x.c), &ldc);
}

template <auto kFunction, class T, class Int>
void call_cblas(const CallArguments& x) {
  const auto op = [](char c) { return c == 'N' ? 111 : c == 'T' ? 112 : 113; };
  kFunction(x.row_major ? 101 : 102, op(x.op_a), op(x.op_b), static_cast<Int>(x.m), static_cast<Int>(x.n),
            static_cast<Int>(x.k), scalar<T>(x.alpha), static_cast<const T*>(x.a), static_cast<Int>(x.lda),
            static_cast<const T*>(x.b), static_cast<Int>(x.ldb), scalar<T>(x.beta), static_cast<T*>(x.c),
            static_cast<Int>(x.ldc));
}

inline constexpr EntryPoint kEntryPoints[] = {
    {"sgemm_", DataType::f32, false, false, call_fortran<sgemm_, float, int32_t>},
    {"dgemm_", DataType::f64, false, false, call_fortran<dgemm_, double, int32_t>},
    {"hgemm_", DataType::f16, false, false, call_fortran<hgemm_, uint16_t, int32_t>},
    {"sgemm_64_", DataType::f32, false, true, call_fortran<sgemm_64_, float, int64_t>},
    {"dgemm_64_", DataType::f64, false, true, call_fortran<dgemm_64_, double, int64_t>},
    {"hgemm_64_", DataType::f16, false, true, call_fortran<hgemm_64_, uint16_t, int64_t>},
    {"cblas_sgemm", DataType::f32, true, false, call_cblas<cblas_sgemm, float, int32_t>},
    {"cblas_dgemm", DataType::f64, true, false, call_cblas<cblas_dgemm, double, int32_t>},
    {"cblas_hgemm", DataType::f16, true, false, call_cblas<cblas_hgemm, uint16_t, int32_t>},
    {"cblas_sgemm_64", DataType::f32, true, true, call_cblas<cblas_sgemm_64, float, int64_t>},
    {"cblas_dgemm_64", DataType::f64, true, true, call_cblas<cblas_dgemm_64, double, int64_t>},
    {"cblas_hgemm_64", DataType::f16, true, true, call_cblas<cblas_hgemm_64, uint16_t, int64_t>},
    {"cblas_sgemm64_", DataType::f32, true, true, call_cblas<cblas_sgemm64_, float, int64_t>},
    {"cblas_dgemm64_", DataType::f64, true, true, call_cblas<cblas_dgemm64_, double, int64_t>},
    {"cblas_hgemm64_", DataType::f16, true, true, call_cblas<cblas_hgemm64_, uint16_t, int64_t>}};

// A case on operands anywhere in memory. With row_major the program states the same memory as the transposed product,
// C^T = op(B)^T * op(A)^T.
struct Places {
  const std::byte *a, *b;
  std::byte* c;
};
inline CallArguments arguments_of(const GemmCase& c, const Places& at, bool row_major) {
  CallArguments x{.op_a = c.op[0],
                  .op_b = c.op[1],
                  .m = c.m,
                  .n = c.n,
                  .k = c.k,
                  .alpha = c.alpha,
                  .beta = c.beta,
                  .a = at.a,
                  .lda = c.lda,
                  .b = at.b,
                  .ldb = c.ldb,
                  .c = at.c,
                  .ldc = c.ldc,
                  .row_major = row_major};
  if (row_major) {
    std::swap(x.op_a, x.op_b);
    std::swap(x.m, x.n);
    std::swap(x.a, x.b);
    std::swap(x.lda, x.ldb);
  }
  return x;
}

// Runs a case through an entry point: "" when C is right and nothing else was touched.
inline std::string fault_of(const EntryPoint& entry, const GemmCase& stated, bool row_major = false) {
  const GemmCase c = completed(stated);
  Operands o = make_operands(c);
  const Reference expected = reference_gemm(c, o);
  const auto data = [](GuardedMatrix& x) { return x.frame().data() + x.origin_bytes(); };
  entry.call(arguments_of(c, {data(o.a), data(o.b), data(o.c)}, row_major));
  const std::string wrong = mismatch(o.c, expected), damage = o.a.damage() + o.b.damage() + o.c.damage();
  if (wrong.empty() && damage.empty()) return "";
  return std::string(entry.name) + (row_major ? " (row-major) " : " ") + to_string(c) + ": " + wrong + " " + damage;
}

}  // namespace skgemm::test
