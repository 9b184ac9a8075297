// Argument checks as a table in BLAS order (netlib ?GEMM). Positions are Fortran's: transa 1, transb 2, m 3, n 4, k 5,
// lda 8, ldb 10, ldc 13. The checks hold even when m, n or k is 0, and ld >= max(1, rows).
#pragma once
#include <cstdint>

namespace skgemm {

struct Extents {
  bool op_a_valid, op_b_valid;
  bool a_transposed, b_transposed;
  int64_t m, n, k, lda, ldb, ldc;
};

// Position of the first bad argument, 0 when all are good.
constexpr int first_bad_argument(const Extents& e) {
  struct Rule {
    bool ok;
    int position;
  };
  auto at_least_one = [](int64_t x) { return x > 1 ? x : int64_t{1}; };
  const Rule rules[] = {
      {e.op_a_valid, 1},
      {e.op_b_valid, 2},
      {e.m >= 0, 3},
      {e.n >= 0, 4},
      {e.k >= 0, 5},
      {e.lda >= at_least_one(e.a_transposed ? e.k : e.m), 8},
      {e.ldb >= at_least_one(e.b_transposed ? e.n : e.k), 10},
      {e.ldc >= at_least_one(e.m), 13},
  };
  for (const Rule& rule : rules) {
    if (!rule.ok) return rule.position;
  }
  return 0;
}

}  // namespace skgemm
