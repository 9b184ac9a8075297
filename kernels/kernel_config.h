// The shape of each built kernel. The catalogue's row, the launch and the kernel itself all read these numbers.
#pragma once
#include "kernels/types.h"

namespace skgemm {

struct KernelConfig {
  int tile_m, tile_n, tile_k;  // elements
  int stages;                  // shared-memory buffers in the copy pipeline
  int threads;
  int ctas_per_sm;  // resident CTAs that registers and shared memory are budgeted for
};

// Warp tiles of 64x64: fewer shared-memory bytes per mma than 64x32, and 128 accumulators still fit two CTAs a
// multiprocessor.
inline constexpr KernelConfig kHalfMma{
    .tile_m = 128, .tile_n = 128, .tile_k = 32, .stages = 4, .threads = 128, .ctas_per_sm = 2};
// 8x8 results a thread: 64 FFMA for 4 16-byte shared loads.
inline constexpr KernelConfig kF32Simt{
    .tile_m = 128, .tile_n = 128, .tile_k = 16, .stages = 3, .threads = 256, .ctas_per_sm = 1};

SKGEMM_HD constexpr KernelConfig config_of(DataType in) {
  return in == DataType::f32 ? kF32Simt : kHalfMma;
}

}  // namespace skgemm
