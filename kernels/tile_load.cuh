// Copies one operand's tile, a k-step at a time, from global to shared memory; what lies outside the operand becomes
// zero. Three ways:
//   aligned   whole steps of whole tiles by unconditional asynchronous pieces, 16 bytes wide; no arithmetic but
//   additions shifted   the same for half types at any address, through registers: no asynchronous copy is as narrow as
//   they are bounded   tiles at an edge, the ragged end of k, other types at any address: asynchronous copies of single
//   elements, and
//             for half types what `shifted` does, masked
#pragma once
#include "kernels/gemm_params.h"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/smem_layout.h"

namespace skgemm {

enum class CopyPath { aligned, shifted, bounded };

struct TileStart {
  const char* data;  // the operand of this batch entry
  int64_t first_mn, extent_mn;
  int64_t first_k;
};

template <class Layout, bool kKMajor, int kThreads>
class TileLoader {
  static constexpr int kSize = Layout::kSize;
  static constexpr bool kHalf = kSize == 2;
  using Share = WholeShare<Layout, kThreads>;
  static constexpr int kTileK = kKMajor ? Layout::kRun : Layout::kLines;
  static constexpr int kExtent = kKMajor ? Layout::kLines : Layout::kRun;

 public:
  // kPieces 16-byte pieces on their way through registers: the two aligned 16 bytes that hold a piece, how far into
  // them it begins, and how many of its bytes exist.
  template <int kPieces>
  struct Raw {
    uint32_t word[kPieces][8];
    int shift[kPieces], bytes[kPieces];
  };
  static constexpr int kCount = Share::kCount;

  __device__ __forceinline__ TileLoader(const OperandCopy& copy, const TileStart& x)
      : copy_(copy), extent_(static_cast<int>(min(x.extent_mn - x.first_mn, int64_t{1} << 28))) {
    const int thread = ptx::thread_index();
    const int line = Share::line(thread), at = Share::at(thread);
    const int64_t first_line = kKMajor ? x.first_mn : x.first_k, first_at = kKMajor ? x.first_k : x.first_mn;
    source_ = x.data + (first_line + line) * copy_.pitch + (first_at + at) * kSize;
    lane_ = Layout::offset(line, at);
  }

  __device__ __forceinline__ bool aligned() const { return copy_.aligned; }
  // Whether the tile lies inside the operand.
  __device__ __forceinline__ bool whole() const { return extent_ >= kExtent; }

  // `aligned`: starts the copies of a step into the tile at shared address `to`, and goes on to the next step. Without
  // `go` it only goes on.
  __device__ __forceinline__ void copy_aligned(uint32_t to, bool go) {
    const char* from = source_;
    const uint32_t lane = to + lane_;
#pragma unroll
    for (int i = 0; i < kCount; ++i, from = next(from)) {
      const int step = i * Share::kLineStep;
      const uint32_t at = (lane ^ Layout::line_flip(step)) + Layout::line_add(step);
      if constexpr (Layout::kTransposed)
        ptx::cp_async_4(at, from, go);
      else
        ptx::cp_async_16(at, from, go);
    }
    source_ = kKMajor ? source_ + kTileK * kSize : from;
  }

  // `bounded`: copies any step; `k_left` elements of k exist from its first on. Half types are copied on return.
  __device__ __forceinline__ void copy_bounded(char* to, int k_left) {
    if constexpr (kHalf) {
      const char* const source = source_;
#pragma unroll 1
      for (int i = 0; i < kCount; ++i) {
        Raw<1> raw;
        fetch<CopyPath::bounded>(raw, i, k_left);
        store(raw, i, to);
      }
      source_ = source;
    } else {
      copy_elements(ptx::shared_address(to), k_left);
    }
  }

