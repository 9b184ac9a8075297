// The launch of the wgmma kernels: the operands as tensors for the TMA, and a grid that may start before the one before
// it has ended.
#include <cuda_runtime.h>

#include <bit>
#include <numeric>

#include "kernels/wgmma_params.h"

namespace skgemm {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// From the driver that is loaded: the library doesn't link to it. nullptr when it has none (before CUDA 12.0).
EncodeTiled encode_tiled() {
  static const EncodeTiled function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    return e == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(found) : nullptr;
  }();
  return function;
}

CUtensorMapDataType tensor_type(DataType t) {
  return t == DataType::f16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
         : t == DataType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                               : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUtensorMapSwizzle swizzle_of(int bytes) {  // of lines as long as its period
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                       : CU_TENSOR_MAP_SWIZZLE_32B;
}

struct Extents {
  int64_t along, lines, batch;  // of a line; how many
};
struct Box {
  int bytes, lines;
};

// Whether the TMA can take the matrix (cuTensorMapEncodeTiled, CUDA driver API: addresses and pitches).
bool takes(const Lines& x) {
  constexpr int64_t kMostBytes = int64_t{1} << 40;
  return reinterpret_cast<uintptr_t>(x.data) % 16 == 0 && x.pitch % 16 == 0 && x.batch_pitch % 16 == 0 &&
         x.pitch < kMostBytes && x.batch_pitch < kMostBytes && x.batch_pitch >= 0 && encode_tiled() != nullptr;
}

int encode(Lines* x, DataType type, const Extents& extents, const Box& box) {
  const cuuint64_t dims[] = {static_cast<cuuint64_t>(extents.along), static_cast<cuuint64_t>(extents.lines),
                             static_cast<cuuint64_t>(x->batch_pitch == 0 ? 1 : extents.batch)};
  const cuuint64_t pitches[] = {static_cast<cuuint64_t>(x->pitch),
                                static_cast<cuuint64_t>(x->batch_pitch == 0 ? x->pitch : x->batch_pitch)};
  const cuuint32_t boxes[] = {static_cast<cuuint32_t>(box.bytes / size_of(type)), static_cast<cuuint32_t>(box.lines), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult result = encode_tiled()(
      &x->map, tensor_type(type), 3, const_cast<char*>(x->data), dims, pitches, boxes, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(box.bytes), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

struct OperandTile {
  int64_t extent;  // rows of X or columns of Y
  int loaded;      // of them in a tile
};
int fill(Lines* to, const Operand& x, const GemmArgs& args, const OperandTile& tile, int64_t batch) {
  const int size = size_of(args.in);
  *to = {.map = {}, .data = static_cast<const char*>(x.data), .pitch = x.ld * size,
         .batch_pitch = batch > 1 ? x.batch_stride * size : 0, .tma = false};
  to->tma = takes(*to);
  if (!to->tma) return cudaSuccess;
  const Extents extents = x.k_major ? Extents{args.k, tile.extent, batch} : Extents{tile.extent, args.k, batch};
  return encode(to, args.in, extents,
                {wgmma_smem::kLineBytes, x.k_major ? tile.loaded : wgmma_smem::kTileK});
}

int fill_c(WgmmaParams* p, const GemmArgs& args, int64_t batch) {
  const int size = size_of(args.out), line = wgmma_smem::kLineBytes;
  p->c = {.map = {}, .data = static_cast<const char*>(args.c), .pitch = args.ldc * size,
          .batch_pitch = batch > 1 ? args.c_batch_stride * size : 0, .tma = false};
  p->c.tma = takes(p->c);
  const int bytes = p->c.tma && p->swapped ? std::gcd(p->width * size, line) : line;
  p->c_box_log2_bytes = std::countr_zero(static_cast<unsigned>(bytes));
  p->c_box_lines = p->swapped ? 64 : std::gcd(p->width, line / size);
  return p->c.tma ? encode(&p->c, args.out, {args.m, args.n, batch}, {bytes, p->c_box_lines}) : cudaSuccess;
}

}  // namespace

int launch_wgmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                 CUstream_st* stream) {
  using namespace wgmma_smem;
  const Operand &x = tile.swapped ? args.b : args.a, &y = tile.swapped ? args.a : args.b;
  WgmmaParams p{};
  p.schedule = schedule;
  p.rows = tile.swapped ? args.n : args.m;
  p.columns = tile.swapped ? args.m : args.n;
  p.k = args.k;
  p.width = tile.swapped ? tile.m : tile.n;
  p.loaded = loaded_width(p.width, y.k_major);
  p.stage_bytes = stage_bytes(p.loaded);
  p.stages = stages(p.stage_bytes);
  p.swapped = tile.swapped;
  p.out = args.out;
  p.alpha = args.alpha;
  p.beta = args.beta;
  p.counters = args.counters;
  p.slots = args.slots;
  const int64_t batch = schedule.space.batch;
  if (const int e = fill(&p.x, x, args, {p.rows, kRows}, batch); e != cudaSuccess) return e;
  if (const int e = fill(&p.y, y, args, {p.columns, p.loaded}, batch); e != cudaSuccess) return e;
  if (const int e = fill_c(&p, args, batch); e != cudaSuccess) return e;

  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  const cudaLaunchConfig_t config{.gridDim = dim3(static_cast<unsigned>(schedule.ctas)),
                                  .blockDim = dim3(static_cast<unsigned>(row.threads)),
                                  .dynamicSmemBytes = row.smem_bytes,
                                  .stream = stream,
                                  .attrs = &early,
                                  .numAttrs = 1};
  void* arguments[] = {&p};
  const void* const kernel = row.in == DataType::f16 ? wgmma_function<DataType::f16>(x.k_major, y.k_major)
                                                     : wgmma_function<DataType::bf16>(x.k_major, y.k_major);
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

}  // namespace skgemm
