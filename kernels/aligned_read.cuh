// Reads of two-byte elements at any address, as aligned 16-byte pieces that are shifted into place. Plain loads: a grid
// before this one may write the operand while this one already runs, until griddepcontrol.wait, and what was written
// during a kernel must not be read by ld.global.nc, which __ldg is (PTX ISA 9.7.9.9, "ld.global.nc").
#pragma once
#include <cstdint>

namespace skgemm {

// Eight elements at any address, of which only the first `count` are read; the others are zero.
__device__ __forceinline__ uint4 read_elements(const char* from, int count) {
  uint32_t element[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) element[e] = e < count ? reinterpret_cast<const uint16_t*>(from)[e] : 0;
  return {element[1] << 16 | element[0], element[3] << 16 | element[2], element[5] << 16 | element[4],
          element[7] << 16 | element[6]};
}

// Pieces as words, which can be shifted over their ends.
__device__ __forceinline__ void put_piece(uint32_t* word, const uint4& piece) {
  word[0] = piece.x;
  word[1] = piece.y;
  word[2] = piece.z;
  word[3] = piece.w;
}
__device__ __forceinline__ uint4 first_piece(const uint32_t* word) { return {word[0], word[1], word[2], word[3]}; }

// Moves what begins `bytes` (even, below 16) into word[0] to its front, for all words but the last four.
template <int kWords>
__device__ __forceinline__ void shift_down(uint32_t (&word)[kWords], int bytes) {
#pragma unroll
  for (int i = 0; i < kWords - 2; ++i) word[i] = bytes & 8 ? word[i + 2] : word[i];
#pragma unroll
  for (int i = 0; i < kWords - 3; ++i) word[i] = bytes & 4 ? word[i + 1] : word[i];
#pragma unroll
  for (int i = 0; i < kWords - 4; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], (bytes & 2) * 8);
}

}  // namespace skgemm
