// What a CTA does on the device: the operations that cta_main drives. A multi-stage cp.async pipeline feeds a Mainloop,
// which knows one precision's fragments and arithmetic:
//   Smem, Acc, kAccumulators, kRun, kSubSteps; Fragments; Mainloop(smem, thread)
//   load(fragments, stage, sub)   one sub-step's operands from the stage that starts at byte `stage` of shared memory
//   multiply(acc, fragments)      and, for half types, multiply_half(acc, fragments, half)
//   origin(thread), step(run)     where kRun neighbouring accumulators lie in the tile of C: at the sum of the two
#pragma once
#include <type_traits>

#include "kernels/cta_main.h"
#include "kernels/epilogue.cuh"
#include "kernels/fixup_device.cuh"
#include "kernels/gemm_params.h"
#include "kernels/tile_load.cuh"

namespace skgemm {

template <DataType kIn, bool kAKMajor, bool kBKMajor>
struct MainloopOf;

template <DataType kIn, bool kAKMajor, bool kBKMajor>
class DeviceOps {
  using Mainloop = typename MainloopOf<kIn, kAKMajor, kBKMajor>::Type;
  using Smem = SmemLayout<kIn, kAKMajor, kBKMajor>;
  using Acc = typename Mainloop::Acc;
  static constexpr KernelConfig kConfig = Smem::kConfig;
  static constexpr int kStages = kConfig.stages, kSubSteps = Mainloop::kSubSteps, kThreads = kConfig.threads;
  static_assert(kSubSteps % 2 == 0, "fragments of two sub-steps alternate");
  static_assert(kStages >= 3, "a stage is refilled two barriers before it is read");
  using Fixup = FixupDevice<Acc, Mainloop::kAccumulators,
                            CtaTeam<kThreads, Mainloop::kAccumulators * static_cast<int>(sizeof(Acc)) / 16>>;
  static constexpr bool kHalf = size_of(kIn) == 2;
  // Pieces of 16 bytes, or of one element: on the path of elements and where a tile is transposed.
  template <class Layout, bool kKMajor, CopyPath kPath>
  using Loader =
      TileLoader<Layout, kKMajor, kThreads, kPath == CopyPath::elements || Layout::kTransposed ? Layout::kSize : 16>;
  template <CopyPath kPath>
  using ALoader = Loader<typename Smem::A, kAKMajor, kPath>;
  template <CopyPath kPath>
  using BLoader = Loader<typename Smem::B, kBKMajor, kPath>;

 public:
  __device__ __forceinline__ DeviceOps(const GemmParams& params, const ShortSchedule& schedule, char* smem)
      : p_(params), schedule_(schedule), smem_(smem), fixup_(params.args.counters, params.args.slots) {}

  // The walk's state waits in shared memory while the mainloop runs. The mainloop has a barrier after its begin, so
  // that unpark sees what park wrote, and the barrier here lets every warp leave the unit before: its fragments are
  // read.
  __device__ __forceinline__ void park(const ShortUnitCursor& cursor, const ShortUnit& u) const {
    __syncthreads();
    if (threadIdx.x == 0) *parked() = {cursor.position(), u};
  }
  __device__ __forceinline__ void unpark(ShortUnit& u) const { u = parked()->unit; }
  __device__ __forceinline__ void unpark(ShortUnitCursor& cursor) const { cursor.resume(parked()->position); }

