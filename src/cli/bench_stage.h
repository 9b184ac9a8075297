// Where contenders take turns on one case: pools of operands and results, one stream, its clock, and the check of what
// they leave. CUDA builds only.
#pragma once
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <optional>

#include "src/cli/bench_check.h"
#include "src/cli/contender.h"
#include "src/cli/cuda_raii.h"

namespace skgemm::cli {

// What the host's time goes to.
enum class Spent { operands, warming, capturing, timing, checking };

class Stage {
 public:
  // Pools large enough for all cases. `l2_bytes`: what must be written to empty the cache of operands.
  Stage(const std::vector<BenchCase>& cases, int64_t l2_bytes);

  CUstream_st* stream() const { return stream_.get(); }
  void set(const BenchCase& c);
  CallOperands operands(int64_t call) const;

  // "" or why a call failed.
  std::string enqueue(Contender& contender, int64_t calls);
  // Runs one call, then `calls` more: microseconds for each of these.
  double warm_up(Contender& contender, int64_t calls, std::string& failed);
  // `calls` calls as a graph; an empty one, and why, when that fails.
  GraphExec capture(Contender& contender, int64_t calls, std::string& failed);
  // Microseconds per call, of a graph of `calls` and of that many calls one by one, on cleared results.
  double replay(const GraphExec& graph, int64_t calls);
  double stream_time(Contender& contender, int64_t calls, std::string& failed);

  // Begins to compute, beside the device's work, what some results of `calls` calls must be.
  void begin_references(int64_t calls);
  // What is wrong with the results that the last calls left; "" when nothing. With beta != 0 one call is done twice on
  // cleared results first (draw_samples).
  std::string check(Contender& contender, std::string& failed);

  // "61.2 s, of which timing 30.1, capturing graphs 12.0, ..."
  std::string spent() const;

 private:
  void fill_inputs(DataType type);
  void clear_results(int64_t calls);
  std::string judge_all();
  double time(const std::function<void()>& enqueue);

  Stream stream_;
  Event begin_, end_;
  DeviceMemory inputs_, outputs_;
  PinnedMemory read_back_;
  int64_t l2_bytes_;
  std::map<DataType, Block> blocks_;
  std::optional<DataType> filled_;
  BenchCase case_{};
  Layout layout_{};
  std::vector<Sample> samples_;  // of the case at hand
  std::future<std::vector<Sample>> references_;
  std::chrono::steady_clock::time_point begin_of_all_ = std::chrono::steady_clock::now();
  std::map<Spent, double> seconds_;
};

}  // namespace skgemm::cli
