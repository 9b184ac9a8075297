// The units of a worker on their way from a thread that walks the schedule to the warps that do them. These find in
// shared memory what they need of a unit, when they need it: the walk's state and its quotients cost them nothing.
#pragma once
#include "kernels/cluster_place.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ring_position.cuh"
#include "kernels/wgmma_params.h"

namespace skgemm {

// A k-step of a CTA's part of a tile: the first row of X and column of Y, the first k, the batch entry.
struct StepOrigin {
  int x, y, k, entry;
};
__device__ __forceinline__ StepOrigin origin_of(const WgmmaParams& p, const ClusterPlace& place, const ShortUnit& u) {
  const ShortTileCoord tile = p.schedule.space.coord(u.tile);
  const int row = (p.swapped ? tile.n : tile.m) * p.cluster_rows + place.row;
  const int column = (p.swapped ? tile.m : tile.n) * p.cluster_columns + place.column;
  return {row * wgmma_smem::kRows, column * p.width, u.step_begin * wgmma_smem::kTileK, tile.batch};
}

struct QueuedUnit {
  char* c;           // the CTA's part of the tile in C,
  int along, lines;  // how many elements of a line and lines (columns) of C exist from there on
  int steps;
  bool last;  // of the worker
  int contributors, position, counter;
  int head, second;  // slots of contributors 0 and 1
};

__device__ __forceinline__ QueuedUnit queued(const WgmmaParams& p, const StepOrigin& origin, const ShortUnit& u,
                                             bool last) {
  const int along = p.swapped ? origin.y : origin.x, line = p.swapped ? origin.x : origin.y;
  const int size = p.out == DataType::f32 ? 4 : 2;
  QueuedUnit q{.c = p.c + origin.entry * p.c_batch_pitch + line * p.c_pitch + int64_t{along} * size,
               .along = (p.swapped ? p.columns : p.rows) - along,
               .lines = (p.swapped ? p.rows : p.columns) - line,
               .steps = u.step_end - u.step_begin,
               .last = last,
               .contributors = u.contributors,
               .position = u.position,
               .counter = u.counter,
               .head = 0,
               .second = 0};
  if (u.contributors > 1) {
    q.head = p.schedule.slot(u, 0);
    q.second = p.schedule.slot(u, 1);
  }
  return q;
}

// Slots of a queued unit's tile (Schedule::slot).
struct QueuedSlots {
  int stride;

  __device__ __forceinline__ int64_t slot(const QueuedUnit& u, int64_t position) const {
    return position == 0 ? u.head : u.second + (position - 1) * stride;
  }
  __device__ __forceinline__ int64_t slot_stride() const { return stride; }
};

class UnitQueue {
 public:
  __device__ __forceinline__ UnitQueue(char* smem, uint32_t address)
      : units_(reinterpret_cast<QueuedUnit*>(smem + wgmma_smem::kUnitsAt)), address_(address) {
    static_assert(sizeof(QueuedUnit) <= wgmma_smem::kUnitBytes);
  }

  // By one thread, before any use.
  static __device__ __forceinline__ void init(uint32_t address) {
#pragma unroll
    for (int i = 0; i < wgmma_smem::kUnits; ++i) {
      ptx::mbarrier_init(address + wgmma_smem::kUnitFullAt + 8 * i, 1);
      ptx::mbarrier_init(address + wgmma_smem::kUnitEmptyAt + 8 * i, wgmma_smem::kConsumerWarps);
    }
    ptx::mbarrier_init_fence();
  }

  // By a thread that walks, which leaves units that another one pushes out.
  __device__ __forceinline__ void skip() { position_.advance(wgmma_smem::kUnits); }
  __device__ __forceinline__ void push(const QueuedUnit& u) {
    ptx::mbarrier_wait(empty(), position_.phase ^ 1);
    units_[position_.at] = u;
    ptx::mbarrier_arrive(full());
    position_.advance(wgmma_smem::kUnits);
  }

  // By readers: the next unit, and, by one thread of each, that it was read.
  __device__ __forceinline__ const QueuedUnit& front() const {
    ptx::mbarrier_wait(full(), position_.phase);
    return units_[position_.at];
  }
  __device__ __forceinline__ void pop(bool tells) {
    if (tells) ptx::mbarrier_arrive(empty());
    position_.advance(wgmma_smem::kUnits);
  }

 private:
  __device__ __forceinline__ uint32_t full() const { return address_ + wgmma_smem::kUnitFullAt + 8 * position_.at; }
  __device__ __forceinline__ uint32_t empty() const { return address_ + wgmma_smem::kUnitEmptyAt + 8 * position_.at; }

  QueuedUnit* units_;
  uint32_t address_;
  RingPosition position_;
};

// What cta_main takes its units from, in a consumer warp.
class QueuedUnits {
 public:
  __device__ __forceinline__ QueuedUnits(const WgmmaParams& p, UnitQueue queue)
      : queue_(queue), slots_{p.schedule.slot_stride()} {}

  __device__ __forceinline__ bool next() {
    if (last_) return false;
    unit_ = &queue_.front();
    // The same for all lanes, and the compiler has to know: then the addresses that wgmma and barriers take are worked
    // out once for the warp, in uniform registers, and not moved there one by one.
    last_ = ptx::uniform(unit_->last);
    return true;
  }
  __device__ __forceinline__ const QueuedUnit& unit() const { return *unit_; }
  __device__ __forceinline__ const QueuedSlots& slots() const { return slots_; }
  __device__ __forceinline__ void summed() const {}
  __device__ __forceinline__ void finished() {
    __syncwarp();  // all lanes have read it
    queue_.pop(ptx::lane_index() == 0);
  }

 private:
  UnitQueue queue_;
  QueuedSlots slots_;
  const QueuedUnit* unit_ = nullptr;
  bool last_ = false;
};

}  // namespace skgemm
