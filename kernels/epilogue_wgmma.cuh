// C = alpha*sums + beta*C for a warpgroup's 64 rows of a tile of the wgmma kernels. beta == 0 never reads C.
//
// fp32 goes from registers: each store of a warp fills whole 32-byte sectors as the sums lie. fp16 and bf16 pass
// through shared memory, 64 columns at a time, so that stores fill whole lines of 128 bytes; two buffers, so that one
// barrier a chunk is enough. No copy engine: a TMA store of the same chunk takes a fence, two barriers of the warpgroup
// and a place behind the loads of the next tile, which was slower on an H200.
#pragma once
#include "kernels/element.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/shared_access.cuh"
#include "kernels/ptx/stmatrix.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ptx/warpgroup.cuh"
#include "kernels/wgmma_params.h"

namespace skgemm {

// A part of C: as lines (columns of C, whose elements are neighbours) from its first element on. A warpgroup's 64 rows
// (straight), or a warp's 16 (swapped).
struct Output {
  char* data;
  int along, lines;  // elements of a line and lines that exist
  float alpha, beta;
};

// Two-byte results. A chunk is lines of 64 elements: 64 of them, by the warpgroup (straight), or 16, by the warp.
template <class Out, bool kSwapped>
class HalfEpilogue {
  static constexpr int kColumns = 64, kGroup = 16;  // columns of X*Y in a chunk, and of one stmatrix
  static constexpr int kLineBytes = 128, kLines = kSwapped ? 16 : 64;
  static constexpr int kLineStep = kLines / 4;  // lines between a thread's four vectors of a chunk
  static constexpr int kVectors = 4;

 public:
  // `buffers`: two chunks of shared memory, a multiple of 1024. `team`: the warpgroup's barrier.
  __device__ __forceinline__ HalfEpilogue(const WgmmaParams& p, const Output& c, uint32_t buffers, int team)
      : p_(p), c_(c), buffers_(buffers), team_(team) {
    const int lane = ptx::thread_index() % 32, warp = ptx::thread_index() / 32 % 4;
    const int thread = kSwapped ? lane : ptx::thread_index() % 128;
    // Matrix i of an stmatrix is of rows (i%2)*8.. and columns (i/2)*8..; a lane names a line of matrix lane/8.
    const int low = lane / 8 % 2, high = lane / 16;
    put_ = kSwapped ? offset(8 * low + lane % 8, high) : offset(8 * high + lane % 8, 2 * warp + low);
    line_ = thread / 8;
    at_ = thread % 8 * 8;
  }

  // One loop for all chunks, as its code is long; only the sums' registers need a copy of their part for each.
  template <bool kReadC, int kSums>
  __device__ __forceinline__ void store(const float (&sums)[kSums], int width) const {
#pragma unroll 1
    for (int first = 0; first < width; first += kColumns) {
      const uint32_t buffer = buffers_ + first / kColumns % 2 * (kLines * kLineBytes);
      const int columns = min(kColumns, width - first);
      const Chunk chunk = chunk_of(first, columns);
      if (chunk.along <= 0 || chunk.lines <= 0) break;
      if constexpr (kReadC) {
        read(chunk, buffer);
        barrier();
      }
      combine_part<kReadC, 0>(buffer, sums, first, columns);
      barrier();
      write(chunk, buffer);
    }
  }

 private:
  struct Chunk {
    char* data;
    int along, lines;  // that exist and belong to the tile
    bool vectors;      // no vector of 8 elements is cut by the end
  };
  __device__ __forceinline__ Chunk chunk_of(int first, int columns) const {
    Chunk x{c_.data, c_.along, c_.lines, false};
    if constexpr (kSwapped) {
      x.data += first * 2;
      x.along = min(x.along - first, columns);
    } else {
      x.data += first * p_.c_pitch;
      x.lines = min(x.lines - first, columns);
    }
    x.vectors = p_.c_vector && (x.along % 8 == 0 || x.along >= 64);
    return x;
  }

  __device__ __forceinline__ void barrier() const {
    if constexpr (kSwapped)
      __syncwarp();
    else
      ptx::named_barrier<128>(1 + team_);
  }

  // Byte of 16-byte piece `piece` of a line, permuted so that eight lines' pieces lie in different banks.
  static __device__ __forceinline__ uint32_t offset(int line, int piece) {
    return line * kLineBytes + ((piece ^ line % 8) << 4);
  }

  // The chunk of the tile's columns from `first` on: its sums are registers, which no run-time number can name.
  template <bool kReadC, int kFirst, int kSums>
  __device__ __forceinline__ void combine_part(uint32_t buffer, const float (&sums)[kSums], int first,
                                               int columns) const {
    if (first == kFirst) {
      float alpha = c_.alpha;
      asm volatile("" : "+f"(alpha));  // or all products with it are taken ahead of the loop, in registers there aren't
#pragma unroll
      for (int column = 0; column < kColumns; column += kGroup) {
        if (column < columns) combine<kReadC>(buffer, sums + (kFirst + column) / 2, column, alpha);
      }
    } else if constexpr (kFirst + kColumns < 2 * kSums) {
      combine_part<kReadC, kFirst + kColumns>(buffer, sums, first, columns);
    }
  }
  template <bool kReadC>
  __device__ __forceinline__ void combine(uint32_t buffer, const float* sums, int column, float alpha) const {
    const uint32_t address = kSwapped ? buffer + (put_ ^ column * 2) : buffer + put_ + column * kLineBytes;
    uint32_t c[4] = {};
    if constexpr (kReadC) {
      if constexpr (kSwapped)
        ptx::ldmatrix_x4(c, address);
      else
        ptx::ldmatrix_x4_trans(c, address);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Out pair[2];
      memcpy(pair, &c[i], 4);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float value = alpha * sums[2 * i + e];
        if constexpr (kReadC) value += c_.beta * widen(pair[e]);
        pair[e] = narrow<Out>(value);
      }
      memcpy(&c[i], pair, 4);
    }
    if constexpr (kSwapped)
      ptx::stmatrix_x4(address, c);
    else
      ptx::stmatrix_x4_trans(address, c);
  }

