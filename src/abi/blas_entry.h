// What the Fortran and CBLAS entry points share: check the arguments, then run a legal product or hand an illegal call,
// unchanged, to the CPU BLAS, whose message, numbering and error handler the program knows (design D13).
#pragma once
#include <cstdint>

#include "src/host/cpu_blas.h"
#include "src/host/cpu_gemm.h"
#include "src/host/half.h"
#include "src/host/host_gemm.h"
#include "src/validate.h"

#define SKGEMM_EXPORT __attribute__((visibility("default")))

namespace skgemm::abi {

enum class OpArgument : uint8_t { n, t, invalid };

// The call in column-major terms. A row-major one arrives with its operands swapped.
template <class T>
struct Product {
  OpArgument op_a, op_b;
  int64_t m, n, k;
  const T *alpha, *a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  const T* beta;
  T* c;
  int64_t ldc;
  bool layout_valid = true, row_major = false;
};

struct Origin {
  const char* name;
  cpu_blas::EntryPoint entry;
};

// Answers an illegal call where no CPU BLAS has the entry point: words on stderr as the reference has them, C
// untouched. `position` is Fortran's, of the column-major call; 0 stands for a bad layout.
void report_illegal(const Origin& origin, int position, bool row_major);

// The log's line for a call that reaches no product.
void log_unserved(const GemmCall& call, const char* on, const char* why);

template <class T>
int first_bad_position(const Product<T>& p) {
  return first_bad_argument({.op_a_valid = p.op_a != OpArgument::invalid,
                             .op_b_valid = p.op_b != OpArgument::invalid,
                             .a_transposed = p.op_a == OpArgument::t,
                             .b_transposed = p.op_b == OpArgument::t,
                             .m = p.m,
                             .n = p.n,
                             .k = p.k,
                             .lda = p.lda,
                             .ldb = p.ldb,
                             .ldc = p.ldc});
}

template <class T>
GemmCall gemm_call(const Origin& origin, const Product<T>& p) {
  const auto op = [](OpArgument x) { return x == OpArgument::t ? Op::t : Op::n; };
  return {.op_a = op(p.op_a),
          .op_b = op(p.op_b),
          .m = p.m,
          .n = p.n,
          .k = p.k,
          .in = cpu_blas::kDataTypeOf<T>,
          .out = cpu_blas::kDataTypeOf<T>,
          .scalar_type = cpu_blas::kDataTypeOf<T>,
          .scalars = PointerMode::host,
          .alpha = p.alpha,
          .beta = p.beta,
          .a = {const_cast<T*>(p.a), p.lda, 0},
          .b = {const_cast<T*>(p.b), p.ldb, 0},
          .c = {p.c, p.ldc, 0},
          .batch = 1,
          .name = origin.name};
}

// No guard and nothing to destroy here: the program's handler may leave by longjmp (R) or by an exception (Octave).
template <class T, class Call>
void serve_illegal(const Origin& origin, const Product<T>& product, const Call& original, int position) {
  const cpu_blas::Routine routine = cpu_blas::find(origin.entry);
  log_unserved(gemm_call(origin, product), "forwarded", "an argument is illegal");
  if (!cpu_blas::forward(routine, original)) report_illegal(origin, position, product.row_major);
}

template <class Call>
struct Forwarded {
  cpu_blas::EntryPoint entry;
  const Call& original;
  static bool run(const void* self) {
    const auto& x = *static_cast<const Forwarded*>(self);
    return cpu_blas::forward(cpu_blas::find(x.entry), x.original);
  }
};

template <class T, class Call>
void serve_legal(const Origin& origin, const Product<T>& product, const Call& original) {
  GemmCall call = gemm_call(origin, product);
  // Nothing is read then, so the scalars may be NULL.
  if (call.m == 0 || call.n == 0) return log_unserved(call, "cpu", "no product to compute");
  if constexpr (cpu_blas::kDataTypeOf<T> == DataType::f16) {
    // fp32 sums always (design D9), which no h routine of a CPU BLAS promises.
    const float alpha = half_to_float(*product.alpha), beta = half_to_float(*product.beta);
    call.scalar_type = DataType::f32;
    call.alpha = &alpha;
    call.beta = &beta;
    host_gemm(call, {});
  } else {
    const Forwarded<Call> forwarded{origin.entry, original};
    host_gemm(call, {&Forwarded<Call>::run, &forwarded});
  }
}

template <class T, class Call>
void serve(const Origin& origin, const Product<T>& product, const Call& original) {
  const int position = product.layout_valid ? first_bad_position(product) : 0;
  if (product.layout_valid && position == 0) return serve_legal(origin, product, original);
  serve_illegal(origin, product, original, position);
}

}  // namespace skgemm::abi
