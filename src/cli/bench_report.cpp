#include "src/cli/bench_report.h"

#include <fmt/format.h>

#include <iterator>

namespace skgemm::cli {
namespace {

std::string table(std::string_view title, std::string_view other, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::string out =
      fmt::format("\n{}\n{:<18}{:>7}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>13}{:>12}\n", title, "", "shapes", "geomean",
                  "min", "p5", "median", "p95", "max", ">= 1", "ours TFLOP/s", other);
  for (const Row& row : rows) {
    const Distribution& d = row.ratio;
    fmt::format_to(std::back_inserter(out),
                   "{:<18}{:>7}{:>9.3f}{:>8.3f}{:>8.3f}{:>8.3f}{:>8.3f}{:>8.3f}{:>6.0f}%{:>13.1f}{:>12.1f}\n", row.name,
                   d.count, d.geomean, d.min, d.p5, d.median, d.p95, d.max, 100 * d.share_at_least_one, row.ours_tflops,
                   row.other_tflops);
  }
  return out;
}

std::string table_of_classes(const std::vector<ShapeClass>& classes) {
  if (classes.empty()) return "";
  std::string out = fmt::format(
      "\nShapes by cuBLAS's time, bound, and tiles against multiprocessors\n{:<14}{:<9}{:<16}{:>7}{:>9}{:>8}{:>16}\n",
      "cuBLAS", "bound", "our tiles", "shapes", "geomean", "worst", "predicted/ours");
  for (const ShapeClass& c : classes) {
    fmt::format_to(std::back_inserter(out), "{:<14}{:<9}{:<16}{:>7}{:>9.3f}{:>8.3f}{:>16.3f}\n",
                   words_of_span(c.low_us, c.high_us), c.memory_bound ? "memory" : "compute",
                   c.under_one_wave ? "under one wave" : "more", c.count, c.geomean, c.worst, c.predicted_over_ours);
  }
  return out;
}

// CSV keeps one line a result: no commas or line breaks inside words.
std::string cell(std::string text) {
  for (char& c : text) {
    if (c == ',' || c == '\n' || c == '"') c = ';';
  }
  return text;
}

struct Column {
  std::string name, value;
};

// The one list of what is written per result; CSV and JSON both come from it.
std::vector<Column> columns_of(const Result& r) {
  const BenchCase& c = r.c;
  std::vector<Column> columns = {
      {"type", word_of(c.type)},
      {"op", word_of(c.ops)},
      {"m", fmt::format("{}", c.m)},
      {"n", fmt::format("{}", c.n)},
      {"k", fmt::format("{}", c.k)},
      {"lda", fmt::format("{}", c.lda)},
      {"ldb", fmt::format("{}", c.ldb)},
      {"ldc", fmt::format("{}", c.ldc)},
      {"batch", fmt::format("{}", c.batch)},
      {"stride_a", fmt::format("{}", c.stride_a())},
      {"stride_b", fmt::format("{}", c.stride_b())},
      {"stride_c", fmt::format("{}", c.stride_c())},
      {"alpha", fmt::format("{:.17g}", c.alpha)},
      {"beta", fmt::format("{:.17g}", c.beta)},
      {"out", word_of(c.out)},
      {"ours_us", time_cell(r.ours.graph_us)},
      {"cublas_us", time_cell(r.cublas.graph_us)},
      {"ratio",
       r.ours.measured() && r.cublas.timed() ? fmt::format("{:.4f}", r.cublas.graph_us / r.ours.graph_us) : ""},
      {"ours_stream_us", time_cell(r.ours.stream_us)},
      {"cublas_stream_us", time_cell(r.cublas.stream_us)},
      {"roofline_us", time_cell(r.bound_us)},
      {"bound", r.memory_bound ? "memory" : "compute"},
      {"kernel", r.kernel},
      {"schedule", r.schedule},
      {"ctas", fmt::format("{}", r.ctas)},
      {"predicted_us", time_cell(r.predicted_us)}};
  for (size_t i = 0; i < r.forced.size(); ++i) {
    columns.push_back({fmt::format("{}_us", name_of(forced_schedules()[i])), time_cell(r.forced[i].graph_us)});
  }
  columns.push_back({"ours_wrong", cell(outcome(r.ours))});
  columns.push_back({"cublas_wrong", cell(outcome(r.cublas))});
  columns.push_back({"tile_m", fmt::format("{}", r.tile_m)});
  columns.push_back({"tile_n", fmt::format("{}", r.tile_n)});
  columns.push_back({"swapped", r.swapped ? "1" : "0"});
  columns.push_back({"tiles", fmt::format("{}", r.tiles)});
  columns.push_back({"checked", r.checked ? "1" : "0"});
  columns.push_back({"cluster", word_of(r.cluster)});
  return columns;
}

nlohmann::json rows_to_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    const Distribution& d = row.ratio;
    list.push_back({{"name", row.name},
                    {"shapes", d.count},
                    {"geomean", d.geomean},
                    {"min", d.min},
                    {"p5", d.p5},
                    {"median", d.median},
                    {"p95", d.p95},
                    {"max", d.max},
                    {"share_at_least_one", d.share_at_least_one},
                    {"ours_tflops", row.ours_tflops},
                    {"other_tflops", row.other_tflops}});
  }
  return list;
}

