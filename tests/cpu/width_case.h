// What the tests of kernels with a run-time width share: the part, the kernel, an aligned fp16 product, NN, and random
// shapes.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "heuristics/select.h"

namespace skgemm {

inline const DeviceModel& h200() { return *find_device("h200"); }
// Whose DRAM costs no time, so that a prediction is the makespan and the copies ahead of it.
inline DeviceModel without_dram() {
  DeviceModel device = h200();
  device.dram_gbs = 1e15;
  return device;
}
inline const KernelRow& wgmma() { return *find_kernel(DataType::f16, 90); }

inline Shape half(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  return {m, n, k, batch, DataType::f16, DataType::f16, false, true, 16, 16, 16, true};
}

inline Room room_of(const Plan& plan, const Limits& limits = {}) {
  return room_for(*plan.kernel, h200(), limits, plan.tile.cluster);
}

// Random shapes of extents up to 2^most_log2, the same at every run, each as vary(shape, its number) leaves it.
template <class Vary, class Body>
void for_drawn_shapes(int count, uint64_t seed, double most_log2, Vary&& vary, Body&& body) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> log2(0, most_log2);
  const auto extent = [&] { return static_cast<int64_t>(std::exp2(log2(random))); };
  for (int i = 0; i < count; ++i) {
    Shape shape = half(extent(), extent(), extent());
    vary(shape, i);
    SCOPED_TRACE(testing::Message() << i << ": " << shape.m << " x " << shape.n << " x " << shape.k);
    body(shape);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Of all kinds.
template <class Body>
void for_random_shapes(int count, Body&& body) {
  const auto vary = [](Shape& shape, int i) {
    shape.batch = i % 7 == 0 ? 3 : 1;
    shape.in = i % 2 == 0 ? DataType::f16 : DataType::bf16;
    shape.a_k_major = i % 3 == 0;
    shape.b_k_major = i % 5 < 3;
    if (i % 4 == 1) shape.a_align = 4;
    if (i % 8 == 2) shape.b_align = 2;
    if (i % 9 == 0) shape.c_align = 8;
  };
  for_drawn_shapes(count, 11, 13.5, vary, body);
}

}  // namespace skgemm
