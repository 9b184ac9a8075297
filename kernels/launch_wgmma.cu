// The launch of the wgmma kernels: the operands as tensors for the TMA, and a grid that may start before the one before
// it has ended.
#include <cuda_runtime.h>

#include <algorithm>
#include <iterator>

#include "kernels/align_kernel.cuh"
#include "kernels/launch_config.h"
#include "kernels/line_starts.h"
#include "kernels/tensor_map.h"
#include "kernels/wgmma_params.h"

namespace skgemm {
namespace {

struct Extents {
  int64_t along, lines, batch;  // of a line; how many
};

LineStarts starts_of(const Lines& x) { return {x.data, x.pitch, x.batch_pitch}; }

// In boxes of 64 elements by box_lines.
int encode(Lines* x, DataType type, const Extents& extents) {
  return encode_map(&x->map, type, {starts_of(*x), extents.along, extents.lines, extents.batch}, x->box_lines);
}

// Cuts a stage's `extent` rows or columns into parts: of a k-major operand a box of lines each; where lines run along
// the rows or columns, some of the blocks of 64, or, where these can't be shared out evenly, some lines of each.
void cut(Lines* x, bool k_major, int extent, int parts) {
  using namespace wgmma_smem;
  const int blocks = extent / kBlock;
  const bool whole_blocks = !k_major && blocks % parts == 0;
  x->box_lines = k_major ? extent / parts : whole_blocks ? kTileK : kTileK / parts;
  x->part_blocks = k_major ? 1 : whole_blocks ? blocks / parts : blocks;
  x->part_lines = whole_blocks ? 0 : x->box_lines;
  x->part_along = whole_blocks ? x->part_blocks * kBlock : 0;
  x->part_bytes = (x->part_lines + x->part_along) * kLineBytes;
}

// No matrix may be there: alpha, which only the device knows, can be 0. Then the address is one that nobody has.
Lines lines_of(const Operand& x, int size, int64_t batch) {
  constexpr uintptr_t kNowhere = 4096;
  const void* const data = x.data != nullptr ? x.data : reinterpret_cast<const void*>(kNowhere);
  Lines lines{};
  lines.data = static_cast<const char*>(data);
  lines.pitch = x.ld * size;
  lines.batch_pitch = batch > 1 ? x.batch_stride * size : 0;
  return lines;
}

// From `room` on, which it moves behind the copy, that then stands for the operand.
CopyJob copy_of(Lines* x, const Extents& extents, char** room) {
  const int64_t entries = x->batch_pitch == 0 ? 1 : extents.batch;
  const AlignedCopy copy = aligned_copy(extents.along, extents.lines);
  const CopyJob job = copy_job(x->data, *room, x->pitch, x->batch_pitch, extents.along, extents.lines, entries);
  x->data = *room;
  x->pitch = copy.pitch;
  x->batch_pitch = entries > 1 ? copy.pitch * extents.lines : 0;
  *room += copy.bytes * entries;
  return job;
}

int launch_copies(AlignParams p, int64_t most_ctas, CUstream_st* stream) {
  const int ctas = share_out(&p.copies, most_ctas);
  cudaLaunchAttribute attributes[2];
  const cudaLaunchConfig_t config = config_of(ctas, kCopyThreads, 0, stream, attributes);
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(align_lines), arguments);
}

// Copies those of the two that the TMA can't take, and lets the copies stand for them.
struct Pair {
  Lines *a, *b;
  Extents a_extents, b_extents;
};
int align(const Pair& pair, const GemmArgs& args, CUstream_st* stream) {
  constexpr int64_t kCtasPerSm = 6;  // from 3 to 8 are as good
  CopyJobs x{};
  char* room = static_cast<char*>(args.copies);
  if (!tma_takes(starts_of(*pair.a))) x.job[x.count++] = copy_of(pair.a, pair.a_extents, &room);
  if (!tma_takes(starts_of(*pair.b))) x.job[x.count++] = copy_of(pair.b, pair.b_extents, &room);
  if (x.count == 0) return cudaSuccess;
  const int64_t most = std::max<int64_t>(std::min(kCtasPerSm * args.sms, args.most_ctas), 1);
  if (x.count <= most) return launch_copies({x, args.alpha}, most, stream);
  for (int j = 0; j < x.count; ++j) {  // under a limit of one multiprocessor
    if (const int e = launch_copies({{{x.job[j]}, 1}, args.alpha}, 1, stream); e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

// Stages, about as many as a worker has steps, as each takes time to set up, beside as many chunks as can wait at once.
void cut_shared_memory(WgmmaParams* p) {
  using namespace wgmma_smem;
  const ShortSchedule& s = p->schedule;
  const bool waits = p->out != DataType::f32 && p->c_vector;
  p->stage_bytes = stage_bytes(p->loaded);
  p->chunks = waits ? chunks_of(p->width, p->stage_bytes, s.space.steps) : 1;
  const int64_t steps = ceil_div(int64_t{s.tiles()} * s.space.steps, s.ctas) + 1;
  p->stages = static_cast<int>(std::clamp<int64_t>(steps, kLeastStages, stages(p->stage_bytes, p->chunks)));
}

}  // namespace

int launch_wgmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                 CUstream_st* stream) {
  using namespace wgmma_smem;
  const Operand &x = tile.swapped ? args.b : args.a, &y = tile.swapped ? args.a : args.b;
  WgmmaParams p{};
  p.schedule = short_of(schedule);
  p.rows = static_cast<int>(tile.swapped ? args.n : args.m);
  p.columns = static_cast<int>(tile.swapped ? args.m : args.n);
  const int clustered = tile.cluster.ctas();
  p.cluster_rows = tile.swapped ? tile.cluster.n : tile.cluster.m;
  p.cluster_columns = clustered / p.cluster_rows;
  if (std::ranges::find(kClusterShapes, tile.cluster) == std::end(kClusterShapes)) return cudaErrorInvalidValue;
  for (int i = 0; i < p.cluster_columns; ++i) p.sharing_x |= 1u << i * p.cluster_rows;
  p.sharing_y = (1u << p.cluster_rows) - 1;
  p.width = tile.width();
  p.loaded = loaded_width(p.width, y.k_major);
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
  p.c_vector = aligned(LineStarts{p.c, p.c_pitch, p.c_batch_pitch}, 16);
  const auto extents_of = [&](const Operand& o, int64_t extent) {
    return o.k_major ? Extents{args.k, extent, batch} : Extents{extent, args.k, batch};
  };
  const Extents x_extents = extents_of(x, p.rows), y_extents = extents_of(y, p.columns);
  p.x = lines_of(x, size_of(args.in), batch);
  p.y = lines_of(y, size_of(args.in), batch);
  if (!has_tensor_maps()) return cudaErrorInsufficientDriver;
  if (args.copies != nullptr) {
    const Pair pair = tile.swapped ? Pair{&p.y, &p.x, y_extents, x_extents} : Pair{&p.x, &p.y, x_extents, y_extents};
    if (const int e = align(pair, args, stream); e != cudaSuccess) return e;
  }
  // The kernel reads by TMA alone. The selector takes lines that it can't for unaligned ones (src/shape_of.h), and
  // where it had no room for copies it has taken another kernel.
  if (!tma_takes(starts_of(p.x)) || !tma_takes(starts_of(p.y))) return cudaErrorInvalidValue;
  cut(&p.x, x.k_major, kRows, p.cluster_columns);
  cut(&p.y, y.k_major, p.loaded, p.cluster_rows);
  if (const int e = encode(&p.x, args.in, x_extents); e != cudaSuccess) return e;
  if (const int e = encode(&p.y, args.in, y_extents); e != cudaSuccess) return e;
  cut_shared_memory(&p);
  p.alpha_known = args.alpha.device == nullptr;
  p.reads = !p.alpha_known || static_cast<float>(args.alpha.value) != 0;
  p.prefetches = p.alpha_known && 2 * schedule.ctas * clustered <= args.sms;

  cudaLaunchAttribute attributes[2];
  const cudaLaunchConfig_t config =
      config_of(schedule.ctas * clustered, row.threads, row.smem_bytes, stream, attributes, clustered);
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, wgmma_function(row.in, x.k_major, y.k_major), arguments);
}

const void* align_function() { return reinterpret_cast<const void*>(align_lines); }

int prepare_wgmma() {
  cudaFuncAttributes loaded;
  return cudaFuncGetAttributes(&loaded, align_lines);
}

}  // namespace skgemm
