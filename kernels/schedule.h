// Which CTA does which k-steps of which tile: the five schedules of the Stream-K paper (Osama et al. 2023, section 5)
// as one host+device value. Tiles are numbered linearly over (batch, raster order); a tile has `steps` k-steps. Every
// schedule is two regions: tiles [0, sk_tiles) are shared between CTAs by k-steps, the rest are done whole. In 64 bits
// for the host, in 32 for the device, which is in a hurry (ShortSchedule).
#pragma once
#include "kernels/divisor.h"

namespace skgemm {

enum class ScheduleKind : uint8_t { data_parallel = 1, fixed_split, stream_k, one_tile, two_tile };

constexpr const char* name_of(ScheduleKind kind) {
  constexpr const char* names[] = {"auto", "data-parallel", "fixed-split", "stream-k", "one-tile", "two-tile"};
  return names[static_cast<int>(kind)];
}

template <class Int>
struct BasicTileCoord {
  Int batch, m, n;  // tile indices, not elements
};

// Tile order. Tiles of one batch entry are walked in column bands `group` tiles high: down m within a band first, then
// along n, then the next band. group >= tiles_m is plain column order, group == 1 is row order; in between, the CTAs
// that run together cover a near-square block of C and share operand rows and columns in L2.
template <class Int>
struct BasicTileSpace {
  Int tiles_m, tiles_n, batch;
  Int steps;  // k-steps of one tile, >= 1
  Int group;  // >= 1

  struct Divisors {
    Divisor<Int> entry, band, height, last_height;
  };
  Divisors by = {};

  SKGEMM_HD constexpr Int tiles() const { return tiles_m * tiles_n * batch; }

  SKGEMM_HD constexpr BasicTileCoord<Int> coord(Int tile) const {
    const Int area = tiles_m * tiles_n, high = band_height();
    const Int entry = batch == 1 ? 0 : by.entry.quotient(tile, area), t = tile - entry * area;
    const Int band = high == tiles_m ? 0 : by.band.quotient(t, high * tiles_n);
    const Int in_band = t - band * high * tiles_n, first_m = band * high, rest = tiles_m - first_m;
    const Int height = rest < high ? rest : high;
    const Int n = (rest < high ? by.last_height : by.height).quotient(in_band, height);
    return {entry, first_m + in_band - n * height, n};
  }

  constexpr Divisors divisors() const {
    using D = Divisor<Int>;
    const Int high = band_height();
    return {D::of(tiles_m * tiles_n), D::of(high * tiles_n), D::of(high), D::of(tiles_m % high)};
  }

 private:
  SKGEMM_HD constexpr Int band_height() const { return group < tiles_m ? group : tiles_m; }
};

// A CTA's run of k-steps in one tile. With contributors > 1 the tile is summed from slots by the fixup.
template <class Int>
struct BasicUnit {
  Int tile;
  Int step_begin, step_end;
  Int contributors;  // CTAs that work on this tile
  Int position;      // this unit's place among them, in k order
  Int counter;       // index of the tile's arrival counter; valid when contributors > 1
};

template <class Int>
struct BasicSchedule {
  ScheduleKind kind;
  BasicTileSpace<Int> space;
  Int ctas;      // grid size
  Int split;     // fixed_split: parts per tile; otherwise 1
  Int sk_tiles;  // tiles shared by k-steps (stream_k, one_tile, two_tile); otherwise 0

  struct Divisors {
    Divisor<Int> ctas, steps, sk_steps, split;
  };
  Divisors by = {};

  SKGEMM_HD constexpr Int tiles() const { return space.tiles(); }
  SKGEMM_HD constexpr Int sk_steps() const { return sk_tiles * space.steps; }
  // First shared step of a CTA; the shares differ by at most one step.
  SKGEMM_HD constexpr Int sk_begin(Int cta) const { return by.ctas.quotient(cta * sk_steps(), ctas); }
  // The CTA whose share holds a shared step: the largest x with sk_begin(x) <= step.
  SKGEMM_HD constexpr Int cta_of_step(Int step) const {
    return by.sk_steps.quotient((step + 1) * ctas - 1, sk_steps());
  }
  SKGEMM_HD constexpr Int split_begin(Int part) const { return by.split.quotient(part * space.steps, split); }

