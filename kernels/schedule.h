// Which CTA does which k-steps of which tile: the five schedules of the Stream-K paper (Osama et al. 2023, section 5)
// as one host+device value. Tiles are numbered linearly over (batch, raster order); a tile has `steps` k-steps. Every
// schedule is two regions: tiles [0, sk_tiles) are shared between CTAs by k-steps, the rest are done whole.
#pragma once
#include "kernels/types.h"

namespace skgemm {

enum class ScheduleKind : uint8_t { data_parallel = 1, fixed_split, stream_k, one_tile, two_tile };

constexpr const char* name_of(ScheduleKind kind) {
  constexpr const char* names[] = {"auto", "data-parallel", "fixed-split", "stream-k", "one-tile", "two-tile"};
  return names[static_cast<int>(kind)];
}

struct TileCoord {
  int64_t batch, m, n;  // tile indices, not elements
};

// Tile order. Tiles of one batch entry are walked in column bands `group` tiles high: down m within a band first, then
// along n, then the next band. group >= tiles_m is plain column order, group == 1 is row order; in between, the CTAs
// that run together cover a near-square block of C and share operand rows and columns in L2.
struct TileSpace {
  int64_t tiles_m, tiles_n, batch;
  int64_t steps;  // k-steps of one tile, >= 1
  int64_t group;  // >= 1

  SKGEMM_HD constexpr int64_t tiles() const { return tiles_m * tiles_n * batch; }

  SKGEMM_HD constexpr TileCoord coord(int64_t tile) const {
    return tiles() < int64_t{1} << 31 ? coord_in<uint32_t>(tile) : coord_in<uint64_t>(tile);
  }

 private:
  // Quotients of 32 bits take a third of the time on the device.
  template <class Int>
  SKGEMM_HD constexpr TileCoord coord_in(int64_t tile) const {
    const Int rows = static_cast<Int>(tiles_m), columns = static_cast<Int>(tiles_n);
    const Int entry = batch == 1 ? 0 : static_cast<Int>(tile) / (rows * columns);
    const Int t = static_cast<Int>(tile) - entry * rows * columns;
    const Int high = static_cast<Int>(group < tiles_m ? group : tiles_m);
    const Int band = high == rows ? 0 : t / (high * columns);
    const Int in_band = t - band * high * columns, first_m = band * high;
    const Int height = rows - first_m < high ? rows - first_m : high;
    const Int n = in_band / height;
    return {static_cast<int64_t>(entry), static_cast<int64_t>(first_m + in_band - n * height), static_cast<int64_t>(n)};
  }
};

// A CTA's run of k-steps in one tile. With contributors > 1 the tile is summed from slots by the fixup.
struct Unit {
  int64_t tile;
  int64_t step_begin, step_end;
  int64_t contributors;  // CTAs that work on this tile
  int64_t position;      // this unit's place among them, in k order
  int64_t counter;       // index of the tile's arrival counter; valid when contributors > 1
};

struct Schedule {
  ScheduleKind kind;
  TileSpace space;
  int64_t ctas;      // grid size
  int64_t split;     // fixed_split: parts per tile; otherwise 1
  int64_t sk_tiles;  // tiles shared by k-steps (stream_k, one_tile, two_tile); otherwise 0

  SKGEMM_HD constexpr int64_t tiles() const { return space.tiles(); }
  SKGEMM_HD constexpr int64_t sk_steps() const { return sk_tiles * space.steps; }
  // First shared step of a CTA; the shares differ by at most one step.
  SKGEMM_HD constexpr int64_t sk_begin(int64_t cta) const { return cta * sk_steps() / ctas; }
  // The CTA whose share holds a shared step: the largest x with sk_begin(x) <= step.
  SKGEMM_HD constexpr int64_t cta_of_step(int64_t step) const { return ((step + 1) * ctas - 1) / sk_steps(); }
  SKGEMM_HD constexpr int64_t split_begin(int64_t part) const { return part * space.steps / split; }

  // Where contributor `position` of `u`'s tile leaves its partial sum. A Stream-K CTA owns two slots: its share can end
  // inside one tile and begin inside another.
  SKGEMM_HD constexpr int64_t slot(const Unit& u, int64_t position) const {
    if (kind == ScheduleKind::fixed_split) return u.tile * split + position;
    const int64_t cta = cta_of_step(u.tile * space.steps) + position;
    return 2 * cta + (sk_begin(cta) < u.tile * space.steps ? 1 : 0);
  }
  // From contributor 1 on, a tile's slots are this far apart: slot(u, p) == slot(u, 1) + (p - 1)*slot_stride().
  SKGEMM_HD constexpr int64_t slot_stride() const { return kind == ScheduleKind::fixed_split ? 1 : 2; }
  // How many counters and slots the schedule uses.
  SKGEMM_HD constexpr int64_t counters() const {
    if (kind == ScheduleKind::fixed_split) return split > 1 ? tiles() : 0;
    return sk_tiles > 0 ? ctas : 0;
  }
  SKGEMM_HD constexpr int64_t slots() const {
    if (kind == ScheduleKind::fixed_split) return split > 1 ? tiles() * split : 0;
    return sk_tiles > 0 ? 2 * ctas : 0;
  }
};

// Walks one CTA's units in order: shared units first, so that partials are published early, then whole tiles (design
// D2).
class UnitCursor {
 public:
  SKGEMM_HD constexpr UnitCursor(const Schedule& s, int64_t cta)
      : s_(s),
        step_(s.sk_tiles > 0 ? s.sk_begin(cta) : 0),
        step_end_(s.sk_tiles > 0 ? s.sk_begin(cta + 1) : 0),
        next_(s.sk_tiles + cta) {}