  __device__ __forceinline__ void mainloop(const ShortUnit& u) {
#pragma unroll
    for (Acc& x : acc_) x = 0;
    if (alpha() == 0) return __syncthreads();  // A and B are not read (BLAS); the barrier is unpark's
    auto a = a_loader<CopyPath::pieces>(u, u.step_begin);
    auto b = b_loader<CopyPath::pieces>(u, u.step_begin);
    const int steps = u.step_end - u.step_begin;
    const int last_left = k_left(u.step_end - 1);
    if (a.in_pieces() && b.in_pieces()) return sum_copied(a, b, steps, last_left);
    if constexpr (kHalf) {
      if (!a.whole() || !b.whole()) return sum_through_registers<CopyPath::bounded>(a, b, steps, last_left);
      const int shifted = steps - steps_apart(u);
      if (shifted == 0)
        __syncthreads();  // unpark's
      else
        sum_through_registers<CopyPath::shifted>(a, b, shifted, kShiftedLeft);
      add_last_steps();
    } else {
      auto a_elements = a_loader<CopyPath::elements>(u, u.step_begin);
      auto b_elements = b_loader<CopyPath::elements>(u, u.step_begin);
      sum_copied(a_elements, b_elements, steps, last_left);
    }
  }

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const { return fixup_.arrivals(counter); }
  __device__ __forceinline__ void clear(int64_t counter) const { fixup_.clear(counter); }
  __device__ __forceinline__ void publish(int64_t slot) const { fixup_.publish(acc_, slot); }
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    return fixup_.arrive(counter, last);
  }
  __device__ __forceinline__ void collect(const ShortSchedule& s, const ShortUnit& u) { fixup_.collect(acc_, s, u); }

  __device__ __forceinline__ void epilogue(const ShortUnit& u) const {
    const GemmArgs& g = p_.args;
    const ShortTileCoord at = schedule_.space.coord(u.tile);
    const int64_t m = int64_t{at.m} * kConfig.tile_m, n = int64_t{at.n} * kConfig.tile_n;
    const int64_t first = at.batch * g.c_batch_stride + n * g.ldc + m;
    TileOutput<Acc> c{.data = static_cast<char*>(g.c) + first * size_of(g.out),
                      .ld = g.ldc,
                      .m = static_cast<int>(min(g.m - m, int64_t{kConfig.tile_m})),
                      .n = static_cast<int>(min(g.n - n, int64_t{kConfig.tile_n})),
                      .vector = p_.c_vector,
                      .alpha = alpha(),
                      .beta = read_scalar<Acc>(g.beta)};
    if (size_of(kIn) == 2 && g.out == DataType::f32)
      store_tile<float, Mainloop>(acc_, c);
    else
      store_tile<Element<kIn>, Mainloop>(acc_, c);
  }

 private:
  struct Parked {
    ShortUnitCursor::Position position;
    ShortUnit unit;
  };
  static __device__ __forceinline__ Parked* parked() {
    __shared__ Parked place;
    return &place;
  }

  __device__ __forceinline__ Acc alpha() const { return read_scalar<Acc>(p_.args.alpha); }
  static __device__ __forceinline__ const char* entry(const Operand& x, int64_t batch) {
    return static_cast<const char*>(x.data) + batch * x.batch_stride * size_of(kIn);
  }

  // The copies of a unit's tile from k-step `step` on.
  template <CopyPath kPath>
  __device__ __forceinline__ ALoader<kPath> a_loader(const ShortUnit& u, int64_t step) const {
    const ShortTileCoord at = schedule_.space.coord(u.tile);
    return ALoader<kPath>(p_.a, {.data = entry(p_.args.a, at.batch),
                                 .first_mn = int64_t{at.m} * kConfig.tile_m,
                                 .extent_mn = p_.args.m,
                                 .first_k = step * kConfig.tile_k});
  }
  template <CopyPath kPath>
  __device__ __forceinline__ BLoader<kPath> b_loader(const ShortUnit& u, int64_t step) const {
    const ShortTileCoord at = schedule_.space.coord(u.tile);
    return BLoader<kPath>(p_.b, {.data = entry(p_.args.b, at.batch),
                                 .first_mn = int64_t{at.n} * kConfig.tile_n,
                                 .extent_mn = p_.args.n,
                                 .first_k = step * kConfig.tile_k});
  }
  // How many elements of k there must be from the first of a `shifted` step on: it reads up to 14 bytes past its own.
  static constexpr int kShiftedLeft = kConfig.tile_k + 16 / size_of(kIn);
  // How many of a unit's last steps have fewer: the tile's last one, and the one before where that is short.
  __device__ __forceinline__ int steps_apart(const ShortUnit& u) const {
    const int left = k_left(u.step_end - 1);
    const int apart = left < kShiftedLeft - kConfig.tile_k ? 2 : left < kShiftedLeft ? 1 : 0;
    return min(u.step_end - u.step_begin, apart);
  }
  __device__ __forceinline__ int k_left(int64_t step) const {
    return static_cast<int>(min(p_.args.k - step * kConfig.tile_k, kMany));
  }

