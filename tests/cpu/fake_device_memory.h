// A device made of host memory, for the tests of src/workspace.h.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "src/workspace.h"

namespace skgemm {

// Streams and captures are numbers here; marks pass when the test says so.
class FakeMemory final : public DeviceMemory {
 public:
  ~FakeMemory() override {
    for (const auto& [data, bytes] : blocks) std::free(data);
  }

  char* allocate(size_t bytes) override {
    ++asked;
    if (used() + bytes > capacity) return nullptr;
    auto* data = static_cast<char*>(std::aligned_alloc(kWorkspaceAlignment, bytes));
    std::memset(data, 0xab, std::min(bytes, 2 * kCounterBytes));
    blocks[data] = bytes;
    return data;
  }
  void free(char* data) override {
    ASSERT_EQ(blocks.erase(data), 1u);
    std::free(data);
  }
  bool clear(char* data, size_t bytes, const StreamState& stream) override {
    std::memset(data, 0, bytes);
    (stream.graph == nullptr ? cleared_in_order : cleared_at_once)++;
    return true;
  }
  CUevent_st* mark(const StreamState&, CUevent_st* mark) override {
    if (mark == nullptr) mark = reinterpret_cast<CUevent_st*>(++marks);
    pending.insert(mark);
    return mark;
  }
  bool passed(CUevent_st* mark) override { return !pending.contains(mark); }
  void forget(CUevent_st* mark) override { pending.erase(mark); }
  CUgraphNode_st* tail(const StreamState& stream) override { return tails[stream.stream]; }
  bool follows(const StreamState& stream, CUgraphNode_st* node) override { return tails[stream.stream] == node; }
  bool when_graph_dies(const StreamState& stream, void (*gone)(void*), void* record) override {
    if (graphs_refuse) return false;
    on_death.emplace(stream.graph, std::pair{gone, record});
    return true;
  }

  size_t used() const {
    size_t sum = 0;
    for (const auto& [data, bytes] : blocks) sum += bytes;
    return sum;
  }
  void destroy(CUgraph_st* graph) {
    const auto [begin, end] = on_death.equal_range(graph);
    for (auto it = begin; it != end; ++it) it->second.first(it->second.second);
    on_death.erase(begin, end);
  }

  size_t capacity = SIZE_MAX;
  int asked = 0, cleared_in_order = 0, cleared_at_once = 0;
  bool graphs_refuse = false;
  std::map<char*, size_t> blocks;
  uintptr_t marks = 0;
  std::set<CUevent_st*> pending;
  std::map<CUstream_st*, CUgraphNode_st*> tails;
  std::multimap<CUgraph_st*, std::pair<void (*)(void*), void*>> on_death;
};

}  // namespace skgemm
