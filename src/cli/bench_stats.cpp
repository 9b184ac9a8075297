#include "src/cli/bench_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace skgemm::cli {
namespace {

// Flops per cycle and SM: tensor cores for 16-bit types and, where there are any for it, fp64.
struct PeakRow {
  int compute_capability;
  double half, f32, f64;
};
constexpr PeakRow kPeaks[] = {
    {80, 2048, 128, 128}, {86, 1024, 256, 4}, {89, 1024, 256, 4}, {90, 4096, 256, 256}, {100, 8192, 256, 128},
};

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The other side of a comparison and how a result's time on it is read; NaN leaves the result out.
struct Comparison {
  std::function<double(const Result&)> other_us;
  std::function<double(const Result&)> ours_us = [](const Result& r) {
    return r.ours.measured() ? r.ours.graph_us : NAN;
  };
};

Row make_row(
    std::string name, const std::vector<Result>& results, const Comparison& comparison,
    const std::function<bool(const Result&)>& belongs = [](const Result&) { return true; }) {
  std::vector<double> ratios;
  double flops = 0, ours_us = 0, other_us = 0;
  for (const Result& r : results) {
    const double ours = comparison.ours_us(r), other = comparison.other_us(r);
    if (!belongs(r) || std::isnan(ours) || std::isnan(other)) continue;
    ratios.push_back(other / ours);
    flops += r.c.flops();
    ours_us += ours;
    other_us += other;
  }
  return {std::move(name), distribution(std::move(ratios)), flops / ours_us * 1e-6, flops / other_us * 1e-6};
}

constexpr double kEdges[] = {0, 5, 10, 20, 50, 100, INFINITY};  // of the classes by time, us

std::vector<Row> classes(const std::vector<Result>& results, const Comparison& comparison) {
  constexpr double kFixedUs = 2;  // what even a perfect kernel needs to start and end
  std::vector<Row> rows;
  rows.push_back(make_row("all", results, comparison));
  rows.push_back(make_row("memory-bound", results, comparison, [](const Result& r) { return r.memory_bound; }));
  rows.push_back(make_row("compute-bound", results, comparison, [](const Result& r) { return !r.memory_bound; }));
  for (size_t i = 0; i + 1 < std::size(kEdges); ++i) {
    const double low = kEdges[i], high = kEdges[i + 1];
    rows.push_back(make_row(words_of_span(low, high), results, comparison, [=](const Result& r) {
      return r.bound_us + kFixedUs >= low && r.bound_us + kFixedUs < high;
    }));
  }
  std::erase_if(rows, [](const Row& row) { return row.ratio.count == 0; });
  return rows;
}

// The results of class `c`, summed up in it; false when there are none.
bool sum_up(const std::vector<Result>& results, ShapeClass& c) {
  std::vector<double> ratios, predicted;
  for (const Result& r : results) {
    if (!r.ours.measured() || !r.cublas.timed()) continue;
    if (r.cublas.graph_us < c.low_us || r.cublas.graph_us >= c.high_us) continue;
    if (r.memory_bound != c.memory_bound || r.under_one_wave != c.under_one_wave) continue;
    ratios.push_back(r.cublas.graph_us / r.ours.graph_us);
    if (!std::isnan(r.predicted_us)) predicted.push_back(r.predicted_us / r.ours.graph_us);
  }
  const Distribution d = distribution(std::move(ratios));
  c.count = d.count;
  c.geomean = d.geomean;
  c.worst = d.min;
  c.predicted_over_ours = distribution(std::move(predicted)).median;
  return c.count > 0;
}

}  // namespace

const std::vector<ScheduleKind>& forced_schedules() {
  static const std::vector<ScheduleKind> kinds = {ScheduleKind::data_parallel, ScheduleKind::fixed_split,
                                                  ScheduleKind::stream_k, ScheduleKind::one_tile,
                                                  ScheduleKind::two_tile};
  return kinds;
}

