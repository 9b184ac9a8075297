// What a benchmark's table says: results, their distribution, and the roofline that sorts them. Pure.
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/device_model.h"
#include "kernels/catalogue.h"
#include "src/cli/bench_case.h"

namespace skgemm::cli {

// One way of computing a case: ours, a forced schedule, or cuBLAS. Times are NaN until measured.
struct Timing {
  double graph_us = NAN;   // device time per call, replayed from a CUDA graph
  double stream_us = NAN;  // per call, back to back in one stream
  std::string failed;      // the call's error, in words
  std::string wrong;       // the first element that is out of bounds, in words

  bool timed() const { return failed.empty() && !std::isnan(graph_us); }
  // Our wrong results are not counted as fast ones. cuBLAS may sum splits of k in half precision, outside our bound by
  // design: that is reported, and its time counts.
  bool measured() const { return timed() && wrong.empty(); }
};

struct Result {
  BenchCase c;
  double bound_us;  // roofline
  bool memory_bound;
  std::string kernel, schedule;  // of our plan
  int64_t ctas = 0;
  int64_t tile_m = 0, tile_n = 0, tiles = 0;
  ClusterShape cluster = {};
  bool swapped = false;
  bool under_one_wave = false;  // fewer tiles than multiprocessors
  double predicted_us = NAN;
  bool checked = true;  // against fp64 sums
  Timing ours, cublas;
  std::vector<Timing> forced;  // in the order of forced_schedules()
};

// The schedules that --schedules forces.
const std::vector<ScheduleKind>& forced_schedules();

// Peak rate of the unit that serves a type, flop/s; from vendors' white papers, by compute capability.
double peak_flops(DataType type, const DeviceModel& device);
double bytes_moved(const BenchCase& c);
struct Roofline {
  double us;
  bool memory_bound;
};
Roofline roofline(const BenchCase& c, const DeviceModel& device);

struct Distribution {
  size_t count = 0;
  double geomean = NAN, min = NAN, p5 = NAN, median = NAN, p95 = NAN, max = NAN;
  double share_at_least_one = NAN;
};
// Quantiles interpolate linearly between order statistics.
Distribution distribution(std::vector<double> values);

// One line of the table.
struct Row {
  std::string name;
  Distribution ratio;
  double ours_tflops, other_tflops;  // all work over all time
};
// Ratios other/ours of device times, for all results, by bound, and by class of roofline + 2 us. Empty classes are left
// out.
std::vector<Row> table_against_cublas(const std::vector<Result>& results);
std::vector<Row> table_against_schedules(const std::vector<Result>& results);
// Without cuBLAS: roofline time over ours.
std::vector<Row> table_against_roofline(const std::vector<Result>& results);

// Where the distance to cuBLAS lies: shapes by cuBLAS's time, bound and whether our tiles fill the machine once.
struct ShapeClass {
  double low_us, high_us;  // cuBLAS's time is in [low, high)
  bool memory_bound, under_one_wave;
  size_t count;
  double geomean, worst;       // cuBLAS's time over ours
  double predicted_over_ours;  // the median; NaN where there is no prediction
};
// "5 to 10 us", "over 100 us".
std::string words_of_span(double low_us, double high_us);
// In the order of time, memory before compute, under one wave before the rest. Empty classes are left out.
std::vector<ShapeClass> shape_classes(const std::vector<Result>& results);

}  // namespace skgemm::cli
