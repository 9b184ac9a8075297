// What `skgemm plan` was asked, what it found, and the words and JSON for it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "heuristics/plan.h"
#include "src/cli/draw.h"

namespace skgemm::cli {

struct PlanOptions {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int64_t lda = 0, ldb = 0, ldc = 0;  // 0: packed
  int align = 256;  // as cudaMalloc aligns
  std::string type = "s", op = "NN", out, device, schedule = "auto", orientation = "auto", cluster = "auto";
  std::string tile, svg;
  int sms = 0, width = 0;
  int64_t grid = 0, split = 0;
  bool json = false;
};

// A plan and what its drawing needs.
struct Planned {
  Plan plan;
  int tile_k;
  ActionCosts costs;
  double copy_us;  // of operands, ahead of what is drawn
  int64_t places;  // CTAs or clusters that run at once
  bool in_steps;   // a schedule on a tile given by hand: time is counted in k-steps
  std::string device;
};

Caption caption_of(const PlanOptions& options, const Planned& planned, const Timeline& timeline);
nlohmann::json json_of(const PlanOptions& options, const Planned& planned, const Timeline& timeline);

}  // namespace skgemm::cli
