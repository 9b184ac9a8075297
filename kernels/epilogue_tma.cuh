// C = alpha*sums + beta*C for a warpgroup's 64 rows of a tile: registers -> a chunk of shared memory -> C, by TMA where C
// starts at multiples of 16 bytes. Two chunks a warpgroup, so that one is filled while the other is on its way; the last
// ones are on their way while the next unit is summed. beta == 0 never reads C.
#pragma once
#include "kernels/c_chunk.cuh"
#include "kernels/element.cuh"
#include "kernels/ptx/ldmatrix.cuh"
#include "kernels/ptx/stmatrix.cuh"
#include "kernels/ptx/warpgroup.cuh"

namespace skgemm {

struct TileOrigin {
  int row, column, entry;  // of X*Y: the warpgroup's first
};

template <class Out>
class EpilogueTma {
  using Chunk = CChunk<Out>;
  static constexpr int kColumns = Chunk::kColumns;

 public:
  // `chunks`: stored so far by this warpgroup, which says which buffer is next and the phase of its barrier.
  __device__ __forceinline__ EpilogueTma(const WgmmaParams& p, uint32_t smem, int warpgroup, uint32_t& chunks)
      : p_(p), smem_(smem), warpgroup_(warpgroup), chunks_(chunks) {}

  template <int kSums>
  __device__ __forceinline__ void store(const float (&sums)[kSums], const TileOrigin& tile, float alpha, float beta) {
    using namespace wgmma_smem;
    const bool leader = ptx::thread_index() % 128 == 0;
    // One loop for all chunks, as its code is long; only the sums' registers need a copy of their part for each.
#pragma unroll 1
    for (int first = 0; first < p_.width; first += kColumns) {
      const int number = 2 * warpgroup_ + static_cast<int>(chunks_ % 2), columns = min(kColumns, p_.width - first);
      const Chunk chunk(p_, smem_ + kChunksAt + number * kChunkBytes, tile.row, tile.column + first, tile.entry,
                        columns);
      if (leader) ptx::tma_wait_read<1>();  // the chunk before the last has left this buffer
      if (beta != 0) fetch(chunk, smem_ + kChunkBarriersAt + 8 * number, leader);
      barrier();
      combine_part<0>(chunk, sums, first, columns, alpha, beta);
      const bool by_tma = p_.c.tma && chunk.ends_whole();
      if (by_tma) ptx::fence_shared_for_async();
      barrier();
      if (!by_tma) chunk.write();
      if (leader) {
        if (by_tma) chunk.store();
        ptx::tma_commit();  // a group for every chunk, empty or not: their number says which buffer is free
      }
      ++chunks_;
    }
  }

 private:
  __device__ __forceinline__ void fetch(const Chunk& chunk, uint32_t arrived, bool leader) const {
    if (p_.c.tma) {
      if (leader) chunk.load(arrived);
      ptx::mbarrier_wait(arrived, chunks_ / 2 % 2);
    } else {
      chunk.read();
    }
  }
  __device__ __forceinline__ void barrier() const { ptx::named_barrier<128>(1 + warpgroup_); }

  // The chunk of the tile's columns from `first` on: its sums are registers, which no run-time number can name.
  template <int kFirst, int kSums>
  static __device__ __forceinline__ void combine_part(const Chunk& chunk, const float (&sums)[kSums], int first,
                                                      int columns, float alpha, float beta) {
    if (first == kFirst) {
      asm volatile("" : "+f"(alpha));  // or all products with it are taken ahead of the loop, in registers there aren't
      if (beta == 0)
        combine<false>(chunk, sums + kFirst / 2, columns, alpha, beta);
      else
        combine<true>(chunk, sums + kFirst / 2, columns, alpha, beta);
    } else if constexpr (kFirst + kColumns < 2 * kSums) {
      combine_part<kFirst + kColumns>(chunk, sums, first, columns, alpha, beta);
    }
  }

  // A chunk's sums into shared memory. Each 8 columns are four sums: two columns each of rows g and g + 8.
  template <bool kReadC>
  static __device__ __forceinline__ void combine(const Chunk& chunk, const float* sums, int columns, float alpha,
                                                 float beta) {
    const int lane = ptx::thread_index() % 32, row = ptx::thread_index() % 128 / 32 * 16;
    if constexpr (Chunk::kSize == 2) {
      // Matrix i of four is of rows (i%2)*8.. and columns (i/2)*8..; a lane names a line of matrix lane/8.
      const bool swapped = chunk.swapped();
      const int mr = row + lane / 8 % 2 * 8, mc = lane / 16 * 8;
      const uint32_t first = swapped ? chunk.at(mr + lane % 8, mc) : chunk.at(mr, mc + lane % 8);
#pragma unroll
      for (int column = 0; column < kColumns; column += 16) {
        if (column >= columns) break;
        const typename Chunk::Distance d = chunk.distance(column);
        const uint32_t address = (first + d.add) ^ d.flip;
        uint32_t c[4] = {};
        if constexpr (kReadC) {
          if (swapped)
            ptx::ldmatrix_x4(c, address);
          else
            ptx::ldmatrix_x4_trans(c, address);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float* const two = sums + column / 2 + 2 * i;
          c[i] = combined<kReadC>(two[0], two[1], c[i], alpha, beta);
        }
        if (swapped)
          ptx::stmatrix_x4(address, c);
        else
          ptx::stmatrix_x4_trans(address, c);
      }
    } else {
      uint32_t first[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) first[i] = chunk.at(row + lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
#pragma unroll
      for (int column = 0; column < kColumns; column += 8) {
        if (column >= columns) break;
        const typename Chunk::Distance d = chunk.distance(column);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t address = (first[i] + d.add) ^ d.flip;
          float value = alpha * sums[column / 2 + i];
          if constexpr (kReadC) value += beta * __uint_as_float(Chunk::template get<uint32_t>(address));
          Chunk::put(address, __float_as_uint(value));
        }
      }
    }
  }

  template <bool kReadC>
  static __device__ __forceinline__ uint32_t combined(float sum0, float sum1, uint32_t c, float alpha, float beta) {
    Out pair[2];
    memcpy(pair, &c, 4);
    float value[2] = {alpha * sum0, alpha * sum1};
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      if constexpr (kReadC) value[e] += beta * widen(pair[e]);
      pair[e] = narrow<Out>(value[e]);
    }
    memcpy(&c, pair, 4);
    return c;
  }

  const WgmmaParams& p_;
  uint32_t smem_;
  int warpgroup_;
  uint32_t& chunks_;
};

}  // namespace skgemm
