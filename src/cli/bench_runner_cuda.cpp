#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "src/cli/bench_check.h"
#include "src/cli/bench_runner.h"
#include "src/cli/command.h"
#include "src/cli/contender.h"
#include "src/cli/cuda_raii.h"
#include "src/cli/device.h"

namespace skgemm::cli {
namespace {

constexpr int64_t kPoolBytes = int64_t{1} << 30;         // inputs, and outputs: many times the L2 cache
constexpr int64_t kBlockBytes = int64_t{64} << 20;       // random numbers made on the host
constexpr size_t kOurWorkspace = size_t{256} << 20;      // what the selector may ask for (heuristics/select.h)
constexpr size_t kCublasWorkspace = size_t{64} << 20;    // twice what its documentation recommends for Hopper
constexpr double kTargetUs = 1500;                       // of one measurement
constexpr int kMostCalls = 512, kMostStreamCalls = 256;  // in one measurement
constexpr int kEstimateCalls = 3;

// A contender on the case at hand.
struct Entrant {
  Contender* contender;
  Timing* timing;
  GraphExec graph{};
  std::vector<double> graph_us{}, stream_us{};

  bool alive() const { return timing->failed.empty(); }
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

int64_t pool_bytes(const std::vector<BenchCase>& cases, int64_t (*bytes_of)(const BenchCase&)) {
  int64_t most = kPoolBytes;
  for (const BenchCase& c : cases) most = std::max(most, bytes_of(c));
  return most;
}

class CudaRunner : public Runner {
 public:
  CudaRunner(const RunnerOptions& options, const Machine& machine, const std::vector<BenchCase>& cases)
      : options_(options),
        machine_(machine),
        device_(machine.devices.front().model),
        stream_(make_stream()),
        begin_(make_event()),
        end_(make_event()),
        inputs_(static_cast<size_t>(pool_bytes(cases, input_bytes)), "operands"),
        outputs_(static_cast<size_t>(pool_bytes(cases, output_bytes)), "results"),
        our_workspace_(kOurWorkspace, "our workspace"),
        cublas_workspace_(kCublasWorkspace, "cuBLAS's workspace") {
    const Workplace ours{stream_.get(), our_workspace_.data(), our_workspace_.size()};
    ours_ = std::make_unique<OurContender>(ours, ScheduleKind{});
    if (options.schedules) {
      for (const ScheduleKind kind : forced_schedules()) forced_.push_back(std::make_unique<OurContender>(ours, kind));
    }
    if (options.cublas) load_cublas();
  }

  Header header() const override {
    return {
        {"part", fmt::format("{}, {} SMs", device_.name, device_.sms)},
        {"clock", fmt::format("{:.2f} GHz maximum", device_.clock_ghz)},
        {"driver", fmt::format("{} (CUDA {})", machine_.driver.empty() ? "?" : machine_.driver, machine_.cuda_driver)},
        {"CUDA", machine_.cuda_runtime},
        {"cuBLAS", cublas_ ? cublas_->version() : why_no_cublas_}};
  }

  Result run(const BenchCase& c) override {
    fill_inputs(c.type);
    case_ = c;
    layout_ = make_layout(c, static_cast<int64_t>(inputs_.size()), static_cast<int64_t>(outputs_.size()));
    Result result = describe();
    std::vector<Entrant> entrants = enter(result);
    calls_ = estimate(entrants);
    for (Entrant& e : entrants) {
      if (e.alive()) e.timing->failed = capture(e);
    }
    const std::vector<Sample> samples = draw_samples(c, layout_, blocks_.at(c.type), calls_, 1);
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      for (Entrant& e : entrants) {
        if (e.alive()) measure(e, repeat + 1 == options_.repeats && c.beta == 0 ? &samples : nullptr);
      }
    }
    for (Entrant& e : entrants) {
      if (!e.alive()) continue;
      e.timing->graph_us = median(e.graph_us);
      e.timing->stream_us = median(e.stream_us);
      if (c.beta != 0) check_accumulating(e, samples);
    }
    return result;
  }

 private:
  void load_cublas() {
    try {
      cublas_ = std::make_unique<CublasContender>(
          Workplace{stream_.get(), cublas_workspace_.data(), cublas_workspace_.size()},
          Cublas::load(options_.cublas_path));
    } catch (const std::runtime_error& reason) {
      if (!options_.cublas_path.empty()) throw UsageError(reason.what());
      why_no_cublas_ = fmt::format("none: {}", reason.what());
    }
  }