  // Where contributor `position` of `u`'s tile leaves its partial sum. A Stream-K CTA owns two slots: its share can end
  // inside one tile, whose first contributor it is then, and begin inside another.
  SKGEMM_HD constexpr Int slot(const BasicUnit<Int>& u, Int position) const {
    if (kind == ScheduleKind::fixed_split) return u.tile * split + position;
    const bool second = position == 0 && sk_begin(u.counter) < u.tile * space.steps;
    return 2 * (u.counter + position) + (second ? 1 : 0);
  }
  // From contributor 1 on, a tile's slots are this far apart: slot(u, p) == slot(u, 1) + (p - 1)*slot_stride().
  SKGEMM_HD constexpr Int slot_stride() const { return kind == ScheduleKind::fixed_split ? 1 : 2; }
  // How many counters and slots the schedule uses.
  SKGEMM_HD constexpr Int counters() const {
    if (kind == ScheduleKind::fixed_split) return split > 1 ? tiles() : 0;
    return sk_tiles > 0 ? ctas : 0;
  }
  SKGEMM_HD constexpr Int slots() const {
    if (kind == ScheduleKind::fixed_split) return split > 1 ? tiles() * split : 0;
    return sk_tiles > 0 ? 2 * ctas : 0;
  }

  // Whether 32 bits hold all that a walk counts, multiplies and divides.
  constexpr bool is_short() const {
    constexpr int64_t kEnd = int64_t{1} << 30;
    if (tiles() >= kEnd || space.steps >= kEnd) return false;
    if (kind == ScheduleKind::fixed_split) return tiles() < kEnd / split && space.steps < kEnd / split;
    return sk_tiles == 0 || sk_steps() < 2 * kEnd / ctas;  // products that are divided at once
  }
};

// Walks one CTA's units in order: shared units first, so that partials are published early, then whole tiles (design
// D2).
template <class Int>
class BasicUnitCursor {
  using Schedule = BasicSchedule<Int>;
  using Unit = BasicUnit<Int>;

 public:
  SKGEMM_HD constexpr BasicUnitCursor(const Schedule& s, Int cta)
      : s_(s),
        step_(s.sk_tiles > 0 ? s.sk_begin(cta) : 0),
        step_end_(s.sk_tiles > 0 ? s.sk_begin(cta + 1) : 0),
        next_(s.sk_tiles + cta) {}

  // Where the walk stands, for a CTA that needs the registers in between.
  struct Position {
    Int step, step_end, next;
  };
  SKGEMM_HD constexpr Position position() const { return {step_, step_end_, next_}; }
  SKGEMM_HD constexpr void resume(const Position& p) {
    step_ = p.step;
    step_end_ = p.step_end;
    next_ = p.next;
  }

  // Whether there is no next unit.
  SKGEMM_HD constexpr bool done() const { return step_ >= step_end_ && next_ >= s_.tiles() * s_.split; }
  // Fills `u` with the next unit; false when there is none.
  SKGEMM_HD constexpr bool next(Unit& u) {
    if (s_.kind == ScheduleKind::fixed_split) return next_split(u);
    return step_ < step_end_ ? next_shared(u) : next_whole(u);
  }

 private:
  SKGEMM_HD constexpr bool next_shared(Unit& u) {
    const Int steps = s_.space.steps;
    const Int tile = s_.by.steps.quotient(step_, steps), first = tile * steps;
    const Int end = step_end_ < first + steps ? step_end_ : first + steps;
    const Int head = s_.cta_of_step(first), self = s_.cta_of_step(step_);
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
    const Int tile = s_.by.split.quotient(next_, s_.split), part = next_ - tile * s_.split;
    u = {tile, s_.split_begin(part), s_.split_begin(part + 1), s_.split, part, tile};
    next_ += s_.ctas;
    return true;
  }

  const Schedule& s_;
  Int step_, step_end_;  // the rest of this CTA's share of steps
  Int next_;             // its next whole tile, or (fixed split) its next part
};

using TileCoord = BasicTileCoord<int64_t>;
using TileSpace = BasicTileSpace<int64_t>;
using Unit = BasicUnit<int64_t>;
using Schedule = BasicSchedule<int64_t>;
using UnitCursor = BasicUnitCursor<int64_t>;

// The same schedule in 32 bits, all its divisors prepared; of one that is_short().
using ShortTileCoord = BasicTileCoord<int32_t>;
using ShortUnit = BasicUnit<int32_t>;
using ShortSchedule = BasicSchedule<int32_t>;
using ShortUnitCursor = BasicUnitCursor<int32_t>;
constexpr ShortSchedule short_of(const Schedule& s) {
  const auto narrow = [](int64_t x) { return static_cast<int32_t>(x); };
  const TileSpace& space = s.space;
  ShortSchedule x{s.kind,
                  {narrow(space.tiles_m), narrow(space.tiles_n), narrow(space.batch), narrow(space.steps),
                   narrow(space.group < space.tiles_m ? space.group : space.tiles_m)},
                  narrow(s.ctas),
                  narrow(s.split),
                  narrow(s.sk_tiles)};
  using D = Divisor<int32_t>;
  x.by = {D::of(x.ctas), D::of(x.space.steps), D::of(x.sk_steps()), D::of(x.split)};
  x.space.by = x.space.divisors();
  return x;
}

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
