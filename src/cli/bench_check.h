// The benchmark's check of a result: some elements of C against fp64 sums, with a bound from the accumulation's
// rounding.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/cli/bench_operands.h"

namespace skgemm::cli {

constexpr int kSamples = 64;  // of one case

// An element of C of one call, and what it must be.
struct Sample {
  int64_t call;  // the last one that writes its part of the output pool
  int64_t batch, i, j;
  double expected, bound;
};

// The corners, the last row and column, and random elements, over the first, the last and random outputs of calls
// [0, calls). With beta != 0 it is call 0 run twice on zeros, which makes alpha*(1 + beta)*A*B.
std::vector<Sample> draw_samples(const BenchCase& c, const Layout& layout, const Block& block, int64_t calls,
                                 uint64_t seed);

// How far a sum of k products with root of summed squares `norm` may be off. Rounding errors of a k-long fp sum of
// random signs grow as sqrt(k)*u*norm; tensor cores truncate once per instruction, which adds up linearly. Far above
// what is seen, far below one missing product.
double accumulation_bound(DataType type, int64_t k, double norm);
double rounding_of(DataType out, double value);

// Byte offset of a sample in the output pool.
int64_t offset_of(const Sample& sample, const BenchCase& c, const Layout& layout);
// The element's value from its bytes.
double element_value(DataType type, const void* bytes);
// "" when good, else words.
std::string judge(const Sample& sample, double value);

}  // namespace skgemm::cli
