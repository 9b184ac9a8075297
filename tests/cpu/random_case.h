// A product with everything that can vary varied, for the tests of every CPU path and entry point.
#pragma once
#include "tests/support/gemm_case.h"
#include "tests/support/random.h"

namespace skgemm::test {

// Up to `largest` in each extent.
inline GemmCase random_case(Random& random, DataType type, int64_t largest) {
  static constexpr double kScalars[] = {0, 1, -1, 0.5, 2, -0.75};  // halves hold them exactly
  static constexpr const char* kOps[] = {"NN", "NT", "TN", "TT", "CN", "NC", "CC"};
  GemmCase c{.in = type,
             .out = type,
             .op = random.pick(kOps),
             .m = random.integer(0, largest),
             .n = random.integer(0, largest),
             .k = random.integer(0, largest),
             .alpha = random.pick(kScalars),
             .beta = random.pick(kScalars),
             .fill = random.one_in(2) ? Fill::integer : Fill::real,
             .tight_end = random.one_in(2),
             .seed = random.integer(1, 1 << 30)};
  c = completed(c);
  for (int64_t* ld : {&c.lda, &c.ldb, &c.ldc}) *ld += random.one_in(2) ? random.integer(1, 9) : 0;
  for (int64_t* offset : {&c.offset_a, &c.offset_b, &c.offset_c}) *offset = random.integer(0, 5);
  return c;
}

}  // namespace skgemm::test
