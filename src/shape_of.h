// What the selector needs to know of a call.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "heuristics/select.h"
#include "kernels/line_starts.h"
#include "src/gemm_call.h"

namespace skgemm {

// The largest power of two, `most` at most, that divides an operand's address, the bytes from column to column and, in
// a batch, those from entry to entry.
inline int alignment_of(const Matrix& x, DataType type, int64_t batch, int most) {
  const auto size = static_cast<uint64_t>(size_of(type));
  uint64_t bits = static_cast<uint64_t>(most);
  bits |= reinterpret_cast<uintptr_t>(x.data) | static_cast<uint64_t>(x.ld) * size;
  if (batch > 1) bits |= static_cast<uint64_t>(x.stride) * size;
  return 1 << std::countr_zero(bits);
}

// The same of A or B, as far as the TMA can make use of it: it takes no pitch from kTmaPitchEnd on and no negative one.
inline int operand_alignment(const Matrix& x, DataType type, int64_t batch) {
  const int64_t end = kTmaPitchEnd / size_of(type);
  const bool takes = x.ld < end && (batch <= 1 || (x.stride >= 0 && x.stride < end));
  return alignment_of(x, type, batch, takes ? 128 : 8);
}

// Whether rows, columns, k and batch entries can be counted in 32 bits, as the coordinates of TMA boxes are (PTX ISA,
// cp.async.bulk.tensor), up to the end of the last tile, of 1024 at most: four CTAs' widths.
inline constexpr int64_t kMostSmall = (int64_t{1} << 31) - 1024;
inline bool small_extents(const GemmCall& call) {
  return std::max({call.m, call.n, call.k, call.batch}) <= kMostSmall;
}

inline Shape shape_of(const GemmCall& call) {
  return {.m = call.m, .n = call.n, .k = call.k, .batch = call.batch, .in = call.in, .out = call.out,
          .a_k_major = call.op_a == Op::t, .b_k_major = call.op_b == Op::n,
          .a_align = operand_alignment(call.a, call.in, call.batch),
          .b_align = operand_alignment(call.b, call.in, call.batch),
          .c_align = alignment_of(call.c, call.out, call.batch, 16), .small_extents = small_extents(call),
          .a_shared = call.batch > 1 && call.a.stride == 0, .b_shared = call.batch > 1 && call.b.stride == 0};
}

}  // namespace skgemm