  // `shifted` and, for half types, `bounded`: pieces [first, first + kPieces) of this thread, called for all of a step
  // in order, then `finish`. The loads are under way when fetch returns.
  template <CopyPath kPath, int kPieces>
  __device__ __forceinline__ void fetch(Raw<kPieces>& raw, int first, int k_left) {
    const int thread = ptx::thread_index();
    const int bytes = ((kKMajor ? k_left : extent_) - Share::at(thread)) * kSize;
    const int lines = (kKMajor ? extent_ : k_left) - Share::line(thread) - first * Share::kLineStep;
    const int pitch = static_cast<int>(min(copy_.pitch, int64_t{32}));
#pragma unroll
    for (int i = 0; i < kPieces; ++i, source_ = next(source_)) {
      if constexpr (kPath == CopyPath::shifted) {
        raw.bytes[i] = 16;
        raw.shift[i] = fetch_whole(raw.word[i], source_);
      } else {
        const int left = lines - i * Share::kLineStep;
        raw.bytes[i] = left > 0 ? bytes : 0;
        raw.shift[i] = fetch_piece(raw.word[i], source_, raw.bytes[i], (min(left, 17) - 1) * pitch + bytes < 32);
      }
    }
  }
  // On to the next k-step. Not `fetched`: this one was left out.
  __device__ __forceinline__ void finish(bool fetched) {
    if (!fetched)
      advance(1);
    else if constexpr (kKMajor)
      source_ += kTileK * kSize - kCount * copy_.piece_step;
  }
  template <int kPieces>
  __device__ __forceinline__ void store(const Raw<kPieces>& raw, int first, char* to) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int step = (first + i) * Share::kLineStep;
      *reinterpret_cast<uint4*>(to + (lane_ ^ Layout::line_flip(step)) + Layout::line_add(step)) =
          packed(raw.word[i], raw.shift[i], raw.bytes[i]);
    }
  }

  // On by so many k-steps.
  __device__ __forceinline__ void advance(int steps) {
    source_ += steps * (kKMajor ? int64_t{kTileK * kSize} : kTileK * copy_.pitch);
  }

 private:
  // The piece after `from`. Opaque, so that a chain of additions is not replaced by a register pair for each piece.
  __device__ __forceinline__ const char* next(const char* from) const {
    from += copy_.piece_step;
    asm("" : "+l"(from));
    return from;
  }

  // One element a piece.
  __device__ __forceinline__ void copy_elements(uint32_t to, int k_left) const {
    using Single = CopyShare<Layout, kSize, kThreads>;
    const int thread = ptx::thread_index();
    const int line = Single::line(thread), at = Single::at(thread);
    const char* from = source_ + (line - Share::line(thread)) * copy_.pitch + (at - Share::at(thread)) * kSize;
    const int lines = (kKMajor ? extent_ : k_left) - line;
    const bool inside = at < (kKMajor ? k_left : extent_);
    const uint32_t lane = to + Layout::offset(line, at);
#pragma unroll 4
    for (int i = 0; i < Single::kCount; ++i, from += Single::kLineStep * copy_.pitch) {
      const int step = i * Single::kLineStep;
      ptx::cp_async_or_zero<kSize>((lane ^ Layout::line_flip(step)) + Layout::line_add(step), from,
                                   inside && step < lines);
    }
  }

  static __device__ __forceinline__ int fetch_whole(uint32_t (&word)[8], const char* from) {
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
    const uint4* aligned = reinterpret_cast<const uint4*>(from - shift);
    reinterpret_cast<uint4&>(word[0]) = __ldg(aligned);
    reinterpret_cast<uint4&>(word[4]) = __ldg(shift == 0 ? aligned : aligned + 1);
    return shift;
  }
  // `bytes`: how many of the line exist from this piece on. The aligned 16 bytes around a byte that exists can be read
  // whole, except near the operand's end (within 32 bytes), where its allocation may end inside them.
  static __device__ __forceinline__ int fetch_piece(uint32_t (&word)[8], const char* from, int bytes, bool near_end) {
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
    const uint4* aligned = reinterpret_cast<const uint4*>(from - shift);
    auto& low = reinterpret_cast<uint4&>(word[0]);
    auto& high = reinterpret_cast<uint4&>(word[4]);
    low = high = uint4{};
    if (near_end) {
#pragma unroll 1
      for (int e = min(bytes / kSize, 8) - 1; e >= 0; --e) {
        low = {low.x << 16 | __ldg(reinterpret_cast<const uint16_t*>(from) + e), __funnelshift_l(low.x, low.y, 16),
               __funnelshift_l(low.y, low.z, 16), __funnelshift_l(low.z, low.w, 16)};
      }
      return 0;
    }
    if (bytes > 0) low = __ldg(aligned);
    if (shift + min(bytes, 16) > 16) high = __ldg(aligned + 1);
    return shift;
  }
  static __device__ __forceinline__ uint4 packed(const uint32_t (&word)[8], int shift, int bytes) {
    uint32_t w[6], out[4];
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = shift & 8 ? word[i + 2] : word[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) w[i] = shift & 4 ? w[i + 1] : w[i];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      out[i] = __funnelshift_r(w[i], w[i + 1], (shift & 2) * 8);
      if (bytes < 4 * i + 4) out[i] = bytes > 4 * i ? out[i] & 0xffff : 0;
    }
    return {out[0], out[1], out[2], out[3]};
  }

  const OperandCopy& copy_;
  const char* source_;  // this thread's first piece of the step; may be outside the operand when nothing is taken there
  int lane_;            // byte of that piece in the tile
  int extent_;          // m or n that exist from the tile's first on
};

}  // namespace skgemm
