// Copies one operand's tile, a k-step at a time, from global to shared memory. What lies outside the operand becomes
// zero along k; along m and n it is left as it is, because it only reaches rows and columns of C that are not stored.
// Four ways:
//   pieces    asynchronous pieces of 16 bytes: lines that start at multiples of 16, no piece across the end of m or n
//   elements  asynchronous copies of single elements, which fp32 and fp64 allow at any address
//   shifted   half types at any address, whole tiles: through registers, as no asynchronous copy is as narrow as they
//   bounded   the same at the edges of the operand, masked
#pragma once
#include <type_traits>

#include "kernels/aligned_read.cuh"
#include "kernels/gemm_params.h"
#include "kernels/ptx/cp_async.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/smem_layout.h"

namespace skgemm {

enum class CopyPath { pieces, elements, shifted, bounded };

// Counts of what is left are cut here, so that they fit 32 bits with room for a step's arithmetic; no tile has as many.
inline constexpr int64_t kMany = int64_t{1} << 28;

struct TileStart {
  const char* data;  // the operand of this batch entry
  int64_t first_mn, extent_mn;
  int64_t first_k;
};

// kBytes: of a piece, 16 or one element.
template <class Layout, bool kKMajor, int kThreads, int kBytes>
class TileLoader {
  static constexpr int kSize = Layout::kSize;
  static constexpr bool kHalf = kSize == 2;
  using Share = CopyShare<Layout, kBytes, kThreads>;
  static constexpr int kTileK = kKMajor ? Layout::kRun : Layout::kLines;
  static constexpr int kExtent = kKMajor ? Layout::kLines : Layout::kRun;

 public:
  // kPieces 16-byte pieces on their way through registers: the two aligned 16 bytes that hold a piece, how far into
  // them it begins, and how many of its bytes exist.
  template <int kPieces>
  struct Raw {
    alignas(16) uint32_t word[kPieces][8];
    int shift[kPieces], bytes[kPieces];
  };
  static constexpr int kCount = Share::kCount;

  __device__ __forceinline__ TileLoader(const OperandCopy& copy, const TileStart& x)
      : copy_(copy), extent_(static_cast<int>(min(x.extent_mn - x.first_mn, kMany))) {
    const int thread = ptx::thread_index();
    const int line = Share::line(thread), at = Share::at(thread);
    const int64_t first_line = kKMajor ? x.first_mn : x.first_k, first_at = kKMajor ? x.first_k : x.first_mn;
    source_ = x.data + (first_line + line) * copy_.pitch + (first_at + at) * kSize;
    lane_ = Layout::offset(line, at);
    limit_ = extent_ - (kKMajor ? line : at);
  }

  // Whether the tile lies inside the operand.
  __device__ __forceinline__ bool whole() const { return extent_ >= kExtent; }
  // Whether every piece may be copied or left out as it is.
  __device__ __forceinline__ bool in_pieces() const {
    return kBytes == kSize || (copy_.aligned && (kKMajor || whole() || extent_ % Share::kElements == 0));
  }

  // `pieces` and `elements`: starts the copies of a step that has all its k into the tile at shared address `to`, and
  // goes on to the next step.
  __device__ __forceinline__ void copy(uint32_t to) {
    const char* from = source_;
    int limit = limit_;
    if constexpr (kKMajor) asm("" : "+r"(limit));  // or the predicates are kept in registers all around the loop
    const uint32_t lane = to + lane_;
#pragma unroll
    for (int i = 0; i < kCount; ++i, from = next(from)) {
      const int step = i * Share::kLineStep;
      ptx::cp_async<kBytes>((lane ^ Layout::line_flip(step)) + Layout::line_add(step), from,
                            limit > (kKMajor ? step : 0));
    }
    source_ = kKMajor ? source_ + kTileK * kSize : from;
  }

  // `pieces` and `elements`: copies a step of which only `k_left` elements of k exist; the operand's last.
  __device__ __forceinline__ void copy_last(char* to, int k_left) const {
    const int thread = ptx::thread_index();
    const int bytes = (k_left - Share::at(thread)) * kSize, lines = k_left - Share::line(thread);
    const char* from = source_;
#pragma unroll 1
    for (int i = 0; i < kCount; ++i, from = next(from)) {
      const int step = i * Share::kLineStep;
      if (limit_ <= (kKMajor ? step : 0)) return;
      char* const piece = to + (lane_ ^ Layout::line_flip(step)) + Layout::line_add(step);
      if constexpr (kKMajor && kBytes > kSize) {
        if (bytes > 0 && bytes < kBytes) {
          copy_part(piece, from, bytes);
          continue;
        }
      }
      ptx::cp_async_or_zero<kBytes>(ptx::shared_address(piece), from, kKMajor ? bytes > 0 : step < lines);
    }
  }

  // `bounded`: copies any step; `k_left` elements of k exist from its first on. Copied on return.
  __device__ __forceinline__ void copy_bounded(char* to, int k_left) {
    const char* const source = source_;
#pragma unroll 1
    for (int i = 0; i < kCount; ++i) {
      Raw<1> raw;
      fetch<CopyPath::bounded>(raw, i, k_left);
      store(raw, i, to);
    }
    source_ = source;
  }

  // `shifted` and `bounded`: pieces [first, first + kPieces) of this thread, called for all of a step in order, then
  // `finish`. The loads are under way when fetch returns.
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
      advance();
    else if constexpr (kKMajor)
      source_ += kTileK * kSize - kCount * piece_step();
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

  // On to the next k-step, nothing fetched.
  __device__ __forceinline__ void advance() { source_ += kKMajor ? int64_t{kTileK * kSize} : kTileK * copy_.pitch; }

 private:
  __device__ __forceinline__ int64_t piece_step() const {
    constexpr bool kGiven = std::is_same_v<Share, WholeShare<Layout, kThreads>>;
    return kGiven ? copy_.piece_step : Share::kLineStep * copy_.pitch;
  }
  // The piece after `from`. Opaque, so that a chain of additions is not replaced by a register pair for each piece.
  __device__ __forceinline__ const char* next(const char* from) const {
    from += piece_step();
    asm("" : "+l"(from));
    return from;
  }

  // A piece that the end of k cuts: its first `bytes` and zeros.
  static __device__ __forceinline__ void copy_part(char* to, const char* from, int bytes) {
    using Bits = uint16_t;  // fp32 has no pieces where k is cut
    static_assert(kHalf);
    constexpr int kElements = kBytes / sizeof(Bits);
    Bits x[kElements];
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      x[e] = e * static_cast<int>(sizeof(Bits)) < bytes ? __ldg(reinterpret_cast<const Bits*>(from) + e) : Bits{0};
    }
#pragma unroll
    for (int e = 0; e < kElements; ++e) reinterpret_cast<Bits*>(to)[e] = x[e];
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
      low = read_elements(from, bytes / kSize);
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
  int limit_;           // the same from this thread's first on
};

}  // namespace skgemm
