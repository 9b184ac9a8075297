// Cost constants of the kernels on the NVIDIA H200 (132 SMs, driver 580.159), microseconds; names in cost_model.h.
// Fitted on 2026-11-30 by non-negative least squares of the relative error, over the device times that
// `skgemm bench --domain --every 256 --schedules` printed (129 aligned shapes, five forced schedules each, NN), leaving
// out times of which DRAM traffic is more than half. Residual, median and 95th percentile of the prediction's relative
// error: f16 8.4 % and 30 %, f64 5.6 % and 25 %, f32 1.8 % and 9.4 %. bf16 has f16's: the same instructions.
#pragma once
#include <array>
#include <string_view>

#include "heuristics/cost_model.h"

namespace skgemm::constants::h200 {

inline constexpr std::string_view kPart = "NVIDIA H200";

struct Row {
  std::string_view kernel;
  CostConstants value;
};

inline constexpr std::array<Row, 4> kRows{{
    {"f16_mma", {.a = 8.12, .b = 6.76, .c = 0.683, .d = 0.860, .e = 7.87, .solo = 0.310}},
    {"bf16_mma", {.a = 8.12, .b = 6.76, .c = 0.683, .d = 0.860, .e = 7.87, .solo = 0.310}},
    {"f32_simt", {.a = 5.22, .b = 6.80, .c = 1.531, .d = 0.659, .e = 5.03, .solo = 1.531}},
    {"f64_dmma", {.a = 4.22, .b = 7.02, .c = 0.606, .d = 0.559, .e = 3.94, .solo = 0.337}},
}};

// Kernels with a run-time width: starting values from the part's measured rates, not yet fitted. bf16 has f16's.
constexpr WidthConstants wgmma() {
  return {.a0 = 2.0,               // us
          .a_column = 0.003,       // us per column
          .step0 = 0.02,           // us
          .step_column = 0.00205,  // us per column
          .sm_gbs = 100,           // GB/s, as the five below
          .l2_gbs = 7000,
          .write_gbs = 60,
          .write_all_gbs = 5000,
          .read_gbs = 120,
          .read_all_gbs = 9000,
          .arrive = 0.7,         // us
          .e0 = 0.3,             // us
          .e_column = 0.003,     // us per column
          .loader0 = 0.1,        // us
          .loader_round = 0.25,  // us per 64 lines
          .c_unaligned = 0.002,  // us per column
          .dram_share = 0.95};   // of 4510 GB/s
}

struct WidthRow {
  std::string_view kernel;
  WidthConstants value;
};

inline constexpr std::array<WidthRow, 2> kWidthRows{{{"f16_wgmma", wgmma()}, {"bf16_wgmma", wgmma()}}};

}  // namespace skgemm::constants::h200
