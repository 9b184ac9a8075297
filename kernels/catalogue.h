// The built kernels, one row each. The selector, the launcher and the kernels themselves read the same numbers.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/types.h"

namespace skgemm {

struct KernelRow {
  const char* name;
  DataType in;                 // type of A and B
  int arch_min;                // lowest compute capability, as 80 or 90
  int tile_m, tile_n, tile_k;  // elements
  int stages;                  // shared-memory buffers in the copy pipeline
  int threads;
  int ctas_per_sm;    // resident CTAs the kernel is built for (launch bounds)
  size_t smem_bytes;  // dynamic shared memory of a CTA

  constexpr size_t slot_bytes() const {  // one partial tile
    return static_cast<size_t>(tile_m) * tile_n * size_of(accumulator_of(in));
  }
};

std::span<const KernelRow> catalogue();
// The row for an element type on a device; nullptr when the device is too old.
const KernelRow* find_kernel(DataType in, int compute_capability);

}  // namespace skgemm