double peak_flops(DataType type, const DeviceModel& device) {
  const PeakRow* best = kPeaks;
  for (const PeakRow& row : kPeaks) {
    if (row.compute_capability <= device.compute_capability) best = &row;
  }
  const double per_cycle = type == DataType::f64 ? best->f64 : type == DataType::f32 ? best->f32 : best->half;
  return per_cycle * device.sms * device.clock_ghz * 1e9;
}

double bytes_moved(const BenchCase& c) {
  const double m = static_cast<double>(c.m), n = static_cast<double>(c.n), k = static_cast<double>(c.k);
  const double c_accesses = c.beta == 0 ? 1 : 2;
  return static_cast<double>(c.batch) * ((m * k + k * n) * size_of(c.type) + c_accesses * m * n * size_of(c.out));
}

Roofline roofline(const BenchCase& c, const DeviceModel& device) {
  const double compute = c.flops() / peak_flops(c.type, device) * 1e6;
  const double memory = bytes_moved(c) / (device.dram_gbs * 1e3);
  return {std::max(compute, memory), memory > compute};
}

Distribution distribution(std::vector<double> values) {
  Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  std::ranges::sort(values);
  double logs = 0;
  for (const double x : values) logs += std::log(x);
  d.geomean = std::exp(logs / static_cast<double>(d.count));
  d.min = values.front();
  d.p5 = quantile(values, 0.05);
  d.median = quantile(values, 0.5);
  d.p95 = quantile(values, 0.95);
  d.max = values.back();
  const auto at_least_one = values.end() - std::ranges::lower_bound(values, 1.0);
  d.share_at_least_one = static_cast<double>(at_least_one) / static_cast<double>(d.count);
  return d;
}

std::vector<Row> table_against_cublas(const std::vector<Result>& results) {
  auto rows =
      classes(results, {.other_us = [](const Result& r) { return r.cublas.timed() ? r.cublas.graph_us : NAN; }});
  if (rows.empty()) return rows;
  rows.push_back(make_row("all, in a stream", results,
                          {.other_us = [](const Result& r) { return r.cublas.timed() ? r.cublas.stream_us : NAN; },
                           .ours_us = [](const Result& r) { return r.ours.measured() ? r.ours.stream_us : NAN; }}));
  return rows;
}

std::vector<Row> table_against_schedules(const std::vector<Result>& results) {
  std::vector<Row> rows;
  for (size_t i = 0; i < forced_schedules().size(); ++i) {
    rows.push_back(make_row(name_of(forced_schedules()[i]), results, {.other_us = [i](const Result& r) {
                              return i < r.forced.size() && r.forced[i].measured() ? r.forced[i].graph_us : NAN;
                            }}));
  }
  std::erase_if(rows, [](const Row& row) { return row.ratio.count == 0; });
  return rows;
}

std::vector<Row> table_against_roofline(const std::vector<Result>& results) {
  return classes(results, {.other_us = [](const Result& r) { return r.bound_us; }});
}

std::string words_of_span(double low_us, double high_us) {
  return std::isinf(high_us) ? fmt::format("over {:g} us", low_us) : fmt::format("{:g} to {:g} us", low_us, high_us);
}

std::vector<ShapeClass> shape_classes(const std::vector<Result>& results) {
  std::vector<ShapeClass> list;
  for (size_t i = 0; i + 1 < std::size(kEdges); ++i) {
    for (const bool memory_bound : {true, false}) {
      for (const bool under_one_wave : {true, false}) {
        ShapeClass c{.low_us = kEdges[i],
                     .high_us = kEdges[i + 1],
                     .memory_bound = memory_bound,
                     .under_one_wave = under_one_wave,
                     .count = 0,
                     .geomean = NAN,
                     .worst = NAN,
                     .predicted_over_ours = NAN};
        if (sum_up(results, c)) list.push_back(c);
      }
    }
  }
  return list;
}

}  // namespace skgemm::cli
