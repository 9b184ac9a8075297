// The units of a worker on their way from a thread that walks the schedule to the warps that do them. These find in
// shared memory what they need of a unit, when they need it: the walk's state and its quotients cost them nothing.
#pragma once
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/queued_units.h"
#include "kernels/ring_position.cuh"
#include "kernels/schedule.h"

namespace skgemm {

// Where a worker's part of a tile begins in C, and how many elements of a line and lines (columns) of C exist from
// there on.
struct Output {
  char* c;
  int along, lines;
};

struct QueuedUnit : Output {
  int steps;
  bool last;  // of the worker
  int contributors, position, counter;
  int head, second;  // slots of contributors 0 and 1
};

__device__ __forceinline__ QueuedUnit queued(const ShortSchedule& s, const Output& out, const ShortUnit& u, bool last) {
  QueuedUnit q{out, u.step_end - u.step_begin, last, u.contributors, u.position, u.counter, 0, 0};
  if (u.contributors > 1) {
    q.head = s.slot(u, 0);
    q.second = s.slot(u, 1);
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

// The units lie at kUnitsAt of shared memory, their barriers at kFullAt and kEmptyAt; each is read by kReaders.
template <int kUnitsAt, int kFullAt, int kEmptyAt, int kReaders>
class UnitQueue {
 public:
  __device__ __forceinline__ UnitQueue(char* smem, uint32_t address)
      : units_(reinterpret_cast<QueuedUnit*>(smem + kUnitsAt)), address_(address) {
    static_assert(sizeof(QueuedUnit) <= kQueuedUnitBytes);
  }

  // By one thread, before any use.
  static __device__ __forceinline__ void init(uint32_t address) {
#pragma unroll
    for (int i = 0; i < kQueuedUnits; ++i) {
      ptx::mbarrier_init(address + kFullAt + 8 * i, 1);
      ptx::mbarrier_init(address + kEmptyAt + 8 * i, kReaders);
    }
  }

  // By a thread that walks, which leaves units that another one pushes out.
  __device__ __forceinline__ void skip() { position_.advance(kQueuedUnits); }
  __device__ __forceinline__ void push(const QueuedUnit& u) {
    ptx::mbarrier_wait(empty(), position_.phase ^ 1);
    units_[position_.at] = u;
    ptx::mbarrier_arrive(full());
    position_.advance(kQueuedUnits);
  }

  // By readers: the next unit, and, by one thread of each, that it was read.
  __device__ __forceinline__ const QueuedUnit& front() const {
    ptx::mbarrier_wait(full(), position_.phase);
    return units_[position_.at];
  }
  __device__ __forceinline__ void pop(bool tells) {
    if (tells) ptx::mbarrier_arrive(empty());
    position_.advance(kQueuedUnits);
  }

 private:
  __device__ __forceinline__ uint32_t full() const { return address_ + kFullAt + 8 * position_.at; }
  __device__ __forceinline__ uint32_t empty() const { return address_ + kEmptyAt + 8 * position_.at; }

  QueuedUnit* units_;
  uint32_t address_;
  RingPosition position_;
};

// What cta_main takes its units from, in a consumer warp.
template <class Queue>
class QueuedUnits {
 public:
  __device__ __forceinline__ QueuedUnits(const ShortSchedule& s, const Queue& queue) : schedule_(s), queue_(queue) {}

  __device__ __forceinline__ bool next() {
    if (last_) return false;
    unit_ = &queue_.front();
    // The same for all lanes, and the compiler has to know: then the addresses that wgmma and barriers take are worked
    // out once for the warp, in uniform registers, and not moved there one by one.
    last_ = ptx::uniform(unit_->last);
    return true;
  }
  __device__ __forceinline__ const QueuedUnit& unit() const { return *unit_; }
  __device__ __forceinline__ QueuedSlots slots() const { return {schedule_.slot_stride()}; }
  __device__ __forceinline__ void summed() const {}
  __device__ __forceinline__ void finished() {
    __syncwarp();  // all lanes have read it
    queue_.pop(ptx::lane_index() == 0);
  }

 private:
  const ShortSchedule& schedule_;
  Queue queue_;
  const QueuedUnit* unit_ = nullptr;
  bool last_ = false;
};

}  // namespace skgemm