nlohmann::json classes_to_json(const std::vector<ShapeClass>& classes) {
  nlohmann::json list = nlohmann::json::array();
  for (const ShapeClass& c : classes) {
    list.push_back({{"from_us", c.low_us},
                    {"to_us", c.high_us},
                    {"bound", c.memory_bound ? "memory" : "compute"},
                    {"under_one_wave", c.under_one_wave},
                    {"shapes", c.count},
                    {"geomean", c.geomean},
                    {"worst", c.worst},
                    {"predicted_over_ours", c.predicted_over_ours}});
  }
  return list;
}

// A number where the text is one, so that readers need not convert.
nlohmann::json typed(const std::string& text) {
  if (text.empty()) return nullptr;
  if (const auto integer = integer_of_word(text)) return *integer;
  if (const auto number = number_of_word(text)) return *number;
  return text;
}

}  // namespace

std::string time_cell(double us) { return std::isnan(us) ? "" : fmt::format("{:.3f}", us); }

std::string outcome(const Timing& t) {
  if (!t.failed.empty()) return "failed: " + t.failed;
  return t.wrong;
}

std::string summary_head(const Header& header) {
  std::string out = "\n";
  for (const auto& [name, value] : header) fmt::format_to(std::back_inserter(out), "{:<10}{}\n", name, value);
  return out;
}

std::string csv_head(const Header& header) {
  std::string out;
  for (const auto& [name, value] : header) fmt::format_to(std::back_inserter(out), "# {}: {}\n", name, value);
  return out;
}

std::string listed(const std::vector<std::string>& lines) {
  constexpr size_t kMostListed = 20;
  std::string out;
  for (size_t i = 0; i < lines.size() && i < kMostListed; ++i) out += fmt::format("  {}\n", lines[i]);
  if (lines.size() > kMostListed) out += fmt::format("  and {} more\n", lines.size() - kMostListed);
  return out;
}

std::string summary(const Header& header, const std::vector<Result>& results) {
  std::string out = summary_head(header);
  const std::vector<Row> cublas = table_against_cublas(results);
  if (!cublas.empty()) {
    out += table("cuBLAS's time / ours: device time, each call replayed from a CUDA graph; classes by roofline + 2 us",
                 "cuBLAS", cublas);
  } else {
    out += table("No cuBLAS times. Roofline / our time: device time, replayed from a CUDA graph", "roofline",
                 table_against_roofline(results));
  }
  out += table_of_classes(shape_classes(results));
  out += table("Time with a forced schedule / with the model's choice", "forced", table_against_schedules(results));

  size_t cublas_bad = 0, checked = 0;
  for (const Result& r : results) {
    cublas_bad += outcome(r.cublas).empty() ? 0 : 1;
    checked += r.checked ? 1 : 0;
  }
  const std::vector<std::string> bad = failures(results);
  fmt::format_to(std::back_inserter(out),
                 "\nchecked against fp64: {} of {} shapes, {} of ours wrong or failed, {} of cuBLAS\n", checked,
                 results.size(), bad.size(), cublas_bad);
  return out + listed(bad);
}

std::string to_csv(const Header& header, const std::vector<Result>& results) {
  std::string out = csv_head(header);
  bool named = false;
  for (const Result& r : results) {
    const std::vector<Column> columns = columns_of(r);
    std::string names, values;
    for (const Column& column : columns) {
      const char* comma = names.empty() ? "" : ",";
      names += comma + column.name;
      values += comma + column.value;
    }
    if (!named) out += names + "\n";
    named = true;
    out += values + "\n";
  }
  return out;
}

nlohmann::json to_json(const Header& header, const std::vector<Result>& results) {
  nlohmann::json j;
  for (const auto& [name, value] : header) j["header"][name] = value;
  j["against_cublas"] = rows_to_json(table_against_cublas(results));
  j["against_roofline"] = rows_to_json(table_against_roofline(results));
  j["against_schedules"] = rows_to_json(table_against_schedules(results));
  j["classes"] = classes_to_json(shape_classes(results));
  j["failures"] = failures(results);
  j["results"] = nlohmann::json::array();
  for (const Result& r : results) {
    nlohmann::json row;
    for (const Column& column : columns_of(r)) row[column.name] = typed(column.value);
    j["results"].push_back(std::move(row));
  }
  return j;
}

std::vector<std::string> failures(const std::vector<Result>& results) {
  std::vector<std::string> list;
  for (const Result& r : results) {
    if (const std::string words = outcome(r.ours); !words.empty())
      list.push_back(fmt::format("{}: {}", to_string(r.c), words));
    for (size_t i = 0; i < r.forced.size(); ++i) {
      const std::string words = outcome(r.forced[i]);
      if (!words.empty())
        list.push_back(fmt::format("{} by {}: {}", to_string(r.c), name_of(forced_schedules()[i]), words));
    }
  }
  return list;
}

}  // namespace skgemm::cli
