#include "heuristics/select.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heuristics/cost_model.h"
#include "kernels/fixup.h"

namespace skgemm {
namespace {

// Keeps the fastest of the schedules it is offered; refuses those that do not fit the workspace.
class Choice {
 public:
  Choice(const CostConstants& k, int64_t sms, int64_t ctas_per_sm, size_t slot_bytes, size_t workspace)
      : k_(k), sms_(sms), ctas_per_sm_(ctas_per_sm), slot_bytes_(slot_bytes), workspace_(workspace) {}

  void offer(const Schedule& s) {
    if (s.counters() > kCounterCapacity || workspace_bytes(s, slot_bytes_) > workspace_) return;
    const double us = makespan(k_, s, sms_, ctas_per_sm_);
    if (found_ && us >= us_) return;
    found_ = true;
    best_ = s;
    us_ = us;
  }

  bool found() const { return found_; }
  const Schedule& best() const { return best_; }
  double us() const { return us_; }

 private:
  const CostConstants& k_;
  int64_t sms_, ctas_per_sm_;
  size_t slot_bytes_, workspace_;
  bool found_ = false;
  Schedule best_{};
  double us_ = 0;
};

// CTAs that run together cover a block of C whose operand rows and columns fit best when it is near square in bytes.
int64_t raster_group(const KernelRow& row, int64_t p, int64_t tiles_m) {
  const auto square = static_cast<int64_t>(std::sqrt(static_cast<double>(p) * row.tile_n / row.tile_m));
  return std::clamp<int64_t>(square, 1, tiles_m);
}

// Below one wave: grids that cut every tile into equal parts, and the grids that fill the machine.
void offer_stream_k(Choice& choice, const TileSpace& space, int64_t sms, int64_t p) {
  constexpr int64_t kMostParts = 32;  // past this the serial sum costs more than the steps it saves
  const int64_t t = space.tiles();
  const int64_t most = std::min({p / t, space.steps, kMostParts});
  for (int64_t parts = 2; parts <= most; ++parts) choice.offer(stream_k(space, t * parts));
  if (t < sms && sms < p) choice.offer(stream_k(space, sms));
  choice.offer(stream_k(space, p));
}

void offer_splits(Choice& choice, const TileSpace& space, int64_t p) {
  constexpr int64_t kMostSplits = 16;
  const int64_t most = std::min(space.steps, kMostSplits);
  for (int64_t split = 2; split <= most; ++split) choice.offer(fixed_split(space, p, split));
}

void offer_forced(Choice& choice, const TileSpace& space, int64_t sms, int64_t p, const Limits& limits) {
  const int64_t parameter = limits.forced_parameter;
  switch (limits.forced) {
    case ScheduleKind::data_parallel:
      break;  // offered below in any case
    case ScheduleKind::fixed_split:
      if (parameter > 0)
        choice.offer(fixed_split(space, p, parameter));
      else
        offer_splits(choice, space, p);
      break;
    case ScheduleKind::stream_k:
      if (parameter > 0)
        choice.offer(stream_k(space, limits.sms > 0 ? std::min(parameter, p) : parameter));
      else if (space.tiles() < p)
        offer_stream_k(choice, space, sms, p);
      else
        choice.offer(stream_k(space, p));
      break;
    case ScheduleKind::one_tile:
    case ScheduleKind::two_tile:
      choice.offer(hybrid(limits.forced, space, p));
      break;
  }
}

// Time below which no schedule can go: operands and result once through DRAM.
double traffic_us(const Shape& s, const DeviceModel& device) {
  const double elements = static_cast<double>(s.k) * (static_cast<double>(s.m) + static_cast<double>(s.n));
  const double bytes =
      static_cast<double>(s.batch) *
      (elements * size_of(s.in) + static_cast<double>(s.m) * static_cast<double>(s.n) * size_of(s.out));
  return bytes / (device.dram_gbs * 1e3);
}

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
  return tiles(s.m, row.tile_m) * tiles(s.n, row.tile_n) * static_cast<double>(s.batch) * tiles(s.k, row.tile_k) <
         0x1p62 / kCounterCapacity;
}

}  // namespace

Room room_for(const KernelRow& row, const DeviceModel& device, const Limits& limits) {
  if (limits.sms > 0 && limits.sms < device.sms) return {limits.sms, 1};
  return {device.sms, resident_ctas(row, device)};
}

Plan select(const Shape& shape, const DeviceModel& device, const Limits& limits) {
  const KernelRow* row = find_kernel(shape.in, device.compute_capability);
  if (row == nullptr) return no_plan("no kernel for this type and device");
  if (!countable(shape, *row)) return no_plan("the product is too large to plan: cut it in parts");
  const Room room = room_for(*row, device, limits);
  const int64_t sms = room.sms, ctas_per_sm = room.ctas_per_sm, p = room.ctas();

  TileSpace space{ceil_div(shape.m, row->tile_m), ceil_div(shape.n, row->tile_n), shape.batch,
                  ceil_div(shape.k, row->tile_k), 1};
  space.group = raster_group(*row, p, space.tiles_m);

  const CostConstants k = constants_for(*row, device).value;
  Choice choice(k, sms, ctas_per_sm, row->slot_bytes(), limits.workspace_bytes);
  if (limits.forced != ScheduleKind{}) offer_forced(choice, space, sms, p, limits);
  if (!choice.found()) {
    choice.offer(data_parallel(space, p));
    if (limits.forced == ScheduleKind{}) {
      if (space.tiles() < p) offer_stream_k(choice, space, sms, p);
      choice.offer(one_tile(space, p));
      choice.offer(two_tile(space, p));
    }
  }
  const Schedule& best = choice.best();
  return {.kernel = row,
          .tile_m = row->tile_m,
          .tile_n = row->tile_n,
          .swapped = false,
          .schedule = best,
          .workspace_bytes = workspace_bytes(best, row->slot_bytes()),
          .predicted_us = std::max(choice.us(), k.a + traffic_us(shape, device))};
}

}  // namespace skgemm
