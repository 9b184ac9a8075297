// The launch of the wgmma kernels: the operands as tensors for the TMA, and a grid that may start before the one before
// it has ended.
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

#include "kernels/align_kernel.cuh"
#include "kernels/aligned_copy.h"
#include "kernels/line_starts.h"
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

struct Extents {
  int64_t along, lines, batch;  // of a line; how many
};

bool aligned(const Lines& x) { return skgemm::aligned(LineStarts{x.data, x.pitch, x.batch_pitch}, 16); }
// Whether the TMA can take the matrix (cuTensorMapEncodeTiled, CUDA driver API: addresses and pitches).
bool takes(const Lines& x) {
  constexpr int64_t kMostBytes = int64_t{1} << 40;
  return aligned(x) && x.pitch < kMostBytes && x.batch_pitch < kMostBytes && x.batch_pitch >= 0 &&
         encode_tiled() != nullptr;
}

// In boxes of 64 elements by `lines`, permuted by the 128-byte swizzle.
int encode(Lines* x, DataType type, const Extents& extents, int lines) {
  const cuuint64_t dims[] = {static_cast<cuuint64_t>(extents.along), static_cast<cuuint64_t>(extents.lines),
                             static_cast<cuuint64_t>(x->batch_pitch == 0 ? 1 : extents.batch)};
  const cuuint64_t pitches[] = {static_cast<cuuint64_t>(x->pitch),
                                static_cast<cuuint64_t>(x->batch_pitch == 0 ? x->pitch : x->batch_pitch)};
  const cuuint32_t box[] = {wgmma_smem::kBlock, static_cast<cuuint32_t>(lines), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult result = encode_tiled()(
      &x->map, type == DataType::f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3,
      const_cast<char*>(x->data), dims, pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

Lines lines_of(const Operand& x, int size, int64_t batch) {
  Lines to{.map = {}, .data = static_cast<const char*>(x.data), .pitch = x.ld * size,
           .batch_pitch = batch > 1 ? x.batch_stride * size : 0, .tma = false};
  to.tma = takes(to);
  return to;
}

AlignJob align_job(Lines* x, const Extents& extents, char* to) {
  const int64_t entries = x->batch_pitch == 0 ? 1 : extents.batch;
  const AlignedCopy copy = aligned_copy(extents.along, extents.lines);
  const int64_t pieces = ceil_div(extents.along, 8);
  const AlignJob job{.from = x->data, .to = to, .pitch = x->pitch, .batch_pitch = x->batch_pitch,
                     .to_pitch = copy.pitch, .lines = extents.lines, .entries = entries, .along = extents.along,
                     .lanes = pieces >= 64 ? 32 : pieces >= 32 ? 16 : 8};
  *x = {.map = {}, .data = to, .pitch = copy.pitch, .batch_pitch = entries > 1 ? copy.pitch * extents.lines : 0,
        .tma = true};
  return job;
}

cudaLaunchConfig_t config_of(int64_t ctas, int threads, size_t smem, CUstream_st* stream, cudaLaunchAttribute* early) {
  early->id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early->val.programmaticStreamSerializationAllowed = 1;
  return {.gridDim = dim3(static_cast<unsigned>(ctas)), .blockDim = dim3(static_cast<unsigned>(threads)),
          .dynamicSmemBytes = smem, .stream = stream, .attrs = early, .numAttrs = 1};
}

// Copies those of the two whose lines are not aligned, and lets the copies stand for them.
struct Pair {
  Lines *a, *b;
  Extents a_extents, b_extents;
};
int align(const Pair& pair, const GemmArgs& args, CUstream_st* stream) {
  constexpr int64_t kMostCtas = 1024;  // some waves of any part
  AlignParams p{};
  char* room = static_cast<char*>(args.copies);
  int64_t wanted = 0;
  for (const auto& [x, extents] : {std::pair{pair.a, pair.a_extents}, std::pair{pair.b, pair.b_extents}}) {
    if (aligned(*x)) continue;
    AlignJob& job = p.job[p.jobs++];
    job = align_job(x, extents, room);
    room += aligned_copy(extents.along, extents.lines).bytes * extents.batch;
    wanted += ceil_div(job.lines * job.entries, kAlignThreads / job.lanes);
  }
  if (p.jobs == 0) return cudaSuccess;
  cudaLaunchAttribute early;
  const cudaLaunchConfig_t config =
      config_of(std::min({wanted, kMostCtas, args.most_ctas}), kAlignThreads, 0, stream, &early);
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(align_lines), arguments);
}

}  // namespace

int launch_wgmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                 CUstream_st* stream) {
  using namespace wgmma_smem;
  const Operand &x = tile.swapped ? args.b : args.a, &y = tile.swapped ? args.a : args.b;
  WgmmaParams p{};
  p.schedule = schedule;
  p.rows = static_cast<int>(tile.swapped ? args.n : args.m);
  p.columns = static_cast<int>(tile.swapped ? args.m : args.n);
  p.k = static_cast<int>(args.k);
  p.width = tile.swapped ? tile.m : tile.n;
  p.loaded = loaded_width(p.width, y.k_major);
  p.stage_bytes = stage_bytes(p.loaded);
  // About as many as a CTA has steps, as each takes time to set up; but two, as a stage is released a step late.
  const int64_t steps = ceil_div(schedule.tiles() * schedule.space.steps, schedule.ctas) + 1;
  p.stages = static_cast<int>(std::min<int64_t>(stages(p.stage_bytes), steps));
  p.swapped = tile.swapped;
  p.out = args.out;
  p.alpha = args.alpha;
  p.beta = args.beta;
  p.counters = args.counters;
  p.slots = args.slots;
  const int64_t batch = schedule.space.batch;
  p.c = static_cast<char*>(args.c);
  p.c_pitch = args.ldc * size_of(args.out);
  p.c_batch_pitch = batch > 1 ? args.c_batch_stride * size_of(args.out) : 0;
  p.c_vector = skgemm::aligned(LineStarts{p.c, p.c_pitch, p.c_batch_pitch}, 16);
  const auto extents_of = [&](const Operand& o, int64_t extent) {
    return o.k_major ? Extents{args.k, extent, batch} : Extents{extent, args.k, batch};
  };
  const Extents x_extents = extents_of(x, p.rows), y_extents = extents_of(y, p.columns);
  p.x = lines_of(x, size_of(args.in), batch);
  p.y = lines_of(y, size_of(args.in), batch);
  if (args.copies != nullptr && encode_tiled() != nullptr) {
    const Pair pair = tile.swapped ? Pair{&p.y, &p.x, y_extents, x_extents} : Pair{&p.x, &p.y, x_extents, y_extents};
    if (const int e = align(pair, args, stream); e != cudaSuccess) return e;
  }
  if (p.x.tma) {
    if (const int e = encode(&p.x, args.in, x_extents, x.k_major ? kRows : kTileK); e != cudaSuccess) return e;
  }
  if (p.y.tma) {
    if (const int e = encode(&p.y, args.in, y_extents, y.k_major ? p.loaded : kTileK); e != cudaSuccess) return e;
  }

  cudaLaunchAttribute early;
  const cudaLaunchConfig_t config = config_of(schedule.ctas, row.threads, row.smem_bytes, stream, &early);
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, wgmma_function(row.in, x.k_major, y.k_major), arguments);
}

int prepare_wgmma() {
  cudaFuncAttributes loaded;
  return cudaFuncGetAttributes(&loaded, align_lines);
}

}  // namespace skgemm
