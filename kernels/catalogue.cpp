#include "kernels/catalogue.h"

#include "kernels/smem_layout.h"

namespace skgemm {
namespace {

template <DataType kIn>
constexpr KernelRow row(const char* name) {
  constexpr KernelConfig c = config_of(kIn);
  constexpr int smem = SmemLayout<kIn, false, false>::kBytes;
  static_assert(smem == SmemLayout<kIn, true, true>::kBytes,
                "the four layouts of a kernel take the same shared memory");
  static_assert(smem <= 99 * 1024,
                "the smallest sm_80+ parts give a CTA 99 KiB (CUDA programming guide, compute capability 8.6)");
  return {.name = name,
          .in = kIn,
          .arch_min = 80,
          .tile_m = c.tile_m,
          .tile_n = c.tile_n,
          .tile_k = c.tile_k,
          .stages = c.stages,
          .threads = c.threads,
          .ctas_per_sm = c.ctas_per_sm,
          .smem_bytes = smem};
}

constexpr KernelRow kRows[] = {row<DataType::f16>("f16_mma"), row<DataType::bf16>("bf16_mma"),
                               row<DataType::f32>("f32_simt"), row<DataType::f64>("f64_dmma")};

}  // namespace

std::span<const KernelRow> catalogue() { return kRows; }

const KernelRow* find_kernel(DataType in, int compute_capability) {
  const KernelRow* best = nullptr;
  for (const KernelRow& r : kRows) {
    if (r.in == in && r.arch_min <= compute_capability && (best == nullptr || r.arch_min > best->arch_min)) best = &r;
  }
  return best;
}

}  // namespace skgemm
