// How fast the CPU multiplies, for the offload decision.
#pragma once
#include "kernels/types.h"

namespace skgemm {

// GFLOP/s of the CPU BLAS for f32 or f64; h runs through fp32 and counts as f32. Measured once per type, on first use.
double cpu_gflops(DataType type);

}  // namespace skgemm
