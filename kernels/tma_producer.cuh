// Fills the ring by TMA.
#pragma once
#include "kernels/element.cuh"
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/tma_ring.cuh"
#include "kernels/unit_queue.cuh"

namespace skgemm {

// alpha == 0: neither A nor B is read, they may be no memory at all (BLAS), and the consumers wait for no stage. Known
// after wait_for_grids_before.
__device__ __forceinline__ bool reads_nothing(const WgmmaParams& p) { return read_scalar<float>(p.alpha) == 0; }

// What one CTA loads of an operand for a stage, for itself and the others that use it. Of a k-major operand a box of
// lines. Where lines run along the rows or columns, a box for each block of 64: of some blocks, or, where they can't be
// shared out evenly, of some lines of each.
struct StagePart {
  uint32_t to;  // byte of the stage
  int line;     // first of the operand's lines in the stage,
  int along;    // and first element of those
  int blocks;
  uint32_t ctas;  // that use it, each a bit
  bool alone;     // only this one does
};
// Copies one operand of each k-step of the worker's units: X's producer walks the schedule and tells all others of its
// units, Y's has them from the queue. Each for an elected thread of its warp (ptx::elect_one): otherwise a TMA
// instruction becomes a loop over threads.
template <bool kIsX, bool kKMajor>
class TmaProducer {
 public:
  __device__ __forceinline__ TmaProducer(const WgmmaParams& p, const ClusterPlace& place, TmaRing ring, UnitQueue units)
      : p_(p), place_(place), x_(kIsX ? p.x : p.y), ring_(ring), units_(units) {
    using namespace wgmma_smem;
    const int parts = kIsX ? p.cluster_columns : p.cluster_rows, part = kIsX ? place.column : place.row;
    const bool whole_blocks = !kKMajor && x_.box_lines == kTileK;
    const int blocks = kKMajor ? 1 : whole_blocks ? extent() / kBlock / parts : extent() / kBlock;
    const int line = whole_blocks ? 0 : part * x_.box_lines, along = whole_blocks ? part * blocks * kBlock : 0;
    part_ = {.to = (kIsX ? 0u : kXBytes) + (line + along) * kLineBytes,
             .line = line,
             .along = along,
             .blocks = blocks,
             .ctas = kIsX ? place.sharing_x(p) : place.sharing_y(p),
             .alone = parts == 1};
  }

  __device__ __forceinline__ void run() {
    if constexpr (kIsX)
      walk();
    else
      follow();
  }

 private:
  __device__ __forceinline__ int extent() const { return kIsX ? wgmma_smem::kRows : p_.loaded; }

  __device__ __forceinline__ void walk() {
    UnitCursor cursor(p_.schedule, place_.worker);
    Unit u, next;
    bool more = cursor.next(next), waited = false, reads = false;
    while (more) {
      u = next;
      more = cursor.next(next);
      const QueuedUnit q = queued(p_, place_, u, !more);
      units_.push(q);
      if (!waited) {  // this late: all have the first unit by now
        prefetch(q.origin, q.steps);
        ptx::wait_for_grids_before();
        reads = !reads_nothing(p_);
        waited = true;
      }
      if (reads) copy(q.origin, q.steps);
    }
    if (p_.cluster_rows * p_.cluster_columns > 1) await_readers();
  }

  // Until all CTAs of the cluster have told this one that they have read what it loaded: before that it must not end,
  // and with it its barriers.
  __device__ __forceinline__ void await_readers() {
    for (int i = 0; i < p_.stages; ++i) {
      ring_.wait_empty();
      ring_.advance();
    }
  }

  __device__ __forceinline__ void follow() {
    prefetch(units_.front().origin, units_.front().steps);
    ptx::wait_for_grids_before();
    const bool reads = !reads_nothing(p_);
    for (bool last = false; !last;) {
      const QueuedUnit& u = units_.front();
      const StepOrigin origin = u.origin;
      const int steps = u.steps;
      last = u.last;
      units_.pop(true);
      if (reads) copy(origin, steps);
    }
  }

  // Brings the first k-steps into L2 while the grids before end. That is where their writes of an operand go too. Only
  // for small grids, which begin early (for large ones it was slower); and an alpha that only the device knows could be
  // 0, and the operand no memory.
  __device__ __forceinline__ void prefetch(const StepOrigin& origin, int steps) const {
    constexpr int kMost = 4;
    if (p_.alpha.device != nullptr || 2 * gridDim.x > ptx::multiprocessors()) return;
    const int entry = x_.batch_pitch == 0 ? 0 : origin.entry;
#pragma unroll 1
    for (int step = 0; step < min(steps, kMost); ++step) {
      for_boxes(origin, origin.k + step * wgmma_smem::kTileK, [&](int along, int line) {
        ptx::tma_prefetch(&x_.map, along, line, entry);
      });
    }
  }

  __device__ __forceinline__ void copy(const StepOrigin& origin, int steps) {
    const int entry = x_.batch_pitch == 0 ? 0 : origin.entry;
    int k = origin.k;
#pragma unroll 1
    for (; steps > 0; --steps) {
      ring_.wait_empty();
      ptx::mbarrier_arrive_expect(ring_.full(), extent() * wgmma_smem::kLineBytes);
      uint32_t to = ring_.address() + part_.to;
      for_boxes(origin, k, [&](int along, int line) {
        if (part_.alone)
          ptx::tma_load(to, &x_.map, ring_.full(), along, line, entry);
        else
          ptx::tma_load_to(static_cast<uint16_t>(part_.ctas), to, &x_.map, ring_.full(), along, line, entry);
        to += wgmma_smem::kBlock * wgmma_smem::kLineBytes;
      });
      ring_.advance();
      k += wgmma_smem::kTileK;
    }
  }

  // Calls each(first element of a line, first line) for the boxes of the part of the k-step at `k`.
  template <class Each>
  __device__ __forceinline__ void for_boxes(const StepOrigin& origin, int k, const Each& each) const {
    const int first = kIsX ? origin.x : origin.y, line = (kKMajor ? first : k) + part_.line;
    int along = (kKMajor ? k : first) + part_.along;
#pragma unroll 1
    for (int block = part_.blocks; block > 0; --block, along += wgmma_smem::kBlock) each(along, line);
  }

  const WgmmaParams& p_;
  const ClusterPlace place_;
  const Lines& x_;
  TmaRing ring_;
  UnitQueue units_;
  StagePart part_;
};

}  // namespace skgemm