  __device__ __forceinline__ void write(const Chunk& x, uint32_t buffer) const {
    if (x.vectors) {
      uint4 v[kVectors];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) v[i] = ptx::load_shared_16(buffer + offset(line_ + i * kLineStep, at_ / 8));
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int line = line_ + i * kLineStep;
        if (line < x.lines && at_ < x.along) *reinterpret_cast<uint4*>(x.data + line * p_.c_pitch + at_ * 2) = v[i];
      }
      return;
    }
    // Pairs that start at multiples of four bytes, and what is left over at the ends.
    for_lines(x, [&](uint16_t* to, int line) {
      const int lane = ptx::thread_index() % 32, odd = reinterpret_cast<uintptr_t>(to) / 2 % 2, e = 2 * lane - odd;
      const uint16_t low = element(buffer, line, max(e, 0)), high = element(buffer, line, e + 1);
      if (e >= 0 && e + 1 < x.along)
        *reinterpret_cast<uint32_t*>(to + e) = low | uint32_t{high} << 16;
      else if (e >= 0 && e < x.along)
        to[e] = low;
      else if (e < 0)
        to[0] = high;
      if (odd && lane == 31 && x.along > 63) to[63] = element(buffer, line, 63);
    });
  }
  __device__ __forceinline__ void read(const Chunk& x, uint32_t buffer) const {
    if (x.vectors) {
      uint4 v[kVectors];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int line = line_ + i * kLineStep;
        v[i] = uint4{};
        if (line < x.lines && at_ < x.along) {
          v[i] = *reinterpret_cast<const uint4*>(x.data + line * p_.c_pitch + at_ * 2);
        }
      }
#pragma unroll
      for (int i = 0; i < kVectors; ++i) ptx::store_shared_16(buffer + offset(line_ + i * kLineStep, at_ / 8), v[i]);
      return;
    }
    for_lines(x, [&](const uint16_t* from, int line) {
#pragma unroll
      for (int e = ptx::thread_index() % 32; e < 64; e += 32) {
        if (e < x.along) ptx::store_shared_2(buffer + offset(line, e / 8) + e % 8 * 2, from[e]);
      }
    });
  }
  static __device__ __forceinline__ uint16_t element(uint32_t buffer, int line, int e) {
    return ptx::load_shared_2(buffer + offset(line, e / 8) + e % 8 * 2);
  }
  // Calls each(first element in C, line) for this warp's share of the lines, at any address of C.
  template <class Each>
  __device__ __forceinline__ void for_lines(const Chunk& x, const Each& each) const {
    constexpr int kWarps = kSwapped ? 1 : 4;
#pragma unroll 1
    for (int line = ptx::thread_index() / 32 % kWarps; line < min(x.lines, kLines); line += kWarps) {
      each(reinterpret_cast<uint16_t*>(x.data + line * p_.c_pitch), line);
    }
  }

  const WgmmaParams& p_;
  const Output& c_;
  uint32_t buffers_;
  int team_;
  uint32_t put_;   // this lane's place in a buffer for stmatrix
  int line_, at_;  // of this thread's first vector
};

// fp32 results. A thread of a warp has columns 8j + 2t, 8j + 2t + 1 of rows g and g + 8.
template <bool kSwapped, bool kReadC, int kSums>
__device__ __forceinline__ void store_floats(const WgmmaParams& p, const float (&sums)[kSums], const Output& c) {
  const int lane = ptx::thread_index() % 32, column = lane % 4 * 2;
  const int row = lane / 4 + (kSwapped ? 0 : ptx::thread_index() / 32 % 4 * 16);
  const int rows = kSwapped ? c.lines : c.along, columns = min(kSwapped ? c.along : c.lines, p.width);
  char* const first = c.data + (kSwapped ? row * p.c_pitch + column * 4 : column * p.c_pitch + row * 4);
#pragma unroll
  for (int j = 0; j < kSums / 4; ++j) {
    if (8 * j >= p.width) break;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (row + 8 * h >= rows) continue;
      char* const at = first + (kSwapped ? 8 * h * p.c_pitch + 32 * j : 8 * j * p.c_pitch + 32 * h);
      auto* const to = reinterpret_cast<float*>(at);
      auto* const next = kSwapped ? to + 1 : reinterpret_cast<float*>(at + p.c_pitch);
      const int left = columns - 8 * j - column;
      float value[2] = {c.alpha * sums[4 * j + 2 * h], c.alpha * sums[4 * j + 2 * h + 1]};
      if constexpr (kReadC) {
        if (left > 0) value[0] += c.beta * *to;
        if (left > 1) value[1] += c.beta * *next;
      }
      if (kSwapped && p.c_vector && left > 1) {
        *reinterpret_cast<float2*>(to) = {value[0], value[1]};
      } else {
        if (left > 0) *to = value[0];
        if (left > 1) *next = value[1];
      }
    }
  }
}

}  // namespace skgemm