  // Algorithm 3 (MacLoop). Stage s % kStages holds step s. In step i the copy of step i + kStages - 1 goes to the stage
  // that step i - 1 has left; fragments of the next sub-step are loaded while this one is multiplied. `last_left`: how
  // many elements of k there are from the last step's first on.
  //
  // `pieces` and `elements`: a ragged last step is copied between the loop that copies and the one that does not.
  template <class A, class B>
  __device__ __forceinline__ void sum_copied(A& a, B& b, int steps, int last_left) {
    const bool ragged = last_left < kConfig.tile_k;
    int to_copy = ragged ? steps - 1 : steps;  // whole steps
#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage, --to_copy) {
      if (to_copy > 0) copy_whole(a, b, stage * Smem::kStageBytes);
      if (to_copy == 0 && ragged) copy_last(a, b, stage * Smem::kStageBytes);
      ptx::cp_async_commit();
    }
    const Mainloop math(smem_, ptx::thread_index());
    typename Mainloop::Fragments fragments[2];
    load_first(math, fragments[0]);
    int read = 0, write = kLastStage;
    const auto step = [&](auto copy) {
      const int next = after(read);
#pragma unroll
      for (int sub = 0; sub < kSubSteps; ++sub) {
        load_next(math, fragments[(sub + 1) % 2], sub, read, next);
        if (sub == 0) {
          if constexpr (decltype(copy)::value) copy_whole(a, b, write);
          ptx::cp_async_commit();
        }
        Mainloop::multiply(acc_, fragments[sub % 2]);
      }
      write = read;
      read = next;
    };
    int left = kStages - 1 + min(to_copy, 0) + (ragged ? 1 : 0);
#pragma unroll 1
    for (; to_copy > 0; --to_copy) step(std::true_type{});
    if (ragged && left == kStages) copy_last(a, b, write);
#pragma unroll 1
    for (; left > 0; --left) step(std::false_type{});
  }

  // `shifted` and `bounded`: pieces pass through registers.
  template <CopyPath kPath, class A, class B>
  __device__ __forceinline__ void sum_through_registers(A& a, B& b, int steps, int last_left) {
    const auto step_to_copy = [&](int to_copy) {  // counted from the end; only the last step may lack elements
      return Step{.go = to_copy > 0, .k_left = last_left + min(to_copy - 1, 2) * kConfig.tile_k};
    };
#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
      copy_bounded(a, b, stage * Smem::kStageBytes, step_to_copy(steps - stage));
    }
    const Mainloop math(smem_, ptx::thread_index());
    typename Mainloop::Fragments fragments[2];
    load_first(math, fragments[0]);
    int read = 0;
    for (int to_copy = steps - (kStages - 1); to_copy > 1 - kStages; --to_copy) {
      const int write = before(read), next = after(read);
      const Step step = step_to_copy(to_copy);
#pragma unroll
      for (int sub = 0; sub < kSubSteps; ++sub) {
        if (sub < kSubSteps / 2)
          multiply_and_copy<kPath>(a, smem_ + write, fragments[sub % 2], sub, step);
        else
          multiply_and_copy<kPath>(b, smem_ + write + Smem::kBOffset, fragments[sub % 2], sub - kSubSteps / 2, step);
        // this late, because pieces in flight need the registers
        load_next(math, fragments[(sub + 1) % 2], sub, read, next);
      }
      read = next;
    }
  }

  // The stages before and after the one that starts at byte `stage`.
  static constexpr int kLastStage = (kStages - 1) * Smem::kStageBytes;
  static __device__ __forceinline__ int before(int stage) {
    return stage == 0 ? kLastStage : stage - Smem::kStageBytes;
  }
  static __device__ __forceinline__ int after(int stage) { return stage == kLastStage ? 0 : stage + Smem::kStageBytes; }
  // Fragments of a unit's first sub-step, and of the one after `sub` of the step in stage `read`.
  __device__ __forceinline__ void load_first(const Mainloop& math, typename Mainloop::Fragments& f) const {
    ptx::cp_async_wait<kStages - 2>();
    __syncthreads();
    math.load(f, 0, 0);
  }
  __device__ __forceinline__ void load_next(const Mainloop& math, typename Mainloop::Fragments& f, int sub, int read,
                                            int next) const {
    const bool last = sub == kSubSteps - 1;
    if (last) {
      ptx::cp_async_wait<kStages - 2>();
      __syncthreads();
    }
    math.load(f, last ? next : read, last ? 0 : sub + 1);
  }

  struct Step {
    bool go;     // false: only on to the next step
    int k_left;  // elements of k from this step's first on
  };
  // All copies of a step, A's and B's: of one that has all its k,
  template <class A, class B>
  __device__ __forceinline__ void copy_whole(A& a, B& b, int stage) const {
    a.copy(ptx::shared_address(smem_ + stage));
    b.copy(ptx::shared_address(smem_ + stage + Smem::kBOffset));
  }
  // of a ragged last one,
  template <class A, class B>
  __device__ __forceinline__ void copy_last(const A& a, const B& b, int stage) const {
    const int k = static_cast<int>(p_.args.k % kConfig.tile_k);
    a.copy_last(smem_ + stage, k);
    b.copy_last(smem_ + stage + Smem::kBOffset, k);
  }
  // and of any.
  template <class A, class B>
  __device__ __forceinline__ void copy_bounded(A& a, B& b, int stage, const Step& step) const {
    if (step.go) {
      a.copy_bounded(smem_ + stage, step.k_left);
      b.copy_bounded(smem_ + stage + Smem::kBOffset, step.k_left);
    }
    a.advance();
    b.advance();
  }

  // A sub-step's products, and its part of a step's copies through registers: half of the sub-steps copy A's pieces,
  // the others B's, and loads are under way while products are summed.
  template <CopyPath kPath, class Loader>
  __device__ __forceinline__ void multiply_and_copy(Loader& x, char* tile, const typename Mainloop::Fragments& f,
                                                    int part, const Step& step) {
    constexpr int kPieces = Loader::kCount / kSubSteps;
    static_assert(kPieces * kSubSteps == Loader::kCount);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = (2 * part + half) * kPieces;
      typename Loader::template Raw<kPieces> raw{};  // or its registers would be taken all around the loop
      if (step.go) x.template fetch<kPath>(raw, first, step.k_left);
      Mainloop::multiply_half(acc_, f, half);
      if (step.go) x.store(raw, first, tile);
    }
    if (part == kSubSteps / 2 - 1) x.finish(step.go);
  }

  // The last steps of a `shifted` unit one by one, where they can't be copied so. Works from the parked unit, because
  // until now the sum has had the registers.
  __device__ __forceinline__ void add_last_steps() {
    ShortUnit u;
    unpark(u);
#pragma unroll 1
    for (int step = u.step_end - steps_apart(u); step < u.step_end; ++step) {
      auto a = a_loader<CopyPath::bounded>(u, step);
      auto b = b_loader<CopyPath::bounded>(u, step);
      __syncthreads();  // every warp has left the stages
      copy_bounded(a, b, 0, {.go = true, .k_left = k_left(step)});
      __syncthreads();
      const Mainloop math(smem_, ptx::thread_index());
#pragma unroll 1
      for (int sub = 0; sub < kSubSteps; ++sub) {
        typename Mainloop::Fragments fragments;
        math.load(fragments, 0, sub);
        Mainloop::multiply(acc_, fragments);
      }
    }
  }

  const GemmParams& p_;
  const ShortSchedule& schedule_;
  char* smem_;
  Fixup fixup_;
  alignas(16) Acc acc_[Mainloop::kAccumulators];  // moved in 16-byte vectors by the fixup
};

}  // namespace skgemm
