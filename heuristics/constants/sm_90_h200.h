// Cost constants of the kernels on the NVIDIA H200 (132 SMs, driver 580.159), microseconds; names in cost_model.h.
// Fitted on 2026-11-30 by non-negative least squares of the relative error, over the device times that
// `skgemm bench --domain --every 256 --schedules` printed (129 aligned shapes, five forced schedules each, NN), leaving
// out times of which DRAM traffic is more than half. Residual, median and 95th percentile of the prediction's relative
// error: f16 8.4 % and 30 %, f32 1.8 % and 9.4 %. bf16 has f16's: the same instructions.
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

inline constexpr std::array<Row, 3> kRows{{
    {"f16_mma", {.a = 8.12, .b = 6.76, .c = 0.683, .d = 0.860, .e = 7.87, .solo = 0.310}},
    {"bf16_mma", {.a = 8.12, .b = 6.76, .c = 0.683, .d = 0.860, .e = 7.87, .solo = 0.310}},
    {"f32_simt", {.a = 5.22, .b = 6.80, .c = 1.531, .d = 0.659, .e = 5.03, .solo = 1.531}},
}};

// Kernels with a run-time width, fitted on 2026-12-01 by least squares of the prediction's logarithm, plans near a
// case's best counting most, over the device times that `skgemm bench --domain --every 200 --sweep` printed (165
// aligned shapes, 110 forced plans each, NN; fp16): median error 4.9 %, 95th percentile 18 %. The copy terms: what
// 90 products of 0.1 to 170 MB took longer with lines that start anywhere (lda and ldb one more). bf16 has fp16's: the
// same instructions.
constexpr WidthConstants wgmma() {
  return {.a0 = 1.91,               // us
          .a_column = 0.0094,       // us per column
          .late = 0.72,             // us
          .step0 = 0,
          .step_column = 0.00196,   // us per column
          .sm_gbs = 143,            // GB/s, as those of L2
          .l2_gbs = 31200,
          .l2_skewed_gbs = 22200,
          .l2_apart_gbs = 1e6,      // never what limits
          .crossed = 0.22,
          .shifted = 0.91,
          .copied = 0,              // not: what it can't read as boxes is copied into aligned lines first
          .copied_k_major = 0,
          .copied0 = 0,
          .eights = 0.065,
          .write_gbs = 66,          // GB/s, as the three below
          .write_all_gbs = 4320,
          .read_gbs = 70,
          .read_all_gbs = 8030,
          .arrive = 1.47,           // us
          .e0 = 0.155,              // us
          .e_column = 0.0068,       // us per column
          .copy0 = 1.8,             // us
          .copy_gbs = 2450,         // GB/s
          .c_unaligned = 0.004,     // us per column
          .dram_share = 0.81};      // of 4510 GB/s
}

// fp64, of the same day and in the same way: 219 shapes aligned and 219 that aren't, 33 forced plans each; median error
// 4.9 %, 95th percentile 25 %; what the model picks of the same plans takes 2.3 and 3.8 % longer than the best.
constexpr WidthConstants dmma() {
  return {.a0 = 1.88,               // us
          .a_column = 0.0243,       // us per column
          .late = 0.14,             // us
          .step0 = 0.0554,          // us
          .step_column = 0.00366,   // us per column
          .sm_gbs = 148,            // GB/s, as those of L2
          .l2_gbs = 39700,
          .l2_skewed_gbs = 27000,
          .l2_apart_gbs = 7360,
          .crossed = 0.13,
          .shifted = 0.37,
          .copied = 0.57,
          .copied_k_major = 1.46,
          .copied0 = 0.55,          // us
          .eights = 0,
          .write_gbs = 38,          // GB/s, as the three below
          .write_all_gbs = 3540,
          .read_gbs = 41.3,
          .read_all_gbs = 8360,
          .arrive = 1.19,           // us
          .e0 = 0.427,              // us
          .e_column = 0.0125,       // us per column
          .copy0 = 0,
          .copy_gbs = 1,
          .c_unaligned = 0.023,     // us per column
          .dram_share = 0.85};      // of 4510 GB/s
}

struct WidthRow {
  std::string_view kernel;
  WidthConstants value;
};

inline constexpr std::array<WidthRow, 3> kWidthRows{
    {{"f16_wgmma", wgmma()}, {"bf16_wgmma", wgmma()}, {"f64_dmma", dmma()}}};

}  // namespace skgemm::constants::h200
