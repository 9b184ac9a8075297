// Runs one test case through a CPU path of the library and says what was wrong.
#pragma once
#include <string>

#include "src/gemm_call.h"
#include "tests/support/gemm_case.h"
#include "tests/support/reference.h"

namespace skgemm::test {

// "" when C matches the reference and nothing around the operands was touched. `run` gets the case as a GemmCall.
template <class Run>
std::string fault_of(const GemmCase& stated, const Run& run) {
  const GemmCase c = completed(stated);
  Operands o = make_operands(c);
  const Reference expected = reference_gemm(c, o);
  const double alpha_f64 = c.alpha, beta_f64 = c.beta;
  const float alpha_f32 = static_cast<float>(c.alpha), beta_f32 = static_cast<float>(c.beta);
  const bool f64 = c.in == DataType::f64;
  const auto matrix = [](GuardedMatrix& x) { return Matrix{x.frame().data() + x.origin_bytes(), x.shape().ld, 0}; };
  run(GemmCall{.op_a = c.a_transposed() ? Op::t : Op::n,
               .op_b = c.b_transposed() ? Op::t : Op::n,
               .m = c.m,
               .n = c.n,
               .k = c.k,
               .in = c.in,
               .out = c.out,
               .scalar_type = accumulator_of(c.in),
               .scalars = PointerMode::host,
               .alpha = f64 ? static_cast<const void*>(&alpha_f64) : &alpha_f32,
               .beta = f64 ? static_cast<const void*>(&beta_f64) : &beta_f32,
               .a = matrix(o.a),
               .b = matrix(o.b),
               .c = matrix(o.c),
               .batch = 1,
               .name = "test"});
  const std::string wrong = mismatch(o.c, expected);
  const std::string damage = o.a.damage() + o.b.damage() + o.c.damage();
  return wrong.empty() && damage.empty() ? "" : to_string(c) + ": " + wrong + " " + damage;
}

// A case of up to `largest` in each extent, with everything that can vary varied.
inline GemmCase random_case(Random& random, DataType type, int64_t largest) {
  static constexpr double kScalars[] = {0, 1, -1, 0.5, 2, -0.75};
  static constexpr const char* kOps[] = {"NN", "NT", "TN", "TT", "CN", "NC"};
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
