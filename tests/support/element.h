// Matrix elements of every type as doubles: one load, one store (rounded once, to nearest even), and the figures of
// each format that error bounds need. Written from IEEE 754, independent of the library under test.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/types.h"

namespace skgemm::test {

double load_element(DataType type, const std::byte* at);
void store_element(DataType type, std::byte* at, double value);
// `value` as the type holds it.
double rounded(DataType type, double value);

// A NaN that no computation produces: guard bands, gap rows and unset elements hold it.
void store_poison(DataType type, std::byte* at);
bool is_poison(DataType type, const std::byte* at);

double unit_roundoff(DataType type);       // 2^-p, p bits of precision
double smallest_subnormal(DataType type);  // bounds the rounding error near zero

}  // namespace skgemm::test