  void fill_inputs(DataType type) {
    if (filled_ == type) return;
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

  CallOperands operands(int64_t call) const {
    return {inputs_.data() + layout_.a_offset(call), inputs_.data() + layout_.b_offset(call),
            outputs_.data() + layout_.c_offset(call)};
  }

  Result describe() {
    const Roofline bound = roofline(case_, device_);
    const skgemm_plan_t plan = ours_->plan(case_, operands(0));
    return {.c = case_,
            .bound_us = bound.us,
            .memory_bound = bound.memory_bound,
            .kernel = plan.kernel,
            .schedule = name_of(static_cast<ScheduleKind>(plan.schedule)),
            .ctas = plan.ctas,
            .predicted_us = plan.kernel[0] != '\0' ? plan.predicted_us : NAN,
            .ours = {},
            .cublas = {},
            .forced = {}};
  }

  std::vector<Entrant> enter(Result& result) {
    std::vector<Entrant> entrants;
    entrants.push_back({ours_.get(), &result.ours});
    if (cublas_) entrants.push_back({cublas_.get(), &result.cublas});
    result.forced.resize(forced_.size());
    for (size_t i = 0; i < forced_.size(); ++i) {
      // A schedule that this product can't have degrades to another one, whose time must not stand under its name.
      const skgemm_plan_t plan = forced_[i]->plan(case_, operands(0));
      const bool degraded = plan.kernel[0] != '\0' && static_cast<ScheduleKind>(plan.schedule) != forced_schedules()[i];
      if (!degraded) entrants.push_back({forced_[i].get(), &result.forced[i]});
    }
    return entrants;
  }

  // Fills the outputs with NaN (zeros where beta reads them); on the way it empties the L2 cache of operands, and gives
  // the host time to enqueue what is measured next.
  void clear_outputs() {
    const int64_t used = std::min<int64_t>(calls_, layout_.c_sets) * layout_.c_bytes;
    const auto bytes = std::min(outputs_.size(), static_cast<size_t>(std::max(used, 2 * device_.l2_bytes)));
    must(cudaMemsetAsync(outputs_.data(), case_.beta == 0 ? 0xff : 0, bytes, stream_.get()), "clearing the results");
  }

  // Microseconds that the enqueued work takes on the device.
  double time(const std::function<void()>& enqueue) {
    must(cudaEventRecord(begin_.get(), stream_.get()), "an event");
    enqueue();
    must(cudaEventRecord(end_.get(), stream_.get()), "an event");
    must(cudaStreamSynchronize(stream_.get()), "running on the device");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "an event's time");
    return 1e3 * static_cast<double>(ms);
  }

  // "" or why a call failed.
  std::string enqueue(Contender& contender, int64_t calls) {
    for (int64_t call = 0; call < calls; ++call) {
      if (std::string words = contender.multiply(case_, operands(call)); !words.empty()) return words;
    }
    return "";
  }

  // Warms everybody up; returns how many calls make a measurement long enough.
  int64_t estimate(std::vector<Entrant>& entrants) {
    double logs = 0;
    int alive = 0;
    for (Entrant& e : entrants) {
      e.timing->failed = enqueue(*e.contender, 1);
      if (!e.alive()) continue;
      const double us = time([&] { e.timing->failed = enqueue(*e.contender, kEstimateCalls); }) / kEstimateCalls;
      logs += std::log(us);
      ++alive;
    }
    const double us = alive > 0 ? std::exp(logs / alive) : kTargetUs;
    return std::clamp<int64_t>(std::llround(kTargetUs / us), us < 2 * kTargetUs ? 2 : 1, kMostCalls);
  }

  std::string capture(Entrant& e) {
    must(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeRelaxed), "beginning a capture");
    const std::string words = enqueue(*e.contender, calls_);
    cudaGraph_t captured = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_.get(), &captured);
    const Graph graph(captured);
    if (!words.empty()) return fmt::format("in a capture: {}", words);
    if (ended != cudaSuccess) return fmt::format("can't be captured in a graph: {}", cudaGetErrorString(ended));
    cudaGraphExec_t exec = nullptr;
    must(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a graph");
    e.graph.reset(exec);
    must(cudaGraphUpload(exec, stream_.get()), "uploading a graph");
    return "";
  }

  void measure(Entrant& e, const std::vector<Sample>* samples) {
    clear_outputs();
    e.graph_us.push_back(time([&] { must(cudaGraphLaunch(e.graph.get(), stream_.get()), "launching a graph"); }) /
                         static_cast<double>(calls_));
    if (samples != nullptr) e.timing->wrong = check(*samples);
    clear_outputs();
    const int64_t calls = std::min<int64_t>(calls_, kMostStreamCalls);
    e.stream_us.push_back(time([&] { e.timing->failed = enqueue(*e.contender, calls); }) / static_cast<double>(calls));
  }

  std::string check(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) {
      double bytes = 0;  // room for any element
      must(cudaMemcpy(&bytes, outputs_.data() + offset_of(sample, case_, layout_),
                      static_cast<size_t>(size_of(case_.out)), cudaMemcpyDeviceToHost),
           "reading a result");
      if (std::string words = judge(sample, element_value(case_.out, &bytes)); !words.empty()) return words;
    }
    return "";
  }

  // beta != 0: zeros, then the same call twice (draw_samples).
  void check_accumulating(Entrant& e, const std::vector<Sample>& samples) {
    clear_outputs();
    for (int i = 0; i < 2 && e.alive(); ++i) e.timing->failed = enqueue(*e.contender, 1);
    must(cudaStreamSynchronize(stream_.get()), "running on the device");
    e.timing->wrong = check(samples);
  }

  RunnerOptions options_;
  Machine machine_;
  DeviceModel device_;
  Stream stream_;
  Event begin_, end_;
  DeviceMemory inputs_, outputs_, our_workspace_, cublas_workspace_;
  std::unique_ptr<OurContender> ours_;
  std::vector<std::unique_ptr<OurContender>> forced_;
  std::unique_ptr<CublasContender> cublas_;
  std::string why_no_cublas_ = "not asked for";
  std::map<DataType, Block> blocks_;
  std::optional<DataType> filled_;
  // The case at hand.
  BenchCase case_{};
  Layout layout_{};
  int64_t calls_ = 1;
};

}  // namespace

std::unique_ptr<Runner> make_runner(const RunnerOptions& options, const std::vector<BenchCase>& cases) {
  const Machine machine = find_machine();
  if (machine.devices.empty()) throw UsageError(fmt::format("bench needs a GPU: {}", machine.why_none));
  if (!machine.devices.front().usable)
    throw UsageError(fmt::format("bench needs sm_80 or later; {} is older", machine.devices.front().model.name));
  return std::make_unique<CudaRunner>(options, machine, cases);
}

}  // namespace skgemm::cli
