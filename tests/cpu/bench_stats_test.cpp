// The benchmark's figures: known distributions, the roofline, the tables and their columns.
#include <gtest/gtest.h>

#include <cmath>

#include "src/cli/bench_report.h"

namespace skgemm::cli {
namespace {

TEST(Distribution, known_values) {
  std::vector<double> values;
  for (int i = 20; i >= 0; --i) values.push_back(0.5 + 0.05 * i);  // 0.5 to 1.5, unsorted
  const Distribution d = distribution(values);
  EXPECT_EQ(d.count, 21u);
  EXPECT_DOUBLE_EQ(d.min, 0.5);
  EXPECT_DOUBLE_EQ(d.p5, 0.55);
  EXPECT_DOUBLE_EQ(d.median, 1.0);
  EXPECT_DOUBLE_EQ(d.p95, 1.45);
  EXPECT_DOUBLE_EQ(d.max, 1.5);
  EXPECT_DOUBLE_EQ(d.share_at_least_one, 11.0 / 21);
  EXPECT_NEAR(distribution({0.5, 2.0}).geomean, 1, 1e-12);
  EXPECT_DOUBLE_EQ(distribution({0.5, 2.0}).median, 1.25);
  EXPECT_EQ(distribution({}).count, 0u);
}

const DeviceModel& h200() { return *find_device("h200"); }

TEST(Roofline, sorts_by_bound) {
  const Roofline big = roofline(packed_case(DataType::f64, {}, 4096, 4096, 4096), h200());
  EXPECT_FALSE(big.memory_bound);
  EXPECT_NEAR(big.us, 2 * std::pow(4096, 3) / 66.9e6, 20);  // 66.9 TFLOP/s: 132 SMs, 256 flops a cycle, 1.98 GHz
  const BenchCase thin = packed_case(DataType::f16, {}, 8192, 8, 8192);
  const Roofline flat = roofline(thin, h200());
  EXPECT_TRUE(flat.memory_bound);
  EXPECT_NEAR(flat.us, bytes_moved(thin) / 4.51e6, 0.01);
  BenchCase reading = thin;
  reading.beta = 1;
  EXPECT_DOUBLE_EQ(bytes_moved(reading) - bytes_moved(thin), 2.0 * 8192 * 8);
}

Result result_of(int64_t m, double ours, double cublas) {
  Result r;
  r.c = packed_case(DataType::f32, {}, m, m, m);
  const Roofline bound = roofline(r.c, h200());
  r.bound_us = bound.us;
  r.memory_bound = bound.memory_bound;
  r.ours.graph_us = r.ours.stream_us = ours;
  r.cublas.graph_us = r.cublas.stream_us = cublas;
  return r;
}

TEST(Table, rows_and_rates) {
  const std::vector<Result> results = {result_of(128, 5, 10), result_of(256, 10, 5), result_of(4096, 3000, 3000)};
  const std::vector<Row> rows = table_against_cublas(results);
  ASSERT_EQ(rows.front().name, "all");
  EXPECT_EQ(rows.front().ratio.count, 3u);
  EXPECT_NEAR(rows.front().ratio.geomean, 1, 1e-12);
  const double flops = 2 * (std::pow(128, 3) + std::pow(256, 3) + std::pow(4096, 3));
  EXPECT_NEAR(rows.front().ours_tflops, flops / 3015 * 1e-6, 1e-9);
  size_t classes = 0;
  for (const Row& row : rows) {
    EXPECT_GT(row.ratio.count, 0u);
    if (row.name.find(" us") != std::string::npos) classes += row.ratio.count;
  }
  EXPECT_EQ(classes, 3u);
  EXPECT_EQ(rows.back().name, "all, in a stream");
}

TEST(Table, failed_results_do_not_count_and_are_listed) {
  std::vector<Result> results = {result_of(128, 5, 10), result_of(256, 10, 5)};
  results[1].ours.failed = "out of memory";
  EXPECT_EQ(table_against_cublas(results).front().ratio.count, 1u);
  ASSERT_EQ(failures(results).size(), 1u);
  EXPECT_EQ(failures(results)[0], "s NN 256x256x256: failed: out of memory");
  results[1].cublas.wrong = "C(0, 0)";  // reported, not a failure of ours
  EXPECT_EQ(failures(results).size(), 1u);
  EXPECT_NE(summary({}, results).find("1 of ours wrong or failed, 1 of cuBLAS"), std::string::npos);
  results[0].cublas.wrong = "C(1, 1)";  // reported too, but its time is what we are measured by
  EXPECT_EQ(table_against_cublas(results).front().ratio.count, 1u);
}

TEST(Table, without_cublas_the_roofline_is_the_measure) {
  std::vector<Result> results = {result_of(128, 5, NAN)};
  EXPECT_TRUE(table_against_cublas(results).empty());
  EXPECT_EQ(table_against_roofline(results).front().ratio.count, 1u);
  EXPECT_NE(summary({}, results).find("No cuBLAS times"), std::string::npos);
}

TEST(Table, forced_schedules) {
  std::vector<Result> results = {result_of(512, 10, 10)};
  results[0].forced.resize(forced_schedules().size());
  results[0].forced[0].graph_us = 20;
  const std::vector<Row> rows = table_against_schedules(results);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "data-parallel");
  EXPECT_DOUBLE_EQ(rows[0].ratio.median, 2);
}

Result class_of(double ours, double cublas, bool memory_bound, bool under_one_wave, double predicted) {
  Result r = result_of(512, ours, cublas);
  r.memory_bound = memory_bound;
  r.under_one_wave = under_one_wave;
  r.predicted_us = predicted;
  return r;
}

TEST(Classes, by_time_bound_and_wave) {
  std::vector<Result> results = {
      class_of(4, 4.999, true, true, 5),  class_of(2, 4, true, true, 1),       class_of(8, 2, true, true, NAN),
      class_of(6, 5, true, true, 6),      class_of(5, 4, false, true, 5),      class_of(5, 4, true, false, 10),
      class_of(50, 99, false, false, 50), class_of(90, 100, false, false, 45), class_of(1, 1e4, false, false, 1),
  };
  results.push_back(class_of(1, 3, true, true, 1));
  results.back().ours.wrong = "C(0, 0)";
  results.push_back(class_of(1, NAN, true, true, 1));

  const std::vector<ShapeClass> classes = shape_classes(results);
  ASSERT_EQ(classes.size(), 6u);
  const ShapeClass& first = classes[0];
  EXPECT_TRUE(first.low_us == 0 && first.high_us == 5 && first.memory_bound && first.under_one_wave);
  EXPECT_EQ(first.count, 3u);  // neither the wrong result nor the one without cuBLAS
  EXPECT_NEAR(first.geomean, std::cbrt(4.999 / 4 * 2 * 0.25), 1e-12);
  EXPECT_DOUBLE_EQ(first.worst, 0.25);
  EXPECT_DOUBLE_EQ(first.predicted_over_ours, (5.0 / 4 + 0.5) / 2);  // of the two that have a prediction
  EXPECT_TRUE(classes[1].memory_bound && !classes[1].under_one_wave && classes[1].high_us == 5);
  EXPECT_TRUE(!classes[2].memory_bound && classes[2].under_one_wave && classes[2].high_us == 5);
  EXPECT_TRUE(classes[3].low_us == 5 && classes[3].high_us == 10) << "5 us is not under 5 us";
  EXPECT_TRUE(classes[4].low_us == 50 && classes[4].count == 1);
  EXPECT_TRUE(classes[5].low_us == 100 && classes[5].count == 2) << "100 us is not under 100 us";
  EXPECT_DOUBLE_EQ(classes[5].predicted_over_ours, 0.75);
  size_t all = 0;
  for (const ShapeClass& c : classes) all += c.count;
  EXPECT_EQ(all, results.size() - 2);
  EXPECT_NE(summary({}, results).find("over 100 us   compute  more"), std::string::npos) << summary({}, results);
  EXPECT_TRUE(shape_classes({class_of(5, NAN, true, true, 5)}).empty());
}

TEST(Csv, tile_comes_after_the_older_columns) {
  Result r = result_of(512, 10, 10);
  r.tile_m = 128;
  r.tile_n = 192;
  r.swapped = true;
  r.cluster = {1, 2};
  r.tiles = 12;
  r.checked = false;
  const std::string csv = to_csv({}, {r});
  EXPECT_NE(csv.find(",ours_wrong,cublas_wrong,tile_m,tile_n,swapped,tiles,checked,cluster\n"), std::string::npos)
      << csv;
  EXPECT_TRUE(csv.ends_with(",,,128,192,1,12,0,1x2\n")) << csv;
  EXPECT_NE(summary({}, {r}).find("checked against fp64: 0 of 1 shapes"), std::string::npos);
}

}  // namespace
}  // namespace skgemm::cli
