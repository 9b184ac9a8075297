#include "kernels/catalogue.h"

#include <algorithm>
#include <iterator>

#include "kernels/dmma_smem.h"
#include "kernels/smem_layout.h"
#include "kernels/wgmma_smem.h"

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
          .arch_max = 999,
          .by_tma = false,
          .waits = false,
          .tile_m = c.tile_m,
          .tile_n = c.tile_n,
          .tile_k = c.tile_k,
          .width_step = 0,
          .fine_width = 0,
          .narrowest = 0,
          .stages = c.stages,
          .threads = c.threads,
          .workers = 1,
          .ctas_per_sm = c.ctas_per_sm,
          .counters = 1,
          .most_clustered = 1,
          .smem_bytes = smem};
}

constexpr KernelRow wgmma_row(const char* name, DataType in) {
  using namespace wgmma_smem;
  return {.name = name,
          .in = in,
          .arch_min = 90,
          .arch_max = 90,
          .by_tma = true,
          .waits = true,
          .tile_m = kRows,
          .tile_n = kMaxWidth,
          .tile_k = kTileK,
          .width_step = kWidthStep,
          .fine_width = kMaxWidth,
          .narrowest = 32,
          .stages = 0,
          .threads = kThreads,
          .workers = 1,
          .ctas_per_sm = 1,
          .counters = kConsumers,
          .most_clustered = kMostClustered,
          .smem_bytes = kBytes};
}

constexpr KernelRow dmma_row(const char* name, int arch_min, int arch_max, int workers) {
  using namespace dmma_smem;
  return {.name = name,
          .in = DataType::f64,
          .arch_min = arch_min,
          .arch_max = arch_max,
          .by_tma = false,
          .waits = arch_min >= 90,
          .tile_m = kRows,
          .tile_n = kMaxWidth,
          .tile_k = kTileK,
          .width_step = kWidthStep,
          .fine_width = kFineWidth,
          .narrowest = kWidthStep,
          .stages = 0,
          .threads = workers * kWorkerThreads,
          .workers = workers,
          .ctas_per_sm = 1,
          .counters = 1,
          .most_clustered = 1,
          .smem_bytes = static_cast<size_t>(bytes(workers))};
}

constexpr KernelRow kRows[] = {row<DataType::f16>("f16_mma"),
                               row<DataType::bf16>("bf16_mma"),
                               row<DataType::f32>("f32_simt"),
                               dmma_row("f64_dmma_sm80", 80, 999, 1),
                               dmma_row("f64_dmma", 90, 90, dmma_smem::kMostWorkers),
                               wgmma_row("f16_wgmma", DataType::f16),
                               wgmma_row("bf16_wgmma", DataType::bf16)};

}  // namespace

std::span<const KernelRow> catalogue() { return kRows; }

const KernelRow* find_kernel(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &KernelRow::name);
  return found == std::end(kRows) ? nullptr : found;
}

const KernelRow* find_kernel(DataType in, int compute_capability, bool small_extents) {
  const KernelRow* best = nullptr;
  for (const KernelRow& r : kRows) {
    if (r.in != in || compute_capability < r.arch_min || compute_capability > r.arch_max) continue;
    if (r.by_tma && !small_extents) continue;
    if (best == nullptr || r.arch_min > best->arch_min) best = &r;
  }
  return best;
}

}  // namespace skgemm
