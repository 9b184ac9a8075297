// The gemm kernel: cta_main driven by device operations. A multi-stage cp.async pipeline feeds a Mainloop, which knows
// one precision's fragments and arithmetic:
//   Smem, Acc, kAccumulators, kRun, kSubSteps; Fragments; Mainloop(smem, thread)
//   load(fragments, stage, sub)   one sub-step's operands from the stage that starts at byte `stage` of shared memory
//   multiply(acc, fragments)      and, for half types, multiply_half(acc, fragments, half)
//   origin(thread), step(run)     where kRun neighbouring accumulators lie in the tile of C: at the sum of the two
#pragma once
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
  using Fixup = FixupDevice<Acc, Mainloop::kAccumulators, kThreads>;
  using ALoader = TileLoader<typename Smem::A, kAKMajor, kThreads>;
  using BLoader = TileLoader<typename Smem::B, kBKMajor, kThreads>;
  static constexpr bool kHalf = size_of(kIn) == 2;
  static_assert(!kHalf || (ALoader::kCount % kSubSteps == 0 && BLoader::kCount % kSubSteps == 0));

 public:
  __device__ __forceinline__ DeviceOps(const GemmParams& params, const Schedule& schedule, char* smem)
      : p_(params), schedule_(schedule), smem_(smem), fixup_(params.args.counters, params.args.slots) {}

  // The walk's state waits in shared memory while the mainloop runs. The mainloop has a barrier after its begin, so
  // that unpark sees what park wrote, and the barrier here lets every warp leave the unit before: its fragments are
  // read.
  __device__ __forceinline__ void park(const UnitCursor& cursor, const Unit& u) const {
    __syncthreads();
    if (threadIdx.x == 0) *parked() = {cursor.position(), u};
  }
  __device__ __forceinline__ void unpark(Unit& u) const { u = parked()->unit; }
  __device__ __forceinline__ void unpark(UnitCursor& cursor) const { cursor.resume(parked()->position); }

  __device__ __forceinline__ void mainloop(const Unit& u) {
#pragma unroll
    for (Acc& x : acc_) x = 0;
    if (alpha() == 0) return __syncthreads();  // A and B are not read (BLAS); the barrier is unpark's
    ALoader a = a_loader(u, u.step_begin);
    BLoader b = b_loader(u, u.step_begin);
    const int steps = static_cast<int>(u.step_end - u.step_begin);
    const int last_left = k_left(u.step_end - 1);
    const bool aligned = a.aligned() && b.aligned();
    if (!a.whole() || !b.whole() || (!kHalf && !aligned)) return sum<CopyPath::bounded>(a, b, steps, last_left);
    const int whole = last_left < kConfig.tile_k + margin(aligned) ? steps - 1 : steps;
    if (whole == 0) {
      __syncthreads();  // unpark's
    } else if (!kHalf || aligned) {
      sum<CopyPath::aligned>(a, b, whole, kConfig.tile_k);
    } else {
      if constexpr (kHalf) sum<CopyPath::shifted>(a, b, whole, kConfig.tile_k + margin(aligned));
    }
    add_last_step();
  }

  __device__ __forceinline__ uint32_t arrivals(int64_t counter) const { return fixup_.arrivals(counter); }
  __device__ __forceinline__ void clear(int64_t counter) const { fixup_.clear(counter); }
  __device__ __forceinline__ void publish(int64_t slot) const { fixup_.publish(acc_, slot); }
  __device__ __forceinline__ uint32_t arrive(int64_t counter, uint32_t last) const {
    return fixup_.arrive(counter, last);
  }
  __device__ __forceinline__ void collect(const Schedule& s, const Unit& u) { fixup_.collect(acc_, s, u); }

  __device__ __forceinline__ void epilogue(const Unit& u) const {
    const GemmArgs& g = p_.args;
    const TileCoord at = schedule_.space.coord(u.tile);
    const int64_t m = at.m * kConfig.tile_m, n = at.n * kConfig.tile_n;
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
    UnitCursor::Position position;
    Unit unit;
  };
  static __device__ __forceinline__ Parked* parked() {
    __shared__ Parked place;
    return &place;
  }

  __device__ __forceinline__ Acc alpha() const { return read_scalar<Acc>(p_.args.alpha); }
  static __device__ __forceinline__ const char* entry(const Operand& x, int64_t batch) {
    return static_cast<const char*>(x.data) + batch * x.batch_stride * size_of(kIn);
  }

  // The copies of a unit's tile from k-step `step` on, and how many elements of k there are from there on.
  __device__ __forceinline__ ALoader a_loader(const Unit& u, int64_t step) const {
    const TileCoord at = schedule_.space.coord(u.tile);
    return ALoader(p_.a, {.data = entry(p_.args.a, at.batch),
                          .first_mn = at.m * kConfig.tile_m,
                          .extent_mn = p_.args.m,
                          .first_k = step * kConfig.tile_k});
  }
  __device__ __forceinline__ BLoader b_loader(const Unit& u, int64_t step) const {
    const TileCoord at = schedule_.space.coord(u.tile);
    return BLoader(p_.b, {.data = entry(p_.args.b, at.batch),
                          .first_mn = at.n * kConfig.tile_n,
                          .extent_mn = p_.args.n,
                          .first_k = step * kConfig.tile_k});
  }
  // How many elements of k must follow a whole step that is copied unconditionally: `shifted` reads up to 14 bytes
  // more.
  static __device__ __forceinline__ int margin(bool aligned) { return aligned ? 0 : 16 / size_of(kIn); }
  __device__ __forceinline__ int k_left(int64_t step) const {
    return static_cast<int>(min(p_.args.k - step * kConfig.tile_k, int64_t{1} << 28));
  }

  // Algorithm 3 (MacLoop). Stage s % kStages holds step s. In step i the copy of step i + kStages - 1 goes to the stage
  // that step i - 1 has left; fragments of the next sub-step are loaded while this one is multiplied. `last_left`: how
  // many elements of k there are from the last step's first on.
  template <CopyPath kPath>
  __device__ __forceinline__ void sum(ALoader& a, BLoader& b, int steps, int last_left) {
    const auto step_to_copy = [&](int to_copy) {  // counted from the end; only the last step may lack elements
      return Step{.go = to_copy > 0, .k_left = last_left + min(to_copy - 1, 2) * kConfig.tile_k};
    };
    constexpr bool kThroughRegisters = kHalf && kPath != CopyPath::aligned;
    const Mainloop math(smem_, ptx::thread_index());
#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
      copy_step<kPath>(a, b, stage * Smem::kStageBytes, step_to_copy(steps - stage));
    }
    ptx::cp_async_wait<kStages - 2>();
    __syncthreads();
    typename Mainloop::Fragments fragments[2];
    math.load(fragments[0], 0, 0);
    constexpr int kLast = (kStages - 1) * Smem::kStageBytes;
    int read = 0;
    for (int to_copy = steps - (kStages - 1); to_copy > 1 - kStages; --to_copy) {
      const int next = read == kLast ? 0 : read + Smem::kStageBytes,
                write = read == 0 ? kLast : read - Smem::kStageBytes;
      const Step step = step_to_copy(to_copy);
#pragma unroll
      for (int sub = 0; sub < kSubSteps; ++sub) {
        const auto load_next = [&] {
          const bool last = sub == kSubSteps - 1;
          if (last) {
            ptx::cp_async_wait<kStages - 2>();
            __syncthreads();
          }
          math.load(fragments[(sub + 1) % 2], last ? next : read, last ? 0 : sub + 1);
        };
        if constexpr (kThroughRegisters) {
          if (sub == 0) ptx::cp_async_commit();
          if (sub < kSubSteps / 2)
            multiply_and_copy<kPath>(a, smem_ + write, fragments[sub % 2], sub, step);
          else
            multiply_and_copy<kPath>(b, smem_ + write + Smem::b_offset(0), fragments[sub % 2], sub - kSubSteps / 2,
                                     step);
          load_next();  // this late, because pieces in flight need the registers
        } else {
          load_next();
          if (sub == 0) copy_step<kPath>(a, b, write, step);
          Mainloop::multiply(acc_, fragments[sub % 2]);
        }
      }
      read = next;
    }
  }

  struct Step {
    bool go;     // false: only on to the next step
    int k_left;  // elements of k from this step's first on
  };
  // All copies of a step, A's and B's.
  template <CopyPath kPath>
  __device__ __forceinline__ void copy_step(ALoader& a, BLoader& b, int stage, const Step& step) const {
    copy_operand<kPath>(a, smem_ + stage, step);
    copy_operand<kPath>(b, smem_ + stage + Smem::b_offset(0), step);
    ptx::cp_async_commit();
  }
  template <CopyPath kPath, class Loader>
  static __device__ __forceinline__ void copy_operand(Loader& x, char* to, const Step& step) {
    if (kPath == CopyPath::aligned) {
      x.copy_aligned(ptx::shared_address(to), step.go);
    } else {
      if (step.go) x.copy_bounded(to, step.k_left);
      x.advance(1);
    }
  }

  // A sub-step's products, and its part of a step's copies through registers: half of the sub-steps copy A's pieces,
  // the others B's, and loads are under way while products are summed.
  template <CopyPath kPath, class Loader>
  __device__ __forceinline__ void multiply_and_copy(Loader& x, char* tile, const typename Mainloop::Fragments& f,
                                                    int part, const Step& step) {
    constexpr int kPieces = Loader::kCount / kSubSteps;
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

  // The last step of a unit of whole tiles by itself, when it can't be copied unconditionally. Works from the parked
  // unit, because until now the sum has had the registers.
  __device__ __forceinline__ void add_last_step() {
    Unit u;
    unpark(u);
    const int64_t step = u.step_end - 1;
    ALoader a = a_loader(u, step);
    BLoader b = b_loader(u, step);
    if (k_left(step) >= kConfig.tile_k + margin(a.aligned() && b.aligned())) return;
    __syncthreads();  // every warp has left the stages
    copy_step<CopyPath::bounded>(a, b, 0, {.go = true, .k_left = k_left(step)});
    ptx::cp_async_wait<0>();
    __syncthreads();
    const Mainloop math(smem_, ptx::thread_index());
#pragma unroll 1
    for (int sub = 0; sub < kSubSteps; ++sub) {
      typename Mainloop::Fragments fragments;
      math.load(fragments, 0, sub);
      Mainloop::multiply(acc_, fragments);
    }
  }

  const GemmParams& p_;
  const Schedule& schedule_;
  char* smem_;
  Fixup fixup_;
  Acc acc_[Mainloop::kAccumulators];
};

template <DataType kIn, bool kAKMajor, bool kBKMajor>
__global__ void __launch_bounds__(config_of(kIn).threads, config_of(kIn).ctas_per_sm)
    gemm(const __grid_constant__ GemmParams params) {
  extern __shared__ __align__(128) char smem[];
  // From shared memory the walk's quotients are worked out when they're needed, not kept in registers for the whole
  // kernel.
  __shared__ Schedule schedule;
  if (threadIdx.x == 0) schedule = params.schedule;
  __syncthreads();
  DeviceOps<kIn, kAKMajor, kBKMajor> ops(params, schedule, smem);
  cta_main(ops, schedule, blockIdx.x);
}

template <DataType kIn>
const void* gemm_of_layout(bool a_k_major, bool b_k_major) {
  if (a_k_major)
    return b_k_major ? reinterpret_cast<const void*>(gemm<kIn, true, true>)
                     : reinterpret_cast<const void*>(gemm<kIn, true, false>);
  return b_k_major ? reinterpret_cast<const void*>(gemm<kIn, false, true>)
                   : reinterpret_cast<const void*>(gemm<kIn, false, false>);
}

}  // namespace skgemm
