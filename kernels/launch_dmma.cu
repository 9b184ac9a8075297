// The launch of the fp64 kernels.
#include <algorithm>

#include "kernels/dmma_params.h"
#include "kernels/launch_config.h"
#include "kernels/tensor_map.h"

namespace skgemm {
namespace {

struct Extents {
  int64_t extent, k, batch;  // rows or columns
};

CopiedLines lines_of(const Operand& x, const Extents& e) {
  constexpr int64_t kSize = 8;
  CopiedLines lines{};
  lines.data = static_cast<const char*>(x.data);
  lines.pitch = x.ld * kSize;
  lines.batch_pitch = e.batch > 1 ? x.batch_stride * kSize : 0;
  lines.extent = e.extent;
  return lines;
}
LineStarts starts_of(const CopiedLines& x) { return {x.data, x.pitch, x.batch_pitch}; }

// Whether it can be copied in pieces of 16 bytes, none of them across the end of a line.
bool is_wide(const CopiedLines& x, bool k_major, int64_t k) {
  return aligned(starts_of(x), 16) && (k_major ? k : x.extent) % 2 == 0;
}

// If the TMA takes the operand, a map of boxes of a stage's `lines`, or of blocks of 16.
int map(CopiedLines* x, bool k_major, const Extents& e, int lines) {
  constexpr int64_t kEnd = (int64_t{1} << 31) - dmma_smem::kMaxWidth;  // boxes are placed by 32 bits
  x->boxed = x->data != nullptr && tma_takes(starts_of(*x)) && std::max({e.extent, e.k, e.batch}) < kEnd;
  if (!x->boxed) return cudaSuccess;
  const int64_t along = k_major ? e.k : e.extent, across = k_major ? e.extent : e.k;
  return encode_map(&x->map, DataType::f64, {starts_of(*x), along, across, e.batch},
                    k_major ? lines : dmma_smem::kBlock);
}

// Stages, about as many as a worker has steps.
int stages_of(const ShortSchedule& s, int width) {
  const int64_t steps = ceil_div(int64_t{s.tiles()} * s.space.steps, s.ctas) + 1;
  return static_cast<int>(std::clamp<int64_t>(steps, dmma_smem::kLeastStages, dmma_smem::stages(width)));
}

// CTAs for so many workers: spread over all multiprocessors before any has two.
int64_t grid_of(int64_t workers, int of_cta, int64_t sms) {
  return workers <= sms ? workers : std::max(std::min(workers, sms), ceil_div(workers, of_cta));
}

}  // namespace

int launch_dmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                CUstream_st* stream) {
  const Operand &x = tile.swapped ? args.b : args.a, &y = tile.swapped ? args.a : args.b;
  const int64_t rows = tile.swapped ? args.n : args.m, columns = tile.swapped ? args.m : args.n;
  const int64_t batch = schedule.space.batch;
  DmmaParams p{};
  const Extents x_extents{rows, args.k, batch}, y_extents{columns, args.k, batch};
  p.x = lines_of(x, x_extents);
  p.y = lines_of(y, y_extents);
  p.wide = is_wide(p.x, x.k_major, args.k) && is_wide(p.y, y.k_major, args.k);
  p.swapped = tile.swapped;
  p.c = static_cast<char*>(args.c);
  p.c_pitch = args.ldc * size_of(args.out);
  p.c_batch_pitch = batch > 1 ? args.c_batch_stride * size_of(args.out) : 0;
  p.c_vector = aligned(LineStarts{p.c, p.c_pitch, p.c_batch_pitch}, 16);
  p.last_k = static_cast<int>(args.k - (schedule.space.steps - 1) * dmma_smem::kTileK);
  p.schedule = short_of(schedule);
  p.width = tile.width();
  p.stages = stages_of(p.schedule, p.width);
  if (row.arch_min >= 90 && has_tensor_maps()) {
    if (const int e = map(&p.x, x.k_major, x_extents, dmma_smem::kRows); e != cudaSuccess) return e;
    if (const int e = map(&p.y, y.k_major, y_extents, p.width); e != cudaSuccess) return e;
  }
  p.alpha = args.alpha;
  p.beta = args.beta;
  p.counters = args.counters;
  p.slots = args.slots;

  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config =
      config_of(grid_of(schedule.ctas, row.workers, args.sms), row.threads, row.smem_bytes, stream, attributes);
  if (!row.waits) config.numAttrs = 0;
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, dmma_function(x.k_major, y.k_major), arguments);
}

}  // namespace skgemm
