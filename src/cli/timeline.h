// A schedule over time, as the Stream-K paper draws it: which CTA computes, stores a partial or sums one, and when.
// Pure: the schedule and five costs in, boxes out. draw.h turns the boxes into text or SVG.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/schedule.h"

namespace skgemm::cli {

enum class BoxKind : uint8_t { start, compute, publish, collect, store };

// What a CTA's actions take, in any unit of time (names of the cost model: a, solo..c, b, d, e).
struct ActionCosts {
  double start;    // once per CTA
  double step;     // one k-step
  double publish;  // storing a partial
  double collect;  // adding one peer's partial
  double store;    // between a finished tile and the CTA's next unit
};

struct Box {
  BoxKind kind;
  int64_t row;  // place on the device: 0 .. rows-1
  int64_t cta;
  double begin, end;
  int64_t tile;
  int64_t steps;  // k-steps of a compute box
  int64_t contributors;
  int64_t merged;  // whole tiles drawn as this one box
  bool shared;     // of a tile that several CTAs may work on
};

struct Timeline {
  int64_t rows;
  double makespan;
  double step_utilisation;  // k-steps done / (rows * k-steps of the longest row): the paper's quantisation efficiency
  double time_utilisation;  // time in compute boxes / (rows * makespan)
  int64_t steps;            // of the whole product
  int64_t fixups;           // tiles with several contributors
  int64_t published;        // partials stored
  std::vector<Box> boxes;   // by row, then time
};

// Runs the CTAs on `p` places, each taking the next CTA when it is free; the last to arrive at a shared tile sums it.
Timeline make_timeline(const Schedule& schedule, const ActionCosts& costs, int64_t p);

// Joins neighbouring whole-tile boxes of a row that are narrower than `least`, and what ends them, so that a drawing
// stays small.
void merge_narrow(Timeline& timeline, double least);

}  // namespace skgemm::cli
