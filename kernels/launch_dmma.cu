// The launch of the fp64 kernels.
#include <algorithm>

#include "kernels/dmma_params.h"
#include "kernels/launch_config.h"
#include "kernels/line_starts.h"

namespace skgemm {
namespace {

CopiedLines lines_of(const Operand& x, int64_t extent, int64_t batch) {
  constexpr int64_t kSize = 8;
  return {static_cast<const char*>(x.data), x.ld * kSize, batch > 1 ? x.batch_stride * kSize : 0, extent};
}

// Whether it can be copied in pieces of 16 bytes, none of them across the end of a line.
bool is_wide(const CopiedLines& x, bool k_major, int64_t k) {
  return aligned(LineStarts{x.data, x.pitch, x.batch_pitch}, 16) && (k_major ? k : x.extent) % 2 == 0;
}

// Stages, about as many as a worker has steps.
int stages_of(const ShortSchedule& s, int width) {
  const int64_t steps = ceil_div(int64_t{s.tiles()} * s.space.steps, s.ctas) + 1;
  return static_cast<int>(std::clamp<int64_t>(steps, dmma_smem::kLeastStages, dmma_smem::stages(width)));
}

}  // namespace

int launch_dmma(const KernelRow& row, const TileShape& tile, const Schedule& schedule, const GemmArgs& args,
                CUstream_st* stream) {
  const Operand &x = tile.swapped ? args.b : args.a, &y = tile.swapped ? args.a : args.b;
  const int64_t rows = tile.swapped ? args.n : args.m, columns = tile.swapped ? args.m : args.n;
  const int64_t batch = schedule.space.batch;
  DmmaParams p{};
  p.x = lines_of(x, rows, batch);
  p.y = lines_of(y, columns, batch);
  p.wide = is_wide(p.x, x.k_major, args.k) && is_wide(p.y, y.k_major, args.k);
  p.swapped = tile.swapped;
  p.c = static_cast<char*>(args.c);
  p.c_pitch = args.ldc * size_of(args.out);
  p.c_batch_pitch = batch > 1 ? args.c_batch_stride * size_of(args.out) : 0;
  p.c_vector = aligned(LineStarts{p.c, p.c_pitch, p.c_batch_pitch}, 16);
  p.k = args.k;
  p.schedule = short_of(schedule);
  p.width = tile.width();
  p.stages = stages_of(p.schedule, p.width);
  p.alpha = args.alpha;
  p.beta = args.beta;
  p.counters = args.counters;
  p.slots = args.slots;

  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config = config_of(schedule.ctas, row.threads, row.smem_bytes, stream, attributes);
  // Other parts run code that was built for sm_80, which does not wait.
  if (args.compute_capability != 90) config.numAttrs = 0;
  void* arguments[] = {&p};
  return cudaLaunchKernelExC(&config, dmma_function(x.k_major, y.k_major), arguments);
}

}  // namespace skgemm
