// The host side of the kernels (launch.h): picks the instantiation, works out the copy widths, launches.
#include <cuda_runtime.h>

#include <string_view>

#include "kernels/dmma_params.h"
#include "kernels/gemm_params.h"
#include "kernels/line_starts.h"
#include "kernels/scale_kernel.cuh"
#include "kernels/smem_layout.h"
#include "kernels/wgmma_params.h"

namespace skgemm {
namespace {

const void* function_of(const KernelRow& row, bool a_k_major, bool b_k_major) {
  if (row.by_tma) return wgmma_function(row.in, a_k_major, b_k_major);
  switch (row.in) {
    case DataType::f16:
      return gemm_function<DataType::f16>(a_k_major, b_k_major);
    case DataType::bf16:
      return gemm_function<DataType::bf16>(a_k_major, b_k_major);
    case DataType::f32:
      return gemm_function<DataType::f32>(a_k_major, b_k_major);
    default:
      return dmma_function(a_k_major, b_k_major);
  }
}

const void* scale_function(DataType type) {
  switch (type) {
    case DataType::f16:
      return reinterpret_cast<const void*>(scale<DataType::f16>);
    case DataType::bf16:
      return reinterpret_cast<const void*>(scale<DataType::bf16>);
    case DataType::f32:
      return reinterpret_cast<const void*>(scale<DataType::f32>);
    default:
      return reinterpret_cast<const void*>(scale<DataType::f64>);
  }
}

template <DataType kIn, bool kKMajor>
OperandCopy copy_of(const Operand& x, int64_t batch) {
  constexpr KernelConfig c = config_of(kIn);
  static_assert(c.tile_m == c.tile_n, "A and B have the same layouts");
  using Layout = TileLayout<kIn, kKMajor, c.tile_m, c.tile_k>;
  using Share = WholeShare<Layout, c.threads>;
  const int64_t pitch = x.ld * size_of(kIn);
  const LineStarts lines{x.data, pitch, batch > 1 ? x.batch_stride * size_of(kIn) : 0};
  return {.pitch = pitch,
          .piece_step = Share::kLineStep * pitch,
          .aligned = aligned(lines, Share::kElements * Layout::kSize)};
}

OperandCopy copy_of(const Operand& x, DataType type, int64_t batch) {
  if (type == DataType::f32)
    return x.k_major ? copy_of<DataType::f32, true>(x, batch) : copy_of<DataType::f32, false>(x, batch);
  return x.k_major ? copy_of<DataType::f16, true>(x, batch) : copy_of<DataType::f16, false>(x, batch);
}

}  // namespace

int launch_gemm(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                CUstream_st* stream) {
  if (row.by_tma) return launch_wgmma(row, tile, schedule, args, stream);
  if (row.in == DataType::f64) return launch_dmma(row, tile, schedule, args, stream);
  const int64_t batch = schedule.space.batch;
  const int size = size_of(args.out);
  const LineStarts c{args.c, args.ldc * size, batch > 1 ? args.c_batch_stride * size : 0};
  GemmParams params{.schedule = short_of(schedule),
                    .args = args,
                    .a = copy_of(args.a, args.in, batch),
                    .b = copy_of(args.b, args.in, batch),
                    .c_vector = aligned(c, 16)};
  void* arguments[] = {&params};
  const dim3 grid(static_cast<unsigned>(schedule.ctas)), block(static_cast<unsigned>(row.threads));
  return cudaLaunchKernel(function_of(row, args.a.k_major, args.b.k_major), grid, block, arguments, row.smem_bytes,
                          stream);
}

int launch_scale(const ScaleArgs& args, CUstream_st* stream) {
  const int64_t work = ceil_div(args.m, kScaleRows) * args.n * args.batch;
  ScaleArgs params = args;
  void* arguments[] = {&params};
  const dim3 grid(static_cast<unsigned>(work < args.most_ctas ? work : args.most_ctas)), block(kScaleThreads);
  return cudaLaunchKernel(scale_function(args.type), grid, block, arguments, 0, stream);
}

// By name: what a node of a graph names need not be the address that was launched.
bool waits_for_grids_before(const void* function) {
  const auto mangled = [](const void* kernel) {
    const char* name = nullptr;
    if (cudaFuncGetName(&name, kernel) != cudaSuccess) (void)cudaGetLastError();
    return std::string_view(name == nullptr ? "" : name);
  };
  const std::string_view name = mangled(function);
  if (name.empty()) return false;
  for (const KernelRow& row : catalogue()) {
    if (!row.waits) continue;
    for (const bool a_k_major : {false, true}) {
      for (const bool b_k_major : {false, true}) {
        if (name == mangled(function_of(row, a_k_major, b_k_major))) return true;
      }
    }
  }
  return name == mangled(align_function());
}

int prepare_kernels(int compute_capability) {
  for (const KernelRow& row : catalogue()) {
    if (compute_capability < row.arch_min || compute_capability > row.arch_max) continue;
    for (const bool a_k_major : {false, true}) {
      for (const bool b_k_major : {false, true}) {
        const cudaError_t e = cudaFuncSetAttribute(function_of(row, a_k_major, b_k_major),
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(row.smem_bytes));
        if (e != cudaSuccess) return e;
      }
    }
    if (row.by_tma) {
      if (const int e = prepare_wgmma(); e != cudaSuccess) return e;
    }
  }
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32, DataType::f64}) {
    if (find_kernel(type, compute_capability) == nullptr) return cudaErrorInvalidDevice;
    cudaFuncAttributes loaded;
    const cudaError_t e = cudaFuncGetAttributes(&loaded, scale_function(type));
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

}  // namespace skgemm
