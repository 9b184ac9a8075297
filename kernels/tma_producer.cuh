// Fills the ring by TMA.
#pragma once
#include "kernels/element.cuh"
#include "kernels/ptx/dependent_launch.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/wgmma_ring.cuh"

namespace skgemm {

// alpha == 0: neither A nor B is read, they may be no memory at all (BLAS), and the consumers wait for no stage. Known
// after wait_for_grids_before.
__device__ __forceinline__ bool reads_nothing(const WgmmaParams& p) { return read_scalar<float>(p.alpha) == 0; }

// Copies one operand of each k-step of the worker's units. Both producers walk the schedule; X's tells those who do
// the units of all but the first one.
template <bool kIsX, bool kKMajor>
class TmaProducer {
 public:
  // Looks up the first unit, for which no barrier need be there yet.
  __device__ __forceinline__ TmaProducer(const WgmmaParams& p, const ClusterPlace& place, TmaRing ring,
                                         WgmmaUnitQueue units)
      : p_(p),
        place_(place),
        x_(kIsX ? p.x : p.y),
        ring_(ring),
        units_(units),
        cursor_(p.schedule, place.worker),
        sharing_(kIsX ? place.sharing_x(p) : place.sharing_y(p)),
        part_(kIsX ? place.column : place.row) {
    units_.skip();
    cursor_.next(unit_);
    origin_ = origin_of(p, place, unit_);
  }

  // By an elected thread of the warp (ptx::elect_one), as otherwise a TMA instruction becomes a loop over threads, and
  // when all CTAs of the cluster have barriers.
  __device__ __forceinline__ void run() {
    bool reads = p_.reads;
    if (p_.prefetches && reads) prefetch();
    ptx::wait_for_grids_before();
    if (!p_.alpha_known) reads = !reads_nothing(p_);
    if (reads) copy();
    while (cursor_.next(unit_)) {
      origin_ = origin_of(p_, place_, unit_);
      if constexpr (kIsX) units_.push(queued(p_, origin_, unit_, cursor_.done()));
      if (reads) copy();
    }
    if (kIsX && p_.cluster_rows * p_.cluster_columns > 1) await_readers();
  }

 private:
  // Until all CTAs of the cluster have told this one that they have read what it loaded: before that it must not end,
  // and with it its barriers.
  __device__ __forceinline__ void await_readers() {
    for (int i = 0; i < p_.stages; ++i) {
      ring_.wait_empty();
      ring_.advance();
    }
  }

  // Brings the first k-steps into L2 while the grids before end. That is where their writes of an operand go too. Only
  // in small grids, which begin early (in large ones it was slower), and where the host knows alpha: it could be 0, and
  // the operand no memory.
  __device__ __forceinline__ void prefetch() const {
    constexpr int kMost = 4;
#pragma unroll 1
    for (int step = 0; step < min(steps(), kMost); ++step) {
      for_boxes(origin_.k + step * wgmma_smem::kTileK,
                [&](int along, int line) { ptx::tma_prefetch(&x_.map, along, line, entry()); });
    }
  }

  __device__ __forceinline__ void copy() {
    const uint32_t bytes = (kIsX ? wgmma_smem::kRows : p_.loaded) * wgmma_smem::kLineBytes;
    const uint32_t first = (kIsX ? 0u : wgmma_smem::kXBytes) + part_ * x_.part_bytes;
    const bool alone = sharing_ == (sharing_ & -sharing_);
    int k = origin_.k;
#pragma unroll 1
    for (int left = steps(); left > 0; --left) {
      ring_.wait_empty();
      ptx::mbarrier_arrive_expect(ring_.full(), bytes);
      uint32_t to = ring_.address() + first;
      for_boxes(k, [&](int along, int line) {
        if (alone)
          ptx::tma_load(to, &x_.map, ring_.full(), along, line, entry());
        else
          ptx::tma_load_to(static_cast<uint16_t>(sharing_), to, &x_.map, ring_.full(), along, line, entry());
        to += wgmma_smem::kBlock * wgmma_smem::kLineBytes;
      });
      ring_.advance();
      k += wgmma_smem::kTileK;
    }
  }

  __device__ __forceinline__ int steps() const { return unit_.step_end - unit_.step_begin; }
  __device__ __forceinline__ int entry() const { return x_.batch_pitch == 0 ? 0 : origin_.entry; }
  // Calls each(first element of a line, first line) for the boxes of this CTA's part of the k-step at `k`.
  template <class Each>
  __device__ __forceinline__ void for_boxes(int k, const Each& each) const {
    const int first = kIsX ? origin_.x : origin_.y, line = (kKMajor ? first : k) + part_ * x_.part_lines;
    int along = (kKMajor ? k : first) + part_ * x_.part_along;
#pragma unroll 1
    for (int block = kKMajor ? 1 : x_.part_blocks; block > 0; --block, along += wgmma_smem::kBlock) each(along, line);
  }

  const WgmmaParams& p_;
  const ClusterPlace place_;
  const Lines& x_;
  TmaRing ring_;
  WgmmaUnitQueue units_;
  ShortUnitCursor cursor_;
  ShortUnit unit_;
  StepOrigin origin_;
  uint32_t sharing_;  // CTAs that use what this one loads, each a bit
  int part_;          // of the parts that they load
};

}  // namespace skgemm
