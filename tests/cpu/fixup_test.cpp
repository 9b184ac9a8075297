// cta_main and fixup on host threads: the right product, each tile stored once, counters left at zero, no hang and the
// same bits whatever the order of CTAs and however few run at once. Also built with ThreadSanitizer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "tests/cpu/host_executor.h"

namespace skgemm {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kScale = 10;  // ThreadSanitizer is about ten times slower
#else
constexpr int kScale = 1;
#endif

struct Draw {
  std::mt19937_64 random;
  int64_t operator()(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
};

std::vector<Schedule> all_schedules(const TileSpace& space, int64_t p, Draw& draw) {
  return {data_parallel(space, p), fixed_split(space, p, draw(1, 9)), stream_k(space, draw(1, 2 * p)),
          one_tile(space, p), two_tile(space, p)};
}

template <class T>
void expect_whole(const host::Result<T>& result, const host::Problem<T>& problem) {
  ASSERT_EQ(result.c, problem.reference());
  for (int visits : result.visits) ASSERT_EQ(visits, 1);
  for (int stores : result.stores) ASSERT_EQ(stores, 1);
  ASSERT_TRUE(result.counters_zero);
}

TEST(Fixup, RightProductInAnyOrderOneCtaAtATime) {
  Draw draw{std::mt19937_64(2)};
  int combinations = 0;
  for (int i = 0; i < 10200 / kScale; ++i) {
    const host::Problem<int64_t> problem(draw(1, 9), draw(1, 9), draw(1, 24), draw(1, 2), static_cast<uint64_t>(i));
    for (const Schedule& s : all_schedules(problem.space(draw(1, 5)), draw(1, 24), draw)) {
      host::Launch<int64_t> launch(problem, s);
      SCOPED_TRACE(testing::Message() << name_of(s.kind) << " m=" << problem.m << " n=" << problem.n
                                      << " k=" << problem.k << " ctas=" << s.ctas << " case=" << i);
      expect_whole(launch.run(host::shuffled(s.ctas, static_cast<uint64_t>(i)), 1), problem);
      if (testing::Test::HasFatalFailure()) return;
      ++combinations;
    }
  }
  EXPECT_GE(combinations, 50000 / kScale);
}

TEST(Fixup, RightProductWithManyCtasAtOnce) {
  Draw draw{std::mt19937_64(3)};
  for (int i = 0; i < 600 / kScale; ++i) {
    const host::Problem<int64_t> problem(draw(1, 12), draw(1, 12), draw(1, 60), draw(1, 2), static_cast<uint64_t>(i));
    for (const Schedule& s : all_schedules(problem.space(draw(1, 5)), draw(2, 40), draw)) {
      host::Launch<int64_t> launch(problem, s);
      const int resident = static_cast<int>(draw(2, 8));
      SCOPED_TRACE(testing::Message() << name_of(s.kind) << " resident=" << resident << " case=" << i);
      expect_whole(launch.run(host::shuffled(s.ctas, static_cast<uint64_t>(i)), resident), problem);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// One thread a CTA, all at once, as on a device with room for the whole grid.
TEST(Fixup, OneThreadPerCta) {
  for (int64_t g : {3, 17, 66, 132}) {
    const host::Problem<int64_t> problem(8, 6, 132, 1, static_cast<uint64_t>(g));
    const Schedule s = stream_k(problem.space(2), g);
    host::Launch<int64_t> launch(problem, s);
    expect_whole(launch.run(host::shuffled(s.ctas, 1), static_cast<int>(s.ctas)), problem);
  }
}

// A relaunch on the same counters must find them as it needs them: what graph replay relies on.
TEST(Fixup, RelaunchOnTheSameWorkspace) {
  const host::Problem<int64_t> problem(5, 7, 31, 1, 4);
  const Schedule s = stream_k(problem.space(1), 13);
  host::Launch<int64_t> launch(problem, s);
  for (uint64_t repeat = 0; repeat < 100; ++repeat) {
    const host::Result<int64_t> result = launch.run(host::shuffled(s.ctas, repeat), 1 + static_cast<int>(repeat % 4));
    ASSERT_EQ(result.c, problem.reference());
    ASSERT_TRUE(result.counters_zero);
  }
}

TEST(Fixup, BitsDoNotDependOnOrder) {
  Draw draw{std::mt19937_64(5)};
  for (int i = 0; i < 40; ++i) {
    const host::Problem<float> problem(draw(1, 8), draw(1, 8), draw(20, 90), 1, static_cast<uint64_t>(i));
    const Schedule s = stream_k(problem.space(2), draw(2, 40));
    const std::vector<float> first = host::Launch<float>(problem, s).run(host::shuffled(s.ctas, 0), 1).c;
    for (uint64_t order = 1; order < 6; ++order) {
      const std::vector<float> c = host::Launch<float>(problem, s).run(host::shuffled(s.ctas, order), 4).c;
      ASSERT_EQ(std::memcmp(first.data(), c.data(), c.size() * sizeof(float)), 0) << "case " << i << " order " << order;
    }
  }
}

}  // namespace
}  // namespace skgemm
