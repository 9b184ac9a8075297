// How a product with host operands is cut for the trip through device memory: tiles of C, each a sum over chunks of k.
// Pure arithmetic; staging.cpp follows it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/gemm_call.h"

namespace skgemm {

// A rectangle of a stored column-major matrix, in elements.
struct Block {
  int64_t row, col, rows, cols;
};

struct StagingPlan {
  int64_t tiles_m, tiles_n, chunks;  // counts
  int64_t tile_m, tile_n, chunk_k;   // elements; the last ones may be smaller
  int64_t a_slots, b_slots;          // blocks of A and B on the device at once; block i lives in slot i % slots
  size_t a_slot_bytes, b_slot_bytes, c_slot_bytes;
  DataType c_type;  // C on the device: fp32 for h when chunks are added up there, rounded once

  static constexpr int64_t kTileSlots = 2;  // of C: one is computed while the one before goes back

  int64_t tiles() const { return tiles_m * tiles_n; }
  size_t device_bytes() const {
    return static_cast<size_t>(a_slots) * a_slot_bytes + static_cast<size_t>(b_slots) * b_slot_bytes +
           static_cast<size_t>(kTileSlots) * c_slot_bytes;
  }
  // Tiles are numbered down the columns of C, so that a panel of B is used for a whole column of tiles.
  Block tile(const GemmCall& call, int64_t index) const;
  Block a_block(const GemmCall& call, int64_t tile_row, int64_t chunk) const;  // as A is stored
  Block b_block(const GemmCall& call, int64_t tile_col, int64_t chunk) const;
};

// Leading dimension of a block on the device, of one row at least: columns start at multiples of 128 bytes, whatever
// they did in host memory; those of few rows at smaller powers of two, so that none takes twice its bytes.
int64_t staged_ld(int64_t rows, DataType type);

// The plan that sends the least within `budget` bytes of device memory; none when not even small blocks fit.
std::optional<StagingPlan> plan_staging(const GemmCall& call, size_t budget);

}  // namespace skgemm
