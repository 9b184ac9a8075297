// Workspaces (src/workspace.h) over a device that is made of host memory: who gets which region when.
#include "src/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "tests/cpu/fake_device_memory.h"

namespace skgemm {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

StreamState stream(uint64_t id) { return {reinterpret_cast<CUstream_st*>(id), id, nullptr}; }
StreamState capture(uint64_t id, uint64_t of_stream) {
  return {reinterpret_cast<CUstream_st*>(of_stream), id, reinterpret_cast<CUgraph_st*>(id)};
}
CUgraphNode_st* node(uintptr_t number) { return reinterpret_cast<CUgraphNode_st*>(number); }

bool counters_are_zero(const WorkspaceLease& lease) {
  return std::all_of(lease.counters(), lease.counters() + kCounterCapacity, [](uint32_t c) { return c == 0; });
}

// The region of one lease that begins and ends here.
void* place_of(WorkspacePool& pool, const StreamState& s, size_t bytes) {
  const WorkspaceLease lease = pool.lease(s, bytes);
  return lease.counters();
}

TEST(Carve, AlignsUpAndGivesTheRest) {
  alignas(256) static char memory[kCounterBytes + 1024];
  const WorkspaceRegion whole = carve(memory, sizeof memory);
  EXPECT_EQ(whole.data, memory);
  EXPECT_EQ(whole.bytes, sizeof memory);
  EXPECT_EQ(static_cast<char*>(whole.slots()), memory + kCounterBytes);

  const WorkspaceRegion off = carve(memory + 16, sizeof memory - 16);
  EXPECT_EQ(off.data, memory + 256);
  EXPECT_EQ(off.bytes, sizeof memory - 256);

  EXPECT_EQ(carve(memory, kCounterBytes).bytes, kCounterBytes);
  EXPECT_EQ(carve(memory, kCounterBytes - 1).data, nullptr);
  EXPECT_EQ(carve(memory + 1, kCounterBytes + 254).data, nullptr);
  EXPECT_EQ(carve(memory + 1, kCounterBytes + 255).bytes, kCounterBytes);
  EXPECT_EQ(carve(memory, 0).data, nullptr);
  EXPECT_EQ(carve(nullptr, 0).bytes, 0u);
}

TEST(WorkspacePool, LaunchesOfAStreamShareOneRegion) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  void* first = nullptr;
  {
    const WorkspaceLease lease = pool.lease(stream(1), kMiB);
    ASSERT_TRUE(lease);
    EXPECT_GE(lease.bytes(), kMiB);
    EXPECT_TRUE(counters_are_zero(lease));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(lease.slots()) % kWorkspaceAlignment, 0u);
    first = lease.counters();
  }
  EXPECT_EQ(place_of(pool, stream(1), kMiB), first);
  EXPECT_EQ(place_of(pool, stream(1), kMiB / 2), first);
  EXPECT_NE(place_of(pool, stream(2), kMiB), first);
  EXPECT_EQ(memory.cleared_in_order, 2) << "once for each region";
  EXPECT_EQ(memory.marks, 0u) << "few streams need no marks";
}

TEST(WorkspacePool, AGrownRegionsPredecessorWaitsForItsLaunches) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  void* small = place_of(pool, stream(1), kMiB);
  void* large = place_of(pool, stream(1), 4 * kMiB);
  EXPECT_NE(large, small);
  EXPECT_EQ(memory.pending.size(), 1u);
  EXPECT_NE(place_of(pool, stream(2), kMiB), small) << "launches of stream 1 may still use it";
  memory.pending.clear();
  const WorkspaceLease lease = pool.lease(stream(3), kMiB);
  EXPECT_EQ(lease.counters(), small);
  EXPECT_EQ(memory.cleared_in_order, 3) << "a used region's counters are zero already";
}

TEST(WorkspacePool, ACaptureOwnsItsRegionUntilTheGraphDies) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  void* eager = place_of(pool, stream(1), kMiB);
  void* captured = place_of(pool, capture(100, 1), kMiB);
  EXPECT_NE(captured, eager);
  EXPECT_EQ(memory.cleared_at_once, 1) << "zeros in stream order would be a node of the graph";
  EXPECT_NE(place_of(pool, capture(101, 1), kMiB), captured) << "two graphs of one stream may run at once";
  EXPECT_EQ(place_of(pool, stream(1), kMiB), eager);
  EXPECT_NE(place_of(pool, stream(2), kMiB), captured);

  memory.destroy(capture(100, 1).graph);
  EXPECT_EQ(place_of(pool, stream(3), kMiB), captured);
}

TEST(WorkspacePool, LaunchesThatTheGraphOrdersShareARegion) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  const StreamState main = capture(100, 1), side = capture(100, 2);
  memory.tails[main.stream] = memory.tails[side.stream] = node(1);
  void* first = place_of(pool, main, kMiB);
  // The side stream forks before the next launch of the main one: it follows node 1, that launch doesn't.
  memory.tails[main.stream] = node(1);
  {
    const WorkspaceLease lease = pool.lease(main, kMiB);
    EXPECT_EQ(lease.counters(), first) << "after the first";
    memory.tails[main.stream] = node(2);  // the launch
  }
  void* beside = place_of(pool, side, kMiB);
  EXPECT_NE(beside, first) << "beside the second";
  EXPECT_EQ(place_of(pool, main, kMiB), first);
  memory.destroy(main.graph);
  EXPECT_EQ(memory.blocks.size(), 2u);
}

TEST(WorkspacePool, ARegionThatNoGraphWouldKeepIsNotUsed) {
  FakeMemory memory;
  memory.graphs_refuse = true;
  WorkspacePool pool(memory);
  EXPECT_FALSE(pool.lease(capture(100, 1), kMiB));
  EXPECT_TRUE(pool.lease(stream(1), kMiB));
  EXPECT_EQ(memory.blocks.size(), 1u) << "it goes to the next who asks";
}

