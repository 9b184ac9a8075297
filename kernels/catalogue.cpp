#include "kernels/catalogue.h"

namespace skgemm {
namespace {

constexpr KernelRow kRows[] = {
    {.name = "f16_mma", .in = DataType::f16, .arch_min = 80, .tile_m = 128, .tile_n = 128, .tile_k = 32, .stages = 4,
     .threads = 256, .ctas_per_sm = 2, .smem_bytes = 65536, .vector_bytes = 16},
    {.name = "bf16_mma", .in = DataType::bf16, .arch_min = 80, .tile_m = 128, .tile_n = 128, .tile_k = 32, .stages = 4,
     .threads = 256, .ctas_per_sm = 2, .smem_bytes = 65536, .vector_bytes = 16},
    {.name = "f32_simt", .in = DataType::f32, .arch_min = 80, .tile_m = 128, .tile_n = 128, .tile_k = 16, .stages = 3,
     .threads = 256, .ctas_per_sm = 2, .smem_bytes = 49152, .vector_bytes = 16},
    {.name = "f64_dmma", .in = DataType::f64, .arch_min = 80, .tile_m = 64, .tile_n = 64, .tile_k = 16, .stages = 4,
     .threads = 128, .ctas_per_sm = 2, .smem_bytes = 65536, .vector_bytes = 16},
};

}  // namespace

std::span<const KernelRow> catalogue() { return kRows; }

const KernelRow* find_kernel(DataType in, int compute_capability) {
  const KernelRow* best = nullptr;
  for (const KernelRow& row : kRows) {
    if (row.in == in && row.arch_min <= compute_capability && (best == nullptr || row.arch_min > best->arch_min)) best = &row;
  }
  return best;
}

}  // namespace skgemm
