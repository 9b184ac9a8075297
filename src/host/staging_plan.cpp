#include "src/host/staging_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace skgemm {
namespace {

constexpr int64_t kTileBytes = int64_t{32} << 20;    // of C: two pinned buffers of this size bring it back
constexpr int64_t kBlockBytes = int64_t{128} << 20;  // of A and B: what is sent before a chunk can be computed
constexpr int64_t kTilesWanted = 8;                  // below this the first transfer and the last one stand out
constexpr int64_t kLeastTile = 256;                  // smaller tiles leave the device idle
constexpr int64_t kRound = 64;                       // elements: tile edges stay multiples of the kernels' tiles
constexpr size_t kSlotAlignment = 256;

int64_t round_up(int64_t x, int64_t to) { return ceil_div(x, to) * to; }
int64_t halved(int64_t x) { return round_up(ceil_div(x, 2), kRound); }

size_t slot_bytes(int64_t rows, int64_t cols, DataType type) {
  const auto bytes = static_cast<size_t>(staged_ld(rows, type) * cols * size_of(type));
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

// Edges of a tile of C as square as the extents allow, and several of them.
void cut_tiles(const GemmCall& call, StagingPlan& p) {
  const int64_t elements = kTileBytes / size_of(accumulator_of(call.out));
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  p.tile_m = std::min(call.m, elements / std::min(call.n, side) / kRound * kRound);
  p.tile_n = std::min(call.n, std::max(kRound, elements / p.tile_m / kRound * kRound));
  while (ceil_div(call.m, p.tile_m) * ceil_div(call.n, p.tile_n) < kTilesWanted) {
    int64_t& larger = p.tile_m > p.tile_n ? p.tile_m : p.tile_n;
    if (larger < 2 * kLeastTile) break;
    larger = halved(larger);
  }
}

// Everything that follows from the edges, with as few slots as work.
void fill_in(const GemmCall& call, StagingPlan& p) {
  p.tiles_m = ceil_div(call.m, p.tile_m);
  p.tiles_n = ceil_div(call.n, p.tile_n);
  p.chunks = ceil_div(call.k, p.chunk_k);
  p.c_type = p.chunks > 1 ? accumulator_of(call.out) : call.out;
  const auto bytes = [&](Op op, int64_t rows, int64_t cols) {
    return op == Op::n ? slot_bytes(rows, cols, call.in) : slot_bytes(cols, rows, call.in);
  };
  p.a_slot_bytes = bytes(call.op_a, p.tile_m, p.chunk_k);
  p.b_slot_bytes = bytes(call.op_b, p.chunk_k, p.tile_n);
  p.c_slot_bytes = slot_bytes(p.tile_m, p.tile_n, p.c_type);
  p.a_slots = std::min<int64_t>(2, p.tiles_m * p.chunks);
  p.b_slots = std::min<int64_t>(2, p.tiles_n * p.chunks);
}

// All of A, so that it is sent once; two panels of B, so that the next one comes in while one is used.
bool add_slots(StagingPlan& p, size_t budget) {
  const int64_t all_a = p.tiles_m * p.chunks, panels_b = std::min(2 * p.chunks, p.tiles_n * p.chunks);
  const int64_t least_a = p.a_slots, least_b = p.b_slots;
  const std::pair<int64_t, int64_t> choices[] = {
      {all_a, panels_b}, {all_a, least_b}, {least_a, panels_b}, {least_a, least_b}};
  for (const auto& [a, b] : choices) {
    p.a_slots = a;
    p.b_slots = b;
    if (p.device_bytes() <= budget) return true;
  }
  return false;
}

}  // namespace

int64_t staged_ld(int64_t rows, DataType type) {
  const auto bytes = static_cast<uint64_t>(rows * size_of(type));
  return round_up(rows, static_cast<int64_t>(std::min<uint64_t>(std::bit_floor(bytes), 128)) / size_of(type));
}

Block StagingPlan::tile(const GemmCall& call, int64_t index) const {
  const int64_t row = index % tiles_m * tile_m, col = index / tiles_m * tile_n;
  return {row, col, std::min(tile_m, call.m - row), std::min(tile_n, call.n - col)};
}

Block StagingPlan::a_block(const GemmCall& call, int64_t tile_row, int64_t chunk) const {
  const int64_t row = tile_row * tile_m, k = chunk * chunk_k;
  const Block b{row, k, std::min(tile_m, call.m - row), std::min(chunk_k, call.k - k)};
  return call.op_a == Op::n ? b : Block{b.col, b.row, b.cols, b.rows};
}

Block StagingPlan::b_block(const GemmCall& call, int64_t tile_col, int64_t chunk) const {
  const int64_t k = chunk * chunk_k, col = tile_col * tile_n;
  const Block b{k, col, std::min(chunk_k, call.k - k), std::min(tile_n, call.n - col)};
  return call.op_b == Op::n ? b : Block{b.col, b.row, b.cols, b.rows};
}

std::optional<StagingPlan> plan_staging(const GemmCall& call, size_t budget) {
  StagingPlan p{};
  cut_tiles(call, p);
  const int64_t longest = std::max(p.tile_m, p.tile_n) * size_of(call.in);
  p.chunk_k = std::min(call.k, std::max(kRound, kBlockBytes / longest / kRound * kRound));
  for (;;) {
    fill_in(call, p);
    if (add_slots(p, budget)) return p;
    int64_t& largest = p.chunk_k >= std::max(p.tile_m, p.tile_n) ? p.chunk_k
                       : p.tile_m > p.tile_n                     ? p.tile_m
                                                                 : p.tile_n;
    if (largest <= kRound) return std::nullopt;
    largest = halved(largest);
  }
}

}  // namespace skgemm
