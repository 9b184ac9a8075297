#include "src/host/cpu_rate.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "src/host/cpu_gemm.h"
#include "src/log.h"

namespace skgemm {
namespace {

double seconds_of_product(DataType type, int64_t size) {
  // Zeros would be as fast, but denormal or NaN garbage would not.
  std::vector<double> memory(static_cast<size_t>(3 * size * size), 0.0);
  double* a = memory.data();
  const double one_f64 = 1, zero_f64 = 0;
  const float one_f32 = 1, zero_f32 = 0;
  const bool f64 = type == DataType::f64;
  const GemmCall call{.op_a = Op::n,
                      .op_b = Op::n,
                      .m = size,
                      .n = size,
                      .k = size,
                      .in = type,
                      .out = type,
                      .scalar_type = type,
                      .scalars = PointerMode::host,
                      .alpha = f64 ? static_cast<const void*>(&one_f64) : &one_f32,
                      .beta = f64 ? static_cast<const void*>(&zero_f64) : &zero_f32,
                      .a = {a, size, 0},
                      .b = {a + size * size, size, 0},
                      .c = {a + 2 * size * size, size, 0},
                      .batch = 1,
                      .name = "cpu rate"};
  double best = 1e30;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first also wakes the BLAS's threads
    const auto begin = std::chrono::steady_clock::now();
    cpu_gemm(call);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

// Doubles the size until a product takes long enough to be timed and to use every core: 2 ms, or 1024.
double measure(DataType type) {
  int64_t size = 128;
  double seconds = seconds_of_product(type, size);
  while (seconds < 2e-3 && size < 1024) seconds = seconds_of_product(type, size *= 2);
  const double n = static_cast<double>(size);
  return 2 * n * n * n / std::max(seconds, 1e-9) * 1e-9;
}

struct Rate {
  std::once_flag once;
  double gflops = 0;
};

}  // namespace

double cpu_gflops(DataType type) {
  static Rate rates[2];
  const bool f64 = type == DataType::f64;
  Rate& rate = rates[f64 ? 1 : 0];
  std::call_once(rate.once, [&] {
    rate.gflops = measure(f64 ? DataType::f64 : DataType::f32);
    if (log::events()) {
      log::event(std::string("the CPU's rate for ") + (f64 ? "f64" : "f32") + " is " +
                 std::to_string(static_cast<int>(rate.gflops)) + " GFLOP/s");
    }
  });
  return rate.gflops;
}

}  // namespace skgemm
