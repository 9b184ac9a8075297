// How long a select() takes: the selector runs in front of every product whose plan is not cached, and must stay under
// a microsecond (design D10). Run: skgemm_select_bench
#include <benchmark/benchmark.h>

#include <algorithm>

#include "bench/domain.h"
#include "heuristics/select.h"

namespace {

using namespace skgemm;

// Packed NN of one type.
Shape shape_of(DataType type, int64_t m, int64_t n, int64_t k) {
  const auto align = [type](int64_t ld, int64_t most) {
    const int64_t pitch = ld * size_of(type);
    return static_cast<int>(std::min(most, pitch & -pitch));
  };
  return {.m = m,
          .n = n,
          .k = k,
          .batch = 1,
          .in = type,
          .out = type,
          .a_k_major = false,
          .b_k_major = true,
          .a_align = align(m, 128),
          .b_align = align(k, 128),
          .c_align = align(m, 16),
          .small_extents = true};
}

// Every 32nd shape of the domain in turn, so that no branch or cache learns one shape by heart.
void select_on_domain(benchmark::State& state, DataType type, const char* device_name, int64_t align) {
  const DeviceModel& device = *find_device(device_name);
  std::vector<Shape> shapes;
  for (const auto& s : bench::domain_shapes(1, align, 32)) shapes.push_back(shape_of(type, s.m, s.n, s.k));
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(select(shapes[i], device));
    i = i + 1 < shapes.size() ? i + 1 : 0;
  }
}

BENCHMARK_CAPTURE(select_on_domain, h_h200, DataType::f16, "h200", 8);
BENCHMARK_CAPTURE(select_on_domain, h_h200_unaligned, DataType::f16, "h200", 1);
BENCHMARK_CAPTURE(select_on_domain, s_h200, DataType::f32, "h200", 8);
BENCHMARK_CAPTURE(select_on_domain, d_h200, DataType::f64, "h200", 8);
BENCHMARK_CAPTURE(select_on_domain, h_a100, DataType::f16, "a100", 8);
BENCHMARK_CAPTURE(select_on_domain, d_a100, DataType::f64, "a100", 8);

// One product again and again: its extents are the arguments.
void select_one(benchmark::State& state) {
  const Shape shape = shape_of(DataType::f16, state.range(0), state.range(1), state.range(2));
  const DeviceModel& device = *find_device("h200");
  for (auto _ : state) benchmark::DoNotOptimize(select(shape, device));
}

BENCHMARK(select_one)->Args({128, 128, 128})->Args({512, 512, 512})->Args({128, 128, 8192})->Args({4096, 4096, 4096});

}  // namespace

BENCHMARK_MAIN();
