// Reads of two-byte elements at any address, as aligned 16-byte pieces that are shifted into place.
#pragma once
#include <cstdint>

namespace skgemm {

// 16 bytes at a multiple of 16; what lies at `end` and behind it is not read, and zero.
__device__ __forceinline__ uint4 read_piece(const char* from, const char* end) {
  if (from + 16 <= end) return __ldg(reinterpret_cast<const uint4*>(from));
  uint4 piece{};
#pragma unroll 1
  for (int e = static_cast<int>(end - from) / 2 - 1; e >= 0; --e) {
    const uint32_t element = __ldg(reinterpret_cast<const uint16_t*>(from) + e);
    piece = {piece.x << 16 | element, __funnelshift_l(piece.x, piece.y, 16), __funnelshift_l(piece.y, piece.z, 16),
             __funnelshift_l(piece.z, piece.w, 16)};
  }
  return piece;
}

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
