// Runs one test case through a CPU path of the library and says what was wrong.
#pragma once
#include <string>

#include "src/gemm_call.h"
#include "tests/cpu/random_case.h"
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

}  // namespace skgemm::test
