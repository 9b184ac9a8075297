// The CPU BLAS below us, loaded at run time: for each entry point the program can call, the function that stands behind
// it in the real library, found once (design D18). Never a linked dependency, never ourselves, never another entry
// point: the reference cblas_dgemm and BLIS's call dgemm_ through the PLT, so dgemm_ forwarded to cblas_dgemm would not
// end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "kernels/types.h"

namespace skgemm::cpu_blas {

enum class Convention : uint8_t { fortran, cblas };

// A symbol as the program called it: dgemm_ is {f64, fortran, false}, cblas_sgemm_64 is {f32, cblas, true}.
struct EntryPoint {
  DataType type;  // f16, f32 or f64
  Convention convention;
  bool wide;  // 64-bit integers
};

// What stands behind it; function is nullptr when no library has it. `ilp64`: its integers have 64 bits, by its name or
// by probing (Debian's libopenblas64.so.0 keeps the plain names).
struct Routine {
  void* function = nullptr;
  bool ilp64 = false;
};
// Afterwards one atomic load. First calls may be concurrent and nobody waits for another: loading a library runs its
// constructors, which may call us, and a thread that a fork left behind would never finish. Nothing is thrown; what
// there was no memory for is looked up again.
Routine find(EntryPoint entry);
// The same in one library by name, whatever else is loaded.
Routine find_in_library(const char* library, EntryPoint entry);
// "/usr/lib/.../libopenblas.so.0 (32-bit integers)", or "none", for `skgemm info` and the log.
std::string describe(EntryPoint entry);

template <class T>
struct FortranCall {
  const char *op_a, *op_b;
  int64_t m, n, k;
  const T *alpha, *a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  const T* beta;
  T* c;
  int64_t ldc;
};

template <class T>
struct CblasCall {
  int layout, op_a, op_b;
  int64_t m, n, k;
  T alpha;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  T beta;
  T* c;
  int64_t ldc;
};

template <class T>
inline constexpr DataType kDataTypeOf = sizeof(T) == 8   ? DataType::f64
                                        : sizeof(T) == 4 ? DataType::f32
                                                         : DataType::f16;

template <class Call>
constexpr bool fits_32_bits(const Call& x) {
  for (const int64_t value : {x.m, x.n, x.k, x.lda, x.ldb, x.ldc}) {
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

template <class Int, class T>
void invoke(void* function, const FortranCall<T>& x) {
  // A library built by gfortran reads the lengths of its character arguments after all others; others ignore them.
  using Gemm = void (*)(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*,
                        const T*, const Int*, const T*, T*, const Int*, size_t, size_t);
  const Int m = static_cast<Int>(x.m), n = static_cast<Int>(x.n), k = static_cast<Int>(x.k);
  const Int lda = static_cast<Int>(x.lda), ldb = static_cast<Int>(x.ldb), ldc = static_cast<Int>(x.ldc);
  reinterpret_cast<Gemm>(function)(x.op_a, x.op_b, &m, &n, &k, x.alpha, x.a, &lda, x.b, &ldb, x.beta, x.c, &ldc, 1, 1);
}

template <class Int, class T>
void invoke(void* function, const CblasCall<T>& x) {
  using Gemm = void (*)(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
  reinterpret_cast<Gemm>(function)(x.layout, x.op_a, x.op_b, static_cast<Int>(x.m), static_cast<Int>(x.n),
                                   static_cast<Int>(x.k), x.alpha, x.a, static_cast<Int>(x.lda), x.b,
                                   static_cast<Int>(x.ldb), x.beta, x.c, static_cast<Int>(x.ldc));
}

// Calls the routine with the arguments as they are (FortranCall or CblasCall); false when there is none, or when its
// integers are too narrow for them.
template <class Call>
bool forward(const Routine& routine, const Call& call) {
  if (routine.function == nullptr) return false;
  if (routine.ilp64) {
    invoke<int64_t>(routine.function, call);
  } else if (fits_32_bits(call)) {
    invoke<int32_t>(routine.function, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace skgemm::cpu_blas
