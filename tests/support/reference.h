// The reference product in fp64 and the error a correct library may make. Never another BLAS.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/gemm_case.h"

namespace skgemm::test {

// gamma_n = n*u / (1 - n*u): bounds the relative error of n roundings in any order (Higham, "Accuracy and Stability of
// Numerical Algorithms", 2nd ed., lemma 3.1).
double gamma(double roundings, double unit);
// Unit of one accumulation step: IEEE fp64 and fp32, or fp32 in a tensor core, which truncates when it aligns the terms
// of one instruction (2^-23 of the largest term, for each term and the running sum).
double accumulation_unit(DataType in);

// What C must be: within `tolerance` of `value`, element by element. NaN and infinities are demanded as such.
struct Reference {
  int64_t m, n, batch;
  std::vector<double> value, tolerance;  // column-major, entries one after another
};

// Plain loops over the operands' values. Integer and all-ones data must give the exactly rounded result (tolerance 0).
Reference reference_gemm(const GemmCase& completed_case, const Operands& operands);

// "" when C matches; otherwise how many elements do not, and the first, in words.
std::string mismatch(const GuardedMatrix& c, const Reference& expected);

}  // namespace skgemm::test
