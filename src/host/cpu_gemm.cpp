#include "src/host/cpu_gemm.h"

#include <algorithm>
#include <array>

#include "src/degenerate.h"
#include "src/host/cpu_blas.h"
#include "src/host/half.h"
#include "src/host/quietly.h"
#include "src/log.h"

namespace skgemm {
namespace {

template <class T>
struct Element {  // fp32 and fp64 as stored
  using Sum = T;
  static Sum load(T x) { return x; }
  static T store(Sum x) { return x; }
};
template <>
struct Element<uint16_t> {
  using Sum = float;
  static Sum load(uint16_t x) { return half_to_float(x); }
  static uint16_t store(Sum x) { return float_to_half(x); }
};

constexpr int64_t kRows = 256;  // rows of C summed together, on the stack

template <class T>
struct Loops {
  using Sum = typename Element<T>::Sum;
  const GemmCall& call;
  const T* a = static_cast<const T*>(call.a.data);
  const T* b = static_cast<const T*>(call.b.data);
  T* c = static_cast<T*>(call.c.data);
  Sum alpha = *static_cast<const Sum*>(call.alpha);
  Sum beta = *static_cast<const Sum*>(call.beta);

  // sums[0 : rows] = (op(A)*op(B))[i0 : i0+rows, j]
  void sum_column(int64_t i0, int64_t rows, int64_t j, Sum* sums) const {
    std::fill_n(sums, rows, Sum{0});
    for (int64_t k = 0; k < call.k; ++k) {
      const Sum b_kj = Element<T>::load(call.op_b == Op::n ? b[k + j * call.b.ld] : b[j + k * call.b.ld]);
      const T* first = call.op_a == Op::n ? a + i0 + k * call.a.ld : a + k + i0 * call.a.ld;
      const int64_t pitch = call.op_a == Op::n ? 1 : call.a.ld;
      for (int64_t i = 0; i < rows; ++i) sums[i] += Element<T>::load(first[i * pitch]) * b_kj;
    }
  }

  void run() const {
    const bool product = call.k > 0 && alpha != 0;
    if (!product && beta == 1) return;
    std::array<Sum, kRows> sums;
    for (int64_t j = 0; j < call.n; ++j) {
      for (int64_t i0 = 0; i0 < call.m; i0 += kRows) {
        const int64_t rows = std::min(kRows, call.m - i0);
        if (product) sum_column(i0, rows, j, sums.data());
        T* column = c + i0 + j * call.c.ld;
        for (int64_t i = 0; i < rows; ++i) {
          Sum value = beta == 0 ? Sum{0} : beta * Element<T>::load(column[i]);
          if (product) value += alpha * sums[static_cast<size_t>(i)];
          column[i] = Element<T>::store(value);
        }
      }
    }
  }
};

template <class T>
bool blas_gemm(const GemmCall& x) {
  const cpu_blas::Routine routine = cpu_blas::find({x.in, cpu_blas::Convention::fortran, true});
  const CallDepth depth;
  return cpu_blas::forward(routine, cpu_blas::FortranCall<T>{.op_a = x.op_a == Op::n ? "N" : "T",
                                                             .op_b = x.op_b == Op::n ? "N" : "T",
                                                             .m = x.m,
                                                             .n = x.n,
                                                             .k = x.k,
                                                             .alpha = static_cast<const T*>(x.alpha),
                                                             .a = static_cast<const T*>(x.a.data),
                                                             .lda = x.a.ld,
                                                             .b = static_cast<const T*>(x.b.data),
                                                             .ldb = x.b.ld,
                                                             .beta = static_cast<const T*>(x.beta),
                                                             .c = static_cast<T*>(x.c.data),
                                                             .ldc = x.c.ld});
}

}  // namespace

void builtin_gemm(const GemmCall& call) {
  switch (call.in) {
    case DataType::f64:
      return Loops<double>{call}.run();
    case DataType::f32:
      return Loops<float>{call}.run();
    default:
      return Loops<uint16_t>{call}.run();
  }
}

void cpu_gemm(const GemmCall& call) {
  // With alpha == 0 A and B are not read, which not every CPU BLAS keeps to (OpenBLAS 0.3.21 on AVX-512 multiplies
  // them).
  if (degenerate(call) != Degenerate::no) return builtin_gemm(call);
  if (call.in == DataType::f16) {
    if (!half_gemm(call)) builtin_gemm(call);
    return;
  }
  if (call.in == DataType::f64 ? blas_gemm<double>(call) : blas_gemm<float>(call)) return;
  const bool none = cpu_blas::find({call.in, cpu_blas::Convention::fortran, true}).function == nullptr;
  quietly([none] {
    log::warn(none ? "no CPU BLAS was found, so products on the CPU run in slow loops: install libopenblas0, or set "
                     "SKGEMM_CPU_BLAS to a BLAS library"
                   : "a product is too large for the CPU BLAS's 32-bit integers, so it runs in slow loops: install "
                     "libopenblas64-0 and set SKGEMM_CPU_BLAS=libopenblas64.so.0");
  });
  builtin_gemm(call);
}

}  // namespace skgemm
