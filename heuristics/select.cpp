#include "heuristics/select.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "heuristics/width_search.h"
#include "kernels/aligned_copy.h"
#include "kernels/fixup.h"

namespace skgemm {
namespace {

// The costs of a tile: a fixed one's, or those of a candidate while so many CTAs run.
class TileCosts {
 public:
  explicit TileCosts(const CostConstants& fixed) : fixed_(&fixed) {}
  explicit TileCosts(const CandidateCosts& costs) : costs_(costs) {}

  CostConstants at(int64_t workers, const Room& room) const {
    return fixed_ != nullptr ? *fixed_ : costs_.at(workers, room.ctas());
  }

 private:
  const CostConstants* fixed_ = nullptr;
  CandidateCosts costs_{};
};

// Where schedules are offered: a tile, and the product cut into such tiles.
struct Ground {
  TileShape tile;
  TileSpace space;
  Room room;
  TileCosts costs;
};

// Keeps the fastest of the schedules it is offered; refuses those that do not fit the workspace.
class Choice {
 public:
  Choice(const KernelRow& row, size_t workspace) : row_(row), workspace_(workspace) {}

  void offer(const Ground& ground, const Schedule& s) {
    if (!s.is_short()) return;  // as kernels walk it
    if (s.counters() * row_.counters * ground.tile.cluster.ctas() > kCounterCapacity) return;
    if (workspace_bytes(s, row_.slot_bytes(ground.tile)) > workspace_) return;
    const CostConstants k = ground.costs.at(std::min(s.ctas, ground.room.ctas()), ground.room);
    const double us = makespan(k, s, ground.room.sms, ground.room.ctas_per_sm);
    if (!worth(us)) return;
    tile_ = ground.tile;
    best_ = s;
    us_ = us;
  }

  // Whether a schedule of that time would be kept.
  bool worth(double us) const { return us < us_; }
  bool found() const { return us_ < std::numeric_limits<double>::infinity(); }
  const TileShape& tile() const { return tile_; }
  const Schedule& best() const { return best_; }
  double us() const { return us_; }

