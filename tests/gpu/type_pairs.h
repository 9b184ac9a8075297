// The built combinations of element types, as test parameters.
#pragma once
#include <gtest/gtest.h>

#include <ostream>
#include <span>
#include <string>

#include "kernels/types.h"

namespace skgemm::test {

struct TypePair {
  DataType in, out;
};

inline constexpr TypePair kTypePairs[] = {
    {DataType::f32, DataType::f32}, {DataType::f64, DataType::f64},   {DataType::f16, DataType::f16},
    {DataType::f16, DataType::f32}, {DataType::bf16, DataType::bf16}, {DataType::bf16, DataType::f32},
};
// One of each kernel.
inline constexpr TypePair kKernelTypes[] = {
    {DataType::f32, DataType::f32}, {DataType::f64, DataType::f64}, {DataType::f16, DataType::f16}};
// Those of kernels that take a tile's width at run time, on Hopper; first those that its wgmma computes.
inline constexpr TypePair kWidthPairs[] = {{DataType::f16, DataType::f16},
                                           {DataType::f16, DataType::f32},
                                           {DataType::bf16, DataType::bf16},
                                           {DataType::bf16, DataType::f32},
                                           {DataType::f64, DataType::f64}};
inline constexpr std::span<const TypePair> kHalfPairs = std::span(kWidthPairs).first<4>();
inline constexpr const char* kOps[] = {"NN", "NT", "TN", "TT"};

inline std::string name_of_pair(const TypePair& t) { return std::string(name_of(t.in)) + "_" + name_of(t.out); }
inline void PrintTo(const TypePair& t, std::ostream* to) { *to << name_of_pair(t); }
inline std::string param_name(const testing::TestParamInfo<TypePair>& info) { return name_of_pair(info.param); }

}  // namespace skgemm::test
