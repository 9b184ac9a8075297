// C = alpha*sums + beta*C for a warpgroup's 64 rows of a tile of the wgmma kernels. beta == 0 never reads C.
//
// fp32 goes from registers: each store of a warp fills whole 32-byte sectors as the sums lie. fp16 and bf16 pass
// through shared memory, 64 columns at a time (chunk_ring.cuh), so that stores fill whole lines of 128 bytes and the
// warpgroup can go on. No copy engine: a TMA store cuts lines at multiples of 16 bytes, whatever the tensor's extents.
#pragma once
#include "kernels/chunk_ring.cuh"
#include "kernels/element.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/stmatrix.cuh"
#include "kernels/ptx/warpgroup.cuh"

namespace skgemm {

struct Factors {
  float alpha, beta;
};

// Two-byte results.
template <class Out, bool kSwapped>
class HalfEpilogue {
  static constexpr int kColumns = 64, kGroup = 16;  // columns of X*Y in a chunk, and of one stmatrix
  static constexpr int kVectors = 4;                // a thread's of a chunk, 16 lines apart

 public:
  // `put`: as put_at() says.
  __device__ __forceinline__ HalfEpilogue(const WgmmaParams& p, const Output& out, const Factors& by, uint32_t put,
                                          int warpgroup)
      : p_(p), out_(out), by_(by), put_(put), warpgroup_(warpgroup) {}

  // This lane's place in a chunk for the first stmatrix: matrix i is of rows (i%2)*8.. and columns (i/2)*8.. of X*Y,
  // and a lane names a line of matrix lane/8.
  static __device__ __forceinline__ uint32_t put_at() {
    const uint32_t lane = ptx::lane_index(), warp = static_cast<uint32_t>(ptx::thread_index()) / 32 % 4;
    const uint32_t low = lane / 8 % 2, high = lane / 16;
    return kSwapped ? chunk_offset(16 * warp + 8 * low + lane % 8, high)
                    : chunk_offset(8 * high + lane % 8, 2 * warp + low);
  }

  // One loop for all chunks, as its code is long; only the sums' registers need a copy of their part for each. The
  // buffer of the first one is free. `last`: the warpgroup has no more to store.
  template <bool kReadC, int kSums>
  __device__ __forceinline__ void store(const float (&sums)[kSums], ChunkRing& ring, bool last) const {
    const int columns = min(p_.width, kSwapped ? out_.along : out_.lines);
#pragma unroll 1
    for (int first = 0; first < columns; first += kColumns) {
      if (first > 0) ring.wait_empty();
      if constexpr (kReadC) {
        read(first, ring.buffer());
        barrier();
      }
      combine_part<kReadC, 0>(ring.buffer(), sums, first, columns - first);
      if (p_.c_vector) {
        ring.push(out_, first, last && first + kColumns >= columns);
      } else {
        barrier();
        ChunkStore<1>(p_, ptx::thread_index() / 32 % 4 * 16).store(out_, first, ring.buffer());
        barrier();
      }
    }
  }

 private:
  __device__ __forceinline__ void barrier() const { ptx::named_barrier<128>(1 + warpgroup_); }

  // The chunk of the tile's columns from `first` on: its sums are registers, which no run-time number can name.
  template <bool kReadC, int kFirst, int kSums>
  __device__ __forceinline__ void combine_part(uint32_t buffer, const float (&sums)[kSums], int first,
                                               int columns) const {
    if (first == kFirst) {
      float alpha = by_.alpha;
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
    const uint32_t address = kSwapped ? buffer + (put_ ^ column * 2) : buffer + put_ + column * wgmma_smem::kLineBytes;
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
        if constexpr (kReadC) value += by_.beta * widen(pair[e]);
        pair[e] = narrow<Out>(value);
      }
      memcpy(&c[i], pair, 4);
    }
    if constexpr (kSwapped)
      ptx::stmatrix_x4(address, c);
    else
      ptx::stmatrix_x4_trans(address, c);
  }

  // C into the chunk of columns from `first` on, by the warpgroup.
  __device__ __forceinline__ void read(int first, uint32_t buffer) const {
    const auto [c, along, lines] = chunk_of(p_, kSwapped, out_, first);
    if (p_.c_vector && along % 8 == 0) {
      const int thread = ptx::thread_index() % 128, at = thread % 8;
      uint4 v[kVectors];
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        const int line = thread / 8 + 16 * i;
        v[i] = uint4{};
        if (line < lines && 8 * at < along) v[i] = *reinterpret_cast<const uint4*>(c + line * p_.c_pitch + at * 16);
      }
#pragma unroll
      for (int i = 0; i < kVectors; ++i) ptx::store_shared_16(buffer + chunk_offset(thread / 8 + 16 * i, at), v[i]);
      return;
    }
#pragma unroll 4
    for (int line = ptx::thread_index() / 32 % 4; line < lines; line += 4) {
      const auto* const from = reinterpret_cast<const uint16_t*>(c + line * p_.c_pitch);
#pragma unroll
      for (int e = static_cast<int>(ptx::lane_index()); e < 64; e += 32) {
        if (e < along) ptx::store_shared_2(buffer + chunk_offset(line, e / 8) + e % 8 * 2, from[e]);
      }
    }
  }

  const WgmmaParams& p_;
  const Output& out_;
  const Factors by_;
  uint32_t put_;
  int warpgroup_;
};

// fp32 results. A thread of a warp has columns 8j + 2t, 8j + 2t + 1 of rows g and g + 8.
template <bool kSwapped, bool kReadC, int kSums>
__device__ __forceinline__ void store_floats(const WgmmaParams& p, const float (&sums)[kSums], const Output& c,
                                             const Factors& by) {
  const int lane = ptx::thread_index() % 32, column = lane % 4 * 2;
  const int row = lane / 4 + ptx::thread_index() / 32 % 4 * 16;
  const int rows = kSwapped ? c.lines : c.along, columns = min(kSwapped ? c.along : c.lines, p.width);
  char* const first = c.c + (kSwapped ? row * p.c_pitch + column * 4 : column * p.c_pitch + row * 4);
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
      float value[2] = {by.alpha * sums[4 * j + 2 * h], by.alpha * sums[4 * j + 2 * h + 1]};
      if constexpr (kReadC) {
        if (left > 0) value[0] += by.beta * *to;
        if (left > 1) value[1] += by.beta * *next;
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
