#include "src/cli/timeline.h"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>

namespace skgemm::cli {
namespace {

// One place on the device and the CTA that it runs.
struct Place {
  int64_t cta = -1;
  std::unique_ptr<UnitCursor> cursor;
  Unit unit{};
  bool publishing = false;
  bool finished_tile = false;  // the last unit of this CTA ended in a store of C
  int64_t steps = 0;
};

struct Event {
  double time;
  int64_t row;

  bool operator>(const Event& other) const { return time != other.time ? time > other.time : row > other.row; }
};

// A discrete-event run of cta_main and fixup: an event is a place that has finished what it was doing.
class Simulation {
 public:
  Simulation(const Schedule& schedule, const ActionCosts& costs, int64_t p)
      : schedule_(schedule), costs_(costs), places_(static_cast<size_t>(std::min(p, schedule.ctas))) {}

  Timeline run() {
    for (int64_t row = 0; row < std::ssize(places_); ++row) start_cta(row, 0);
    while (!events_.empty()) {
      const Event e = events_.top();
      events_.pop();
      step(e.row, e.time);
    }
    return finish();
  }

 private:
  void add(BoxKind kind, int64_t row, double begin, double end) {
    const Place& place = places_[static_cast<size_t>(row)];
    const Unit& u = place.unit;
    const bool shared = u.contributors > 1 || u.tile < schedule_.sk_tiles;
    timeline_.boxes.push_back(
        {kind, row, place.cta, begin, end, u.tile, u.step_end - u.step_begin, u.contributors, 1, shared});
    timeline_.makespan = std::max(timeline_.makespan, end);
  }

  void start_cta(int64_t row, double now) {
    if (next_cta_ >= schedule_.ctas) return;
    Place& place = places_[static_cast<size_t>(row)];
    place.cta = next_cta_++;
    place.cursor = std::make_unique<UnitCursor>(schedule_, place.cta);
    place.unit = {};
    place.finished_tile = false;
    if (costs_.start > 0) add(BoxKind::start, row, now, now + costs_.start);
    start_unit(row, now + costs_.start);
  }

  void start_unit(int64_t row, double now) {
    Place& place = places_[static_cast<size_t>(row)];
    Unit next{};
    if (!place.cursor->next(next)) return start_cta(row, now);
    if (place.finished_tile && costs_.store > 0) {
      add(BoxKind::store, row, now, now + costs_.store);
      now += costs_.store;
    }
    place.unit = next;
    const int64_t steps = place.unit.step_end - place.unit.step_begin;
    const double end = now + costs_.step * static_cast<double>(steps);
    place.steps += steps;
    add(BoxKind::compute, row, now, end);
    events_.push({end, row});
  }

  // The place has finished its k-steps or the store of its partial.
  void step(int64_t row, double now) {
    Place& place = places_[static_cast<size_t>(row)];
    const Unit& u = place.unit;
    place.finished_tile = u.contributors == 1;
    if (place.finished_tile) return start_unit(row, now);
    if (place.publishing) {
      place.publishing = false;
      if (++arrived_[u.tile] < u.contributors) return start_unit(row, now);
    } else if (arrived_[u.tile] < u.contributors - 1) {
      place.publishing = true;
      ++timeline_.published;
      add(BoxKind::publish, row, now, now + costs_.publish);
      return events_.push({now + costs_.publish, row});
    }
    const double end = now + costs_.collect * static_cast<double>(u.contributors - 1);
    ++timeline_.fixups;
    add(BoxKind::collect, row, now, end);
    place.finished_tile = true;
    start_unit(row, end);
  }

  Timeline finish() {
    int64_t longest = 1;
    for (const Place& place : places_) {
      timeline_.steps += place.steps;
      longest = std::max(longest, place.steps);
    }
    double busy = 0;
    for (const Box& box : timeline_.boxes) busy += box.kind == BoxKind::compute ? box.end - box.begin : 0;
    timeline_.rows = std::ssize(places_);
    const double rows = static_cast<double>(timeline_.rows);
    timeline_.step_utilisation = static_cast<double>(timeline_.steps) / (rows * static_cast<double>(longest));
    timeline_.time_utilisation = timeline_.makespan > 0 ? busy / (rows * timeline_.makespan) : 0;
    std::ranges::stable_sort(
        timeline_.boxes, [](const Box& x, const Box& y) { return x.row != y.row ? x.row < y.row : x.begin < y.begin; });
    return std::move(timeline_);
  }

  const Schedule& schedule_;
  const ActionCosts& costs_;
  std::vector<Place> places_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<int64_t, int64_t> arrived_;  // by tile
  int64_t next_cta_ = 0;
  Timeline timeline_{};
};

}  // namespace

Timeline make_timeline(const Schedule& schedule, const ActionCosts& costs, int64_t p) {
  return Simulation(schedule, costs, p).run();
}

void merge_narrow(Timeline& timeline, double least) {
  std::vector<Box> kept;
  for (const Box& box : timeline.boxes) {
    Box* last = kept.empty() || kept.back().row != box.row ? nullptr : &kept.back();
    const bool after_whole = last != nullptr && last->kind == BoxKind::compute && last->contributors == 1;
    const bool whole = box.kind == BoxKind::compute && box.contributors == 1;
    if (after_whole && box.kind == BoxKind::store && box.end - box.begin < least) {
      last->end = box.end;
    } else if (after_whole && whole && last->shared == box.shared && last->end - last->begin < least) {
      last->end = box.end;
      last->merged += 1;
      last->steps += box.steps;
    } else {
      kept.push_back(box);
    }
  }
  timeline.boxes = std::move(kept);
}

}  // namespace skgemm::cli
