// The plan cache: what makes two calls the same, what a collision does, and many threads at once.
#include "src/plan_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace skgemm {
namespace {

PlanKey key_of(int64_t m) {
  return {.shape = {.m = m,
                    .n = 200,
                    .k = 300,
                    .batch = 1,
                    .in = DataType::f16,
                    .out = DataType::f16,
                    .a_k_major = false,
                    .b_k_major = true,
                    .a_align = 16,
                    .b_align = 16,
                    .c_align = 16,
                    .small_extents = true},
          .limits = {},
          .device = 0};
}

// A plan that tells which key it was made for.
Plan plan_of(int64_t m) {
  Plan plan{};
  plan.workspace_bytes = static_cast<size_t>(m);
  return plan;
}

TEST(PlanCache, MakesAPlanOnce) {
  PlanCache cache;
  int made = 0;
  for (int i = 0; i < 3; ++i) {
    const Plan plan = cache.get(key_of(7), [&] {
      ++made;
      return plan_of(7);
    });
    EXPECT_EQ(plan.workspace_bytes, 7u);
  }
  EXPECT_EQ(made, 1);
}

// Every field decides: a plan for aligned operands must not serve unaligned ones, nor one device another.
TEST(PlanCache, EveryFieldIsPartOfTheKey) {
  const std::vector<std::function<void(PlanKey&)>> changes{
      [](PlanKey& k) { ++k.shape.m; },
      [](PlanKey& k) { ++k.shape.n; },
      [](PlanKey& k) { ++k.shape.k; },
      [](PlanKey& k) { ++k.shape.batch; },
      [](PlanKey& k) { k.shape.in = DataType::bf16; },
      [](PlanKey& k) { k.shape.out = DataType::f32; },
      [](PlanKey& k) { k.shape.a_k_major = true; },
      [](PlanKey& k) { k.shape.b_k_major = false; },
      [](PlanKey& k) { k.shape.a_align = 2; },
      [](PlanKey& k) { k.shape.b_align = 2; },
      [](PlanKey& k) { k.shape.c_align = 2; },
      [](PlanKey& k) { k.shape.small_extents = false; },
      [](PlanKey& k) { k.shape.a_shared = true; },
      [](PlanKey& k) { k.shape.b_shared = true; },
      [](PlanKey& k) { k.limits.sms = 8; },
      [](PlanKey& k) { k.limits.workspace_bytes = 0; },
      [](PlanKey& k) { k.limits.forced = ScheduleKind::stream_k; },
      [](PlanKey& k) { k.limits.forced_parameter = 3; },
      [](PlanKey& k) { k.limits.forced_width = 64; },
      [](PlanKey& k) { k.limits.forced_orientation = Orientation::swapped; },
      [](PlanKey& k) {
        k.limits.forced_cluster = {2, 1};
      },
      [](PlanKey& k) {
        k.limits.forced_cluster = {1, 2};
      },
      [](PlanKey& k) { k.device = 1; },
  };
  PlanCache cache;
  cache.put(key_of(100), plan_of(100));
  for (size_t i = 0; i < changes.size(); ++i) {
    PlanKey other = key_of(100);
    changes[i](other);
    EXPECT_FALSE(cache.find(other).has_value()) << "change " << i;
    EXPECT_NE(hash_of(other), hash_of(key_of(100))) << "change " << i;
  }
  EXPECT_TRUE(cache.find(key_of(100)).has_value());
}

TEST(PlanCache, TheLaterOfTwoOnOnePlaceStays) {
  const size_t place = hash_of(key_of(1)) % PlanCache::kPlaces;
  int64_t other = 2;
  while (hash_of(key_of(other)) % PlanCache::kPlaces != place) ++other;
  PlanCache cache;
  cache.put(key_of(1), plan_of(1));
  cache.put(key_of(other), plan_of(other));
  EXPECT_FALSE(cache.find(key_of(1)).has_value());
  ASSERT_TRUE(cache.find(key_of(other)).has_value());
  EXPECT_EQ(cache.find(key_of(other))->workspace_bytes, static_cast<size_t>(other));
}

// Shapes as programs have them, in steps of 64, must not pile up on few places.
TEST(PlanCache, RegularShapesSpread) {
  std::vector<int> load(PlanCache::kPlaces);
  int keys = 0;
  for (int64_t m = 64; m <= 64 * 32; m += 64) {
    for (int64_t n = 64; n <= 64 * 32; n += 64, ++keys) {
      PlanKey key = key_of(m);
      key.shape.n = n;
      ++load[hash_of(key) % PlanCache::kPlaces];
    }
  }
  ASSERT_EQ(keys, 1024);
  // Thrown at random, 1024 balls leave about 1024/e = 377 of 1024 places empty.
  EXPECT_LT(std::ranges::count(load, 0), 450);
}

TEST(PlanCache, ThreadsGetTheirOwnKeysPlan) {
  PlanCache cache;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20000; ++i) {
        const int64_t m = (i * 7 + t) % 3000;  // more keys than places
        const Plan plan = cache.get(key_of(m), [m] { return plan_of(m); });
        if (plan.workspace_bytes != static_cast<size_t>(m)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A real selection comes back from the cache as it went in.
TEST(PlanCache, KeepsTheSelectorsPlans) {
  const DeviceModel* device = find_device("h200");
  ASSERT_NE(device, nullptr);
  PlanCache cache;
  for (const int64_t m : {1, 129, 1000, 8192}) {
    const PlanKey key = key_of(m);
    const auto make = [&] { return select(key.shape, *device, key.limits); };
    const std::string made = to_string(cache.get(key, make));
    ASSERT_TRUE(cache.find(key).has_value());
    EXPECT_EQ(to_string(*cache.find(key)), made);
  }
}

}  // namespace
}  // namespace skgemm
