#include "src/host/half.h"

#include <algorithm>
#include <memory>
#include <new>

#include "src/host/cpu_gemm.h"

namespace skgemm {
namespace {

constexpr int64_t kBlock = 1024;  // rows, columns and k of a block: 4 MiB of fp32

struct Block {
  int64_t row, col, rows, cols;
};

void widen(const Matrix& from, const Block& b, float* to) {
  for (int64_t j = 0; j < b.cols; ++j) {
    const uint16_t* column = static_cast<const uint16_t*>(from.data) + b.row + (b.col + j) * from.ld;
    for (int64_t i = 0; i < b.rows; ++i) to[i + j * b.rows] = half_to_float(column[i]);
  }
}

void narrow(const float* from, const Block& b, const Matrix& to) {
  for (int64_t j = 0; j < b.cols; ++j) {
    uint16_t* column = static_cast<uint16_t*>(to.data) + b.row + (b.col + j) * to.ld;
    for (int64_t i = 0; i < b.rows; ++i) column[i] = float_to_half(from[i + j * b.rows]);
  }
}

// The stored block of op(X)[first : first+count, k : k+depth], rows of op(X) being its columns when transposed.
Block stored_block(Op op, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  return op == Op::n ? Block{row, col, rows, cols} : Block{col, row, cols, rows};
}

struct Scratch {
  std::unique_ptr<float[]> a, b, c;
};

void compute_tile(const GemmCall& call, const Block& tile, const Scratch& scratch) {
  const float one = 1;
  if (*static_cast<const float*>(call.beta) != 0) widen(call.c, tile, scratch.c.get());
  for (int64_t k = 0; k < call.k; k += kBlock) {
    const int64_t steps = std::min(kBlock, call.k - k);
    const Block a = stored_block(call.op_a, tile.row, k, tile.rows, steps);
    const Block b = stored_block(call.op_b, k, tile.col, steps, tile.cols);
    widen(call.a, a, scratch.a.get());
    widen(call.b, b, scratch.b.get());
    cpu_gemm({.op_a = call.op_a,
              .op_b = call.op_b,
              .m = tile.rows,
              .n = tile.cols,
              .k = steps,
              .in = DataType::f32,
              .out = DataType::f32,
              .scalar_type = DataType::f32,
              .scalars = PointerMode::host,
              .alpha = call.alpha,
              .beta = k == 0 ? call.beta : &one,
              .a = {scratch.a.get(), a.rows, 0},
              .b = {scratch.b.get(), b.rows, 0},
              .c = {scratch.c.get(), tile.rows, 0},
              .batch = 1,
              .name = call.name});
  }
  narrow(scratch.c.get(), tile, call.c);
}

}  // namespace

bool half_gemm(const GemmCall& call) {
  const int64_t rows = std::min(call.m, kBlock), cols = std::min(call.n, kBlock), depth = std::min(call.k, kBlock);
  const auto floats = [](int64_t count) {
    return std::unique_ptr<float[]>(new (std::nothrow) float[static_cast<size_t>(count)]);
  };
  const Scratch scratch{floats(rows * depth), floats(depth * cols), floats(rows * cols)};
  if (scratch.a == nullptr || scratch.b == nullptr || scratch.c == nullptr) return false;
  for (int64_t j = 0; j < call.n; j += kBlock) {
    for (int64_t i = 0; i < call.m; i += kBlock) {
      compute_tile(call, {i, j, std::min(kBlock, call.m - i), std::min(kBlock, call.n - j)}, scratch);
    }
  }
  return true;
}

}  // namespace skgemm
