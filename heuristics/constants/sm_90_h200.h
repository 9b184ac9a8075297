// Cost constants of the kernels on the NVIDIA H200, microseconds (names: cost_model.h).
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

inline constexpr std::array<Row, 0> kRows{};

}  // namespace skgemm::constants::h200