  // Where the walk stands, for a CTA that needs the registers in between.
  struct Position {
    int64_t step, step_end, next;
  };
  SKGEMM_HD constexpr Position position() const { return {step_, step_end_, next_}; }
  SKGEMM_HD constexpr void resume(const Position& p) {
    step_ = p.step;
    step_end_ = p.step_end;
    next_ = p.next;
  }

  // Fills `u` with the next unit; false when there is none.
  SKGEMM_HD constexpr bool next(Unit& u) {
    if (s_.kind == ScheduleKind::fixed_split) return next_split(u);
    return step_ < step_end_ ? next_shared(u) : next_whole(u);
  }

 private:
  SKGEMM_HD constexpr bool next_shared(Unit& u) {
    const int64_t steps = s_.space.steps;
    const int64_t tile = step_ / steps, first = tile * steps;
    const int64_t end = step_end_ < first + steps ? step_end_ : first + steps;
    const int64_t head = s_.cta_of_step(first), self = s_.cta_of_step(step_);
    // A CTA is the head of at most one tile with several contributors (its last), so its index names that tile's
    // counter.
    u = {tile, step_ - first, end - first, s_.cta_of_step(first + steps - 1) - head + 1, self - head, head};
    step_ = end;
    return true;
  }

  SKGEMM_HD constexpr bool next_whole(Unit& u) {
    if (next_ >= s_.tiles()) return false;
    u = {next_, 0, s_.space.steps, 1, 0, 0};
    next_ += s_.ctas;
    return true;
  }

  SKGEMM_HD constexpr bool next_split(Unit& u) {
    if (next_ >= s_.tiles() * s_.split) return false;
    const int64_t tile = next_ / s_.split, part = next_ - tile * s_.split;
    u = {tile, s_.split_begin(part), s_.split_begin(part + 1), s_.split, part, tile};
    next_ += s_.ctas;
    return true;
  }

  const Schedule& s_;
  int64_t step_, step_end_;  // the rest of this CTA's share of steps
  int64_t next_;             // its next whole tile, or (fixed split) its next part
};

// ---- The five schedules. `p` is the number of CTAs that run at once. All clamp their parameter to what the space
// allows.

SKGEMM_HD constexpr Schedule data_parallel(const TileSpace& space, int64_t p) {
  const int64_t t = space.tiles();
  return {ScheduleKind::data_parallel, space, t < p ? t : p, 1, 0};
}

// Each tile's steps in `split` parts that differ by at most one step (algorithm 4).
SKGEMM_HD constexpr Schedule fixed_split(const TileSpace& space, int64_t p, int64_t split) {
  split = split < 1 ? 1 : split > space.steps ? space.steps : split;
  const int64_t parts = space.tiles() * split;
  return {ScheduleKind::fixed_split, space, parts < p ? parts : p, split, 0};
}

// All steps of all tiles shared by `g` CTAs (algorithm 5).
SKGEMM_HD constexpr Schedule stream_k(const TileSpace& space, int64_t g) {
  const int64_t steps = space.tiles() * space.steps;
  return {ScheduleKind::stream_k, space, g < 1 ? 1 : g > steps ? steps : g, 1, space.tiles()};
}

// Whole waves data-parallel; the `t mod p` tiles of the partial wave and, for two_tile, one full wave more are shared
// (section 5.2). Below two full waves two_tile is one_tile; with no partial wave both are data-parallel.
SKGEMM_HD constexpr Schedule hybrid(ScheduleKind kind, const TileSpace& space, int64_t p) {
  const int64_t t = space.tiles(), waves = t / p, rest = t - waves * p;
  int64_t shared = rest;
  if (rest > 0 && kind == ScheduleKind::two_tile && waves >= 2) shared += p;
  int64_t g = p;
  if (waves == 0 && t * space.steps < p) g = t * space.steps;
  // A CTA without a shared step would still be counted; short tiles are cheaper whole.
  if (shared * space.steps < g) shared = 0;
  if (shared == 0 && t < g) g = t;
  return {kind, space, g, 1, shared};
}

SKGEMM_HD constexpr Schedule one_tile(const TileSpace& space, int64_t p) {
  return hybrid(ScheduleKind::one_tile, space, p);
}
SKGEMM_HD constexpr Schedule two_tile(const TileSpace& space, int64_t p) {
  return hybrid(ScheduleKind::two_tile, space, p);
}

}  // namespace skgemm