TEST(WorkspacePool, AFullDeviceIsAnEmptyLease) {
  FakeMemory memory;
  memory.capacity = 3 * kMiB;
  WorkspacePool pool(memory);
  EXPECT_FALSE(pool.lease(stream(1), 4 * kMiB));
  EXPECT_TRUE(pool.lease(stream(1), 2 * kMiB)) << "less is there";
  const int asked = memory.asked;
  EXPECT_FALSE(pool.lease(stream(1), 4 * kMiB));
  EXPECT_EQ(memory.asked, asked) << "the answer is remembered";

  memory.capacity = SIZE_MAX;
  bool found = false;
  for (unsigned i = 0; i < 2 * WorkspacePool::kAskAgain && !found; ++i) found = bool(pool.lease(stream(1), 4 * kMiB));
  EXPECT_TRUE(found) << "but not for ever";
}

TEST(WorkspacePool, TakesTheExactSizeWhereAPowerOfTwoIsTooMuch) {
  FakeMemory memory;
  memory.capacity = 3 * kMiB;
  WorkspacePool pool(memory);
  const WorkspaceLease lease = pool.lease(stream(1), 2 * kMiB + 4096);
  EXPECT_TRUE(lease);
  EXPECT_EQ(lease.bytes(), 2 * kMiB + 4096);
}

TEST(WorkspacePool, IdleRegionsAreFreedForALargerOne) {
  FakeMemory memory;
  memory.capacity = 5 * kMiB;
  WorkspacePool pool(memory);
  place_of(pool, stream(1), kMiB);
  place_of(pool, stream(1), 2 * kMiB);
  EXPECT_FALSE(pool.lease(stream(2), 4 * kMiB)) << "the first is in use";
  memory.pending.clear();
  memory.capacity = 6 * kMiB;  // of which 3 are held, 1 idly
  for (unsigned i = 0; i < WorkspacePool::kAskAgain && !pool.lease(stream(2), 4 * kMiB); ++i) {
  }
  EXPECT_EQ(memory.used(), 6 * kMiB);
}

TEST(WorkspacePool, StreamsThatAreGoneGiveTheirRegionsUp) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  for (uint64_t id = 1; id <= 1000; ++id) {
    place_of(pool, stream(id), kMiB);
    memory.pending.clear();  // its launches end
  }
  EXPECT_LE(memory.blocks.size(), WorkspacePool::kStreamsWithoutMarks + 2);
}

TEST(WorkspacePool, BusyStreamsKeepTheirRegions) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  std::set<void*> places;
  for (uint64_t id = 1; id <= 100; ++id) places.insert(place_of(pool, stream(id), kMiB));
  EXPECT_EQ(places.size(), 100u);
}

// A mark that has passed speaks for the launches before it alone. So once there are marks every launch moves its
// stream's, also when there are few streams again.
TEST(WorkspacePool, NoLaunchIsBehindAnOldMark) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  constexpr uint64_t kLast = WorkspacePool::kStreamsWithoutMarks + 1;
  for (uint64_t id = 1; id < kLast; ++id) place_of(pool, stream(id), kMiB);
  place_of(pool, stream(kLast), 4 * kMiB);                                   // leaves mark 1
  for (uint64_t id = 1; id < kLast; ++id) place_of(pool, stream(id), kMiB);  // mark id + 1
  ASSERT_EQ(memory.marks, kLast);
  memory.pending.erase(reinterpret_cast<CUevent_st*>(uintptr_t{1}));  // the last stream's work ends
  memory.pending.erase(reinterpret_cast<CUevent_st*>(uintptr_t{3}));  // and stream 2's
  place_of(pool, stream(1), 4 * kMiB);                                // takes the last stream's over: one stream fewer
  void* busy = place_of(pool, stream(2), kMiB);                       // works again
  EXPECT_NE(place_of(pool, stream(100), kMiB), busy);
}

TEST(WorkspacePool, ThreadsNeverHoldOneRegionTogether) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  std::atomic<int> clashes{0}, empty{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 2000; ++i) {
        const WorkspaceLease lease = pool.lease(stream(1 + (t + i) % 3), kMiB >> (i % 4));
        if (!lease) {
          ++empty;
          continue;
        }
        // What a launch's kernels do to the region, all at once.
        uint32_t* counter = lease.counters();
        if (counter[0] != 0) ++clashes;
        counter[0] = static_cast<uint32_t>(t + 1);
        std::this_thread::yield();
        if (counter[0] != t + 1) ++clashes;
        counter[0] = 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(empty, 0);
}

// Graphs die on a thread of the driver, whatever other threads do.
TEST(WorkspacePool, GraphsDieWhileOthersLease) {
  FakeMemory memory;
  WorkspacePool pool(memory);
  constexpr uint64_t kGraphs = 200;
  for (uint64_t id = 1; id <= kGraphs; ++id) ASSERT_NE(place_of(pool, capture(1000 + id, 1), kMiB), nullptr);
  const size_t before = memory.blocks.size();
  const auto records = memory.on_death;
  std::thread driver([&] {
    for (const auto& [graph, death] : records) death.first(death.second);
  });
  for (int i = 0; i < 2000; ++i) EXPECT_TRUE(pool.lease(stream(1), kMiB));
  driver.join();
  for (uint64_t id = 1; id <= kGraphs; ++id) place_of(pool, capture(2000 + id, 1), kMiB);
  EXPECT_LE(memory.blocks.size(), before + 1) << "the dead graphs' regions serve the new ones";
}

}  // namespace
}  // namespace skgemm
