// Products that need no product: nothing to write, or C = beta*C alone (BLAS: k == 0, or alpha == 0, where A and B are
// not read). Device scalars are unknown here, so only the extents count for them; the kernels read them.
#pragma once
#include "src/gemm_call.h"

namespace skgemm {

enum class Degenerate {
  no,       // a product
  nothing,  // C stays as it is
  scale     // C = beta*C; beta == 0 writes zeros without reading C
};

Degenerate degenerate(const GemmCall& call);

// The value of a host scalar.
double host_scalar(DataType type, const void* scalar);

}  // namespace skgemm