 private:
  const KernelRow& row_;
  size_t workspace_;
  TileShape tile_{};
  Schedule best_{};
  double us_ = std::numeric_limits<double>::infinity();
};

// Below one wave: grids that cut every tile into equal parts, and the grids that fill the machine.
void offer_stream_k(Choice& choice, const Ground& ground) {
  constexpr int64_t kMostParts = 32;  // past this the serial sum costs more than the steps it saves
  const TileSpace& space = ground.space;
  const Room& room = ground.room;
  const int64_t t = space.tiles(), p = room.ctas(), most = std::min({p / t, space.steps, kMostParts});
  const CostConstants least = ground.costs.at(1, room);
  int64_t share = space.steps;
  for (int64_t parts = 2; parts <= most; ++parts) {
    const double fixup = least.a + least.b + least.d * static_cast<double>(parts - 1);
    if (!choice.worth(fixup)) break;
    const int64_t longest = ceil_div(space.steps, parts);
    if (longest == share) continue;  // fewer parts were as short
    share = longest;
    if (choice.worth(fixup + least.solo * static_cast<double>(share))) choice.offer(ground, stream_k(space, t * parts));
  }
  if (t < room.sms && room.sms < p) choice.offer(ground, stream_k(space, room.sms));
  choice.offer(ground, stream_k(space, p));
}

void offer_splits(Choice& choice, const Ground& ground, int64_t p) {
  constexpr int64_t kMostSplits = 16;
  const int64_t most = std::min(ground.space.steps, kMostSplits);
  for (int64_t split = 2; split <= most; ++split) choice.offer(ground, fixed_split(ground.space, p, split));
}

void offer_forced(Choice& choice, const Ground& ground, const Limits& limits) {
  const int64_t parameter = limits.forced_parameter, p = ground.room.ctas();
  const TileSpace& space = ground.space;
  switch (limits.forced) {
    case ScheduleKind::data_parallel:
      choice.offer(ground, data_parallel(space, p));
      break;
    case ScheduleKind::fixed_split:
      if (parameter > 0)
        choice.offer(ground, fixed_split(space, p, parameter));
      else
        offer_splits(choice, ground, p);
      break;
    case ScheduleKind::stream_k:
      if (parameter > 0)
        choice.offer(ground, stream_k(space, limits.sms > 0 ? std::min(parameter, p) : parameter));
      else if (space.tiles() < p)
        offer_stream_k(choice, ground);
      else
        choice.offer(ground, stream_k(space, p));
      break;
    case ScheduleKind::one_tile:
    case ScheduleKind::two_tile:
      choice.offer(ground, hybrid(limits.forced, space, p));
      break;
  }
}

void offer_automatic(Choice& choice, const Ground& ground) {
  const int64_t t = ground.space.tiles(), p = ground.room.ctas();
  choice.offer(ground, data_parallel(ground.space, p));
  if (t < p) return offer_stream_k(choice, ground);
  if (t % p == 0) return;  // whole waves: both hybrids are data-parallel
  choice.offer(ground, one_tile(ground.space, p));
  choice.offer(ground, two_tile(ground.space, p));
}

// CTAs that run together cover a block of C whose operand rows and columns fit best when it is near square in bytes.
TileSpace space_of(const Shape& shape, const KernelRow& row, const TileShape& tile, int64_t p) {
  TileSpace space{ceil_div(shape.m, tile.m), ceil_div(shape.n, tile.n), shape.batch, ceil_div(shape.k, row.tile_k), 1};
  const auto square = static_cast<int64_t>(std::sqrt(static_cast<double>(p) * tile.n / tile.m));
  space.group = std::clamp<int64_t>(square, 1, space.tiles_m);
  return space;
}

// Operands and result once through DRAM.
double traffic_bytes(const Shape& s) {
  const double elements = static_cast<double>(s.k) * (static_cast<double>(s.m) + static_cast<double>(s.n));
  return static_cast<double>(s.batch) *
         (elements * size_of(s.in) + static_cast<double>(s.m) * static_cast<double>(s.n) * size_of(s.out));
}

constexpr const char* kTooLarge = "the product is too large to plan: cut it in parts";

Plan no_plan(const char* why_not) {
  Plan none{};
  none.why_not = why_not;
  return none;
}

// Whether all that schedules multiply stays within 64 bits: at the most a step's index by that of a CTA, and a CTA that
// shares steps has a counter. A kernel counts the steps of one tile in 32 bits.
bool countable(const Shape& s, const KernelRow& row) {
  const auto tiles = [](int64_t extent, int tile) { return std::ceil(static_cast<double>(extent) / tile); };
  if (tiles(s.k, row.tile_k) > std::numeric_limits<int32_t>::max()) return false;
  const int narrowest = row.width_step > 0 ? row.width_step : row.tile_n;
  double most = tiles(s.m, row.tile_m) * tiles(s.n, narrowest);
  if (row.width_step > 0) most = std::max(most, tiles(s.m, narrowest) * tiles(s.n, row.tile_m));
  return most * static_cast<double>(s.batch) * tiles(s.k, row.tile_k) < 0x1p62 / kCounterCapacity;
}

Plan plan_of(const KernelRow& row, const Choice& choice, double predicted) {
  return {.kernel = &row,
          .tile = choice.tile(),
          .schedule = choice.best(),
          .workspace_bytes = workspace_bytes(choice.best(), row.slot_bytes(choice.tile())),
          .copy_bytes = 0,
          .predicted_us = predicted};
}

// Offers a ground what the limits ask for; where that does not fit anywhere, whole tiles.
template <class Grounds>
void fill(Choice& choice, const Limits& limits, Grounds&& each_ground) {
  if (limits.forced == ScheduleKind{}) {
    return each_ground([&](const Ground& ground) { offer_automatic(choice, ground); });
  }
  each_ground([&](const Ground& ground) { offer_forced(choice, ground, limits); });
  if (choice.found()) return;
  each_ground([&](const Ground& ground) { choice.offer(ground, data_parallel(ground.space, ground.room.ctas())); });
}

Plan select_fixed(const Shape& shape, const KernelRow& row, const DeviceModel& device, const Limits& limits) {
  const Room room = room_for(row, device, limits);
  const CostConstants k = constants_for(row, device).value;
  const TileShape tile = row.tile(row.tile_n, false);
  const Ground ground{tile, space_of(shape, row, tile, room.ctas()), room, TileCosts(k)};
  Choice choice(row, limits.workspace_bytes);
  fill(choice, limits, [&](auto&& offer) { offer(ground); });
  if (!choice.found()) return no_plan(kTooLarge);
  return plan_of(row, choice, std::max(choice.us(), k.a + traffic_bytes(shape) / (device.dram_gbs * 1e3)));
}

Plan search_width(const Shape& shape, const KernelRow& row, const DeviceModel& device, const Limits& limits) {
  const WidthConstants k = width_constants_for(row, device).value;
  const WidthSearch search({shape, row, k, device}, limits);
  Choice choice(row, limits.workspace_bytes);
  fill(choice, limits, [&](auto&& offer) {
    search.visit([&](double least_us) { return choice.worth(least_us); },
                 [&](const TileShape& tile) {
                   const Room room = room_for(row, device, limits, tile.cluster);
                   const TileCosts costs(costs_of(k, candidate_of(shape, row, tile)));
                   offer(Ground{tile, space_of(shape, row, tile, room.ctas()), room, costs});
                 });
  });
  if (!choice.found()) return no_plan(kTooLarge);
  return plan_of(row, choice, predicted_us(k, candidate_of(shape, row, choice.tile()), choice.us(), device));
}

// Aligned copies of the operands whose lines aren't: all batch entries, or the one that they share.
size_t copy_bytes(const Shape& s) {
  const auto bytes = [&](int64_t extent, bool k_major, bool shared) {
    return aligned_copy(k_major ? s.k : extent, k_major ? extent : s.k).bytes * (shared ? 1 : s.batch);
  };
  return static_cast<size_t>((s.a_align < 16 ? bytes(s.m, s.a_k_major, s.a_shared) : 0) +
                             (s.b_align < 16 ? bytes(s.n, s.b_k_major, s.b_shared) : 0));
}

Shape aligned_of(Shape s) {
  const auto align = [](int64_t along) {
    return 1 << std::countr_zero(static_cast<uint64_t>(aligned_copy(along, 1).pitch) | 128);
  };
  if (s.a_align < 16) s.a_align = align(s.a_k_major ? s.k : s.m);
  if (s.b_align < 16) s.b_align = align(s.b_k_major ? s.k : s.n);
  return s;
}

// The product of the operands where the TMA can take them, ahead of which the others are copied to where it can:
// `copies` bytes, for which there is room.
Plan select_width(const Shape& shape, const KernelRow& row, const DeviceModel& device, const Limits& limits,
                  size_t copies) {
  if (copies == 0) return search_width(shape, row, device, limits);
  Limits rest = limits;
  rest.workspace_bytes -= copies;
  Plan copied = search_width(aligned_of(shape), row, device, rest);
  if (copied.kernel == nullptr) return copied;
  copied.copy_bytes = copies;
  copied.workspace_bytes = std::max(copied.workspace_bytes, kCounterBytes) + copies;
  copied.predicted_us += copy_us(width_constants_for(row, device).value, copies);
  return copied;
}

}  // namespace

Room room_for(const KernelRow& row, const DeviceModel& device, const Limits& limits, ClusterShape cluster) {
  const bool limited = limits.sms > 0 && limits.sms < device.sms;
  const int64_t sms = limited ? limits.sms : device.sms;
  if (cluster.ctas() == 1) return {sms, limited ? 1 : resident_ctas(row, device)};
  return {clusters_at_once(device, sms, cluster.ctas()), 1};
}

Shape shape_in_kernel(const Plan& plan, const Shape& shape) { return plan.copy_bytes > 0 ? aligned_of(shape) : shape; }

Candidate candidate_of(const Shape& shape, const KernelRow& row, const TileShape& tile) {
  return {.row = &row,
          .width = tile.width(),
          .cluster_rows = tile.swapped ? tile.cluster.n : tile.cluster.m,
          .cluster_columns = tile.swapped ? tile.cluster.m : tile.cluster.n,
          .rows_k_major = tile.swapped ? shape.b_k_major : shape.a_k_major,
          .width_k_major = tile.swapped ? shape.a_k_major : shape.b_k_major,
          .rows_align = tile.swapped ? shape.b_align : shape.a_align,
          .width_align = tile.swapped ? shape.a_align : shape.b_align,
          .c_unaligned = shape.c_align < 16,
          .traffic = traffic_bytes(shape)};
}

CostConstants costs_of(const Plan& plan, const Shape& shape, const DeviceModel& device, int64_t sms) {
  const KernelRow& row = *plan.kernel;
  if (row.width_step == 0) return constants_for(row, device).value;
  const WidthConstants k = width_constants_for(row, device).value;
  const Candidate candidate = candidate_of(shape_in_kernel(plan, shape), row, plan.tile);
  return costs_of(k, candidate).at(std::min(plan.schedule.ctas, sms), sms);
}

Plan select(const Shape& shape, const DeviceModel& device, const Limits& limits) {
  const KernelRow* row = find_kernel(shape.in, device.compute_capability, shape.small_extents);
  if (row == nullptr) return no_plan("no kernel for this type and device");
  if (!countable(shape, *row)) return no_plan(kTooLarge);
  if (row->width_step == 0) return select_fixed(shape, *row, device, limits);
  // Where the TMA doesn't take an operand and there is no room for copies, the kernel for all extents does, as they
  // lie. Its tiles and steps are no more than were counted.
  const size_t copies = row->by_tma ? copy_bytes(shape) : 0;
  if (copies == 0 || limits.workspace_bytes >= kCounterBytes + copies)
    return select_width(shape, *row, device, limits, copies);
  return select_fixed(shape, *find_kernel(shape.in, device.compute_capability, false), device, limits);
}

}  // namespace skgemm
