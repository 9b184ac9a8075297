#include <algorithm>
#include <chrono>

#include "src/cli/bench_stage.h"

namespace skgemm::cli {
namespace {

constexpr int64_t kPoolBytes = int64_t{1} << 30;    // inputs, and outputs: many times the L2 cache
constexpr int64_t kBlockBytes = int64_t{64} << 20;  // random numbers made on the host

int64_t pool_bytes(const std::vector<BenchCase>& cases, int64_t (*bytes_of)(const BenchCase&)) {
  int64_t most = kPoolBytes;
  for (const BenchCase& c : cases) most = std::max(most, bytes_of(c));
  return most;
}

// Adds the seconds of its life.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point begin_ = Clock::now();
};

const char* word_of(Spent what) {
  constexpr const char* words[] = {"filling operands", "warming up", "capturing graphs", "timing", "checking"};
  return words[static_cast<int>(what)];
}

}  // namespace

Stage::Stage(const std::vector<BenchCase>& cases, int64_t l2_bytes)
    : stream_(make_stream()),
      begin_(make_event()),
      end_(make_event()),
      inputs_(static_cast<size_t>(pool_bytes(cases, input_bytes)), "operands"),
      outputs_(static_cast<size_t>(pool_bytes(cases, output_bytes)), "results"),
      read_back_(make_pinned(kSamples * sizeof(double))),  // room for any element
      l2_bytes_(l2_bytes) {}

void Stage::set(const BenchCase& c) {
  if (references_.valid()) references_.wait();  // of a case that was given up
  fill_inputs(c.type);
  case_ = c;
  layout_ = make_layout(c, static_cast<int64_t>(inputs_.size()), static_cast<int64_t>(outputs_.size()));
}

void Stage::fill_inputs(DataType type) {
  if (filled_ == type) return;
  const Stopwatch watch(seconds_[Spent::operands]);
  // An odd number of elements, so that neighbouring sets do not hold the same numbers.
  const int64_t elements = kBlockBytes / size_of(type) - 61;
  const Block& block = blocks_.try_emplace(type, type, elements, 1).first->second;
  for (size_t at = 0; at < inputs_.size(); at += block.size()) {
    const size_t bytes = std::min(block.size(), inputs_.size() - at);
    const void* from = at == 0 ? static_cast<const void*>(block.data()) : inputs_.data();
    must(cudaMemcpy(inputs_.data() + at, from, bytes, cudaMemcpyDefault), "filling the operands");
  }
  filled_ = type;
}

CallOperands Stage::operands(int64_t call) const {
  return {inputs_.data() + layout_.a_offset(call), inputs_.data() + layout_.b_offset(call),
          outputs_.data() + layout_.c_offset(call)};
}

// Fills the results with NaN (zeros where beta reads them); on the way it empties the L2 cache of operands, and gives
// the host time to enqueue what is measured next.
void Stage::clear_results(int64_t calls) {
  const int64_t used = std::min(calls, layout_.c_sets) * layout_.c_bytes;
  const auto bytes = std::min(outputs_.size(), static_cast<size_t>(std::max(used, 2 * l2_bytes_)));
  must(cudaMemsetAsync(outputs_.data(), case_.beta == 0 ? 0xff : 0, bytes, stream_.get()), "clearing the results");
}

// Microseconds that the enqueued work takes on the device.
double Stage::time(const std::function<void()>& enqueue) {
  must(cudaEventRecord(begin_.get(), stream_.get()), "an event");
  enqueue();
  must(cudaEventRecord(end_.get(), stream_.get()), "an event");
  must(cudaStreamSynchronize(stream_.get()), "running on the device");
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "an event's time");
  return 1e3 * static_cast<double>(ms);
}

std::string Stage::enqueue(Contender& contender, int64_t calls) {
  for (int64_t call = 0; call < calls; ++call) {
    if (std::string words = contender.multiply(case_, operands(call)); !words.empty()) return words;
  }
  return "";
}

double Stage::warm_up(Contender& contender, int64_t calls, std::string& failed) {
  const Stopwatch watch(seconds_[Spent::warming]);
  failed = enqueue(contender, 1);
  if (!failed.empty()) return NAN;
  return time([&] { failed = enqueue(contender, calls); }) / static_cast<double>(calls);
}

GraphExec Stage::capture(Contender& contender, int64_t calls, std::string& failed) {
  const Stopwatch watch(seconds_[Spent::capturing]);
  must(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeRelaxed), "beginning a capture");
  failed = enqueue(contender, calls);
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream_.get(), &captured);
  const Graph graph(captured);
  if (!failed.empty()) {
    failed = fmt::format("in a capture: {}", failed);
    return {};
  }
  if (ended != cudaSuccess) {
    failed = fmt::format("can't be captured in a graph: {}", cudaGetErrorString(ended));
    return {};
  }
  cudaGraphExec_t exec = nullptr;
  must(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a graph");
  GraphExec result(exec);
  must(cudaGraphUpload(exec, stream_.get()), "uploading a graph");
  return result;
}

double Stage::replay(const GraphExec& graph, int64_t calls) {
  const Stopwatch watch(seconds_[Spent::timing]);
  clear_results(calls);
  return time([&] { must(cudaGraphLaunch(graph.get(), stream_.get()), "launching a graph"); }) /
         static_cast<double>(calls);
}

double Stage::stream_time(Contender& contender, int64_t calls, std::string& failed) {
  const Stopwatch watch(seconds_[Spent::timing]);
  clear_results(calls);
  return time([&] { failed = enqueue(contender, calls); }) / static_cast<double>(calls);
}

void Stage::begin_references(int64_t calls) {
  samples_.clear();
  references_ = std::async(std::launch::async, [this, calls, &block = blocks_.at(case_.type)] {
    return draw_samples(case_, layout_, block, calls, 1);
  });
}

std::string Stage::judge_all() {
  const auto place = [&](size_t i) { return read_back_.get() + i * sizeof(double); };
  for (size_t i = 0; i < samples_.size(); ++i) {
    must(cudaMemcpyAsync(place(i), outputs_.data() + offset_of(samples_[i], case_, layout_),
                         static_cast<size_t>(size_of(case_.out)), cudaMemcpyDeviceToHost, stream_.get()),
         "reading a result");
  }
  must(cudaStreamSynchronize(stream_.get()), "reading the results");
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (std::string words = judge(samples_[i], element_value(case_.out, place(i))); !words.empty()) return words;
  }
  return "";
}

std::string Stage::check(Contender& contender, std::string& failed) {
  const Stopwatch watch(seconds_[Spent::checking]);
  if (references_.valid()) samples_ = references_.get();
  if (case_.beta != 0) {
    clear_results(1);
    for (int i = 0; i < 2 && failed.empty(); ++i) failed = enqueue(contender, 1);
  }
  return failed.empty() ? judge_all() : "";
}

std::string Stage::spent() const {
  std::string text =
      fmt::format("{:.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_of_all_).count());
  const char* before = ", of which ";
  for (const auto& [what, seconds] : seconds_) {
    text += fmt::format("{}{} {:.1f}", before, word_of(what), seconds);
    before = ", ";
  }
  return text;
}

}  // namespace skgemm::cli
