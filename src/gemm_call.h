// One product as every dialect states it: the value that travels from the ABI to the launch.
#pragma once
#include <cstdint>

#include "kernels/types.h"

namespace skgemm {

enum class Op : uint8_t { n, t };  // C = T for real types
enum class PointerMode : uint8_t { host, device };

struct Matrix {
  void* data;
  int64_t ld, stride;  // elements
};

struct GemmCall {
  Op op_a, op_b;
  int64_t m, n, k;
  DataType in, out;      // A and B; C
  DataType scalar_type;  // what alpha and beta point at
  PointerMode scalars;
  const void* alpha;
  const void* beta;
  Matrix a, b, c;        // a and b are only read
  int64_t batch;
  const char* name;      // the entry point, for the log
};

}  // namespace skgemm
