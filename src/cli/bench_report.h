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

// The header as the summary and the CSV begin with it.
std::string summary_head(const Header& header);
std::string csv_head(const Header& header);
// Microseconds for a cell of a table; empty when not measured.
std::string time_cell(double us);
// "" or what went wrong.
std::string outcome(const Timing& t);
// A line each; the first twenty.
std::string listed(const std::vector<std::string>& lines);

std::string summary(const Header& header, const std::vector<Result>& results);
std::string to_csv(const Header& header, const std::vector<Result>& results);
nlohmann::json to_json(const Header& header, const std::vector<Result>& results);

// "h NN 130x128x128: ours: C(129, 3) is 1, but ..." for every result of ours that failed or is wrong.
std::vector<std::string> failures(const std::vector<Result>& results);

}  // namespace skgemm::cli
