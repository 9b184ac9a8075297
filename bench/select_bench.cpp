// How long a select() takes: the selector runs in front of every product whose plan is not cached, and must stay under
// a microsecond (design D10). Run: skgemm_select_bench
#include <benchmark/benchmark.h>

#include "bench/domain.h"
#include "heuristics/select.h"

namespace {

using namespace skgemm;

// Every 32nd shape of the domain in turn, so that no branch or cache learns one shape by heart.
void select_on_domain(benchmark::State& state, DataType type, const char* device_name) {
  const DeviceModel& device = *find_device(device_name);
  std::vector<Shape> shapes;
  for (const auto& s : bench::domain_shapes(1, 8, 32)) {
    shapes.push_back({.m = s.m,
                      .n = s.n,
                      .k = s.k,
                      .batch = 1,
                      .in = type,
                      .out = type,
                      .a_k_major = false,
                      .b_k_major = true,
                      .a_align = 16,
                      .b_align = 16,
                      .c_align = 16});
  }
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(select(shapes[i], device));
    i = i + 1 < shapes.size() ? i + 1 : 0;
  }
}

BENCHMARK_CAPTURE(select_on_domain, h_h200, DataType::f16, "h200");
BENCHMARK_CAPTURE(select_on_domain, s_h200, DataType::f32, "h200");
BENCHMARK_CAPTURE(select_on_domain, d_h200, DataType::f64, "h200");
BENCHMARK_CAPTURE(select_on_domain, h_a100, DataType::f16, "a100");
BENCHMARK_CAPTURE(select_on_domain, d_a100, DataType::f64, "a100");

}  // namespace

BENCHMARK_MAIN();
