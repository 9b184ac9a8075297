// fp16 and bf16 on Hopper's tensor cores: one warpgroup's 64 rows of a tile, both operands from shared memory, the
// tile's width one of sixteen instructions (algorithm 3, MacLoop).
#pragma once
#include "kernels/ptx/cluster.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ptx/wgmma.cuh"
#include "kernels/wgmma_ring.cuh"

namespace skgemm {

inline constexpr int kWgmmaSums = wgmma_smem::kMaxWidth / 2;  // a thread's accumulators at the greatest width

template <DataType kIn, bool kXKMajor, bool kYKMajor>
class MainloopWgmma {
  static constexpr int kInstructions = wgmma_smem::kTileK / 16;  // of a k-step
  static constexpr int kBlockBytes = wgmma_smem::kTileK * wgmma_smem::kLineBytes;

 public:
  using Sums = float (&)[kWgmmaSums];

  // `loaders`: the CTAs of the cluster that load into this one, itself included, each a bit.
  __device__ __forceinline__ MainloopWgmma(TmaRing ring, uint32_t loaders, int warpgroup)
      : ring_(ring), warpgroup_(warpgroup), tells_(loaders >> ptx::thread_index() % 32 & 1) {
    tells_at_ = ptx::cluster_address(ring.first_empty(), tells_ ? ptx::thread_index() % 32 : 0);
  }

  // Sums of the next `steps` stages. Calls meanwhile() while the last ones are multiplied.
  template <class Meanwhile>
  __device__ __forceinline__ void sum(Sums sums, int width, int steps, const Meanwhile& meanwhile) {
    ring_.make_uniform();
    const int same = ptx::uniform(steps);
    for_width<wgmma_smem::kWidthStep>(width, [&](auto w) { sum<decltype(w)::value>(sums, same, meanwhile); });
  }
  // Leaves the next `steps` stages unread.
  __device__ __forceinline__ void skip(int steps) {
    for (; steps > 0; --steps) {
      ring_.wait_full();
      release(ring_.stage());
      ring_.advance();
    }
  }

 private:
  template <int kWidth>
  struct Width {
    static constexpr int value = kWidth;
  };
  template <int kWidth, class Body>
  static __device__ __forceinline__ void for_width(int width, const Body& body) {
    if (width == kWidth) {
      body(Width<kWidth>{});
    } else if constexpr (kWidth < wgmma_smem::kMaxWidth) {
      for_width<kWidth + wgmma_smem::kWidthStep>(width, body);
    }
  }

  // A lane tells one of the CTAs that load into this one.
  __device__ __forceinline__ void release(int stage) const {
    if (tells_) ptx::mbarrier_arrive_at(tells_at_ + 8 * stage);
  }

  // Descriptors of the stage at `stage`, and what they grow by from one instruction's 16 k to the next.
  __device__ __forceinline__ uint64_t x_descriptor(uint32_t stage) const {
    return ptx::wgmma_descriptor(stage + warpgroup_ * kBlockBytes, kBlockBytes, 1024);
  }
  static __device__ __forceinline__ uint64_t y_descriptor(uint32_t y) {
    return ptx::wgmma_descriptor(y, kBlockBytes, 1024);
  }
  static constexpr int kXStep = (kXKMajor ? 32 : 16 * wgmma_smem::kLineBytes) >> 4;
  static constexpr int kYStep = (kYKMajor ? 32 : 16 * wgmma_smem::kLineBytes) >> 4;

  // One group of instructions stays under way while the next one is issued: a stage is released a step later.
  template <int kWidth, class Meanwhile>
  __device__ __forceinline__ void sum(Sums sums, int steps, const Meanwhile& meanwhile) {
#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) sums[i] = 0;
    int before = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      ring_.wait_full();
      const uint64_t x = x_descriptor(ring_.address()), y = y_descriptor(ring_.address() + wgmma_smem::kXBytes);
      ptx::wgmma_fence();
#pragma unroll
      for (int i = 0; i < kInstructions; ++i) {
        ptx::wgmma<!kXKMajor, !kYKMajor>(ptx::Of<kIn, kWidth>{}, sums, x + i * kXStep, y + i * kYStep);
      }
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      if (step > 0) release(before);
      before = ring_.stage();
      ring_.advance();
    }
    meanwhile();
    ptx::wgmma_wait_for<kWidth / 2>(sums);
    release(before);
  }

  TmaRing ring_;
  int warpgroup_;
  bool tells_;
  uint32_t tells_at_;
};

}  // namespace skgemm
