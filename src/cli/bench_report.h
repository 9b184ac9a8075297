// A benchmark's results as a table, CSV and JSON, each headed by what was measured on what.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/bench_stats.h"

namespace skgemm::cli {

// Name and value pairs: part, driver, CUDA, cuBLAS, clock, date, commit, cases, seed, ...
using Header = std::vector<std::pair<std::string, std::string>>;

std::string summary(const Header& header, const std::vector<Result>& results);
std::string to_csv(const Header& header, const std::vector<Result>& results);
nlohmann::json to_json(const Header& header, const std::vector<Result>& results);

// "h NN 130x128x128: ours: C(129, 3) is 1, but ..." for every result of ours that failed or is wrong.
std::vector<std::string> failures(const std::vector<Result>& results);

}  // namespace skgemm::cli
