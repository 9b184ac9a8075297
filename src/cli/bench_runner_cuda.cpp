// The comparison: ours, forced schedules of ours and cuBLAS, taking turns on each case.
#include <algorithm>
#include <cmath>

#include "src/cli/bench_runner.h"
#include "src/cli/bench_sweep_cuda.h"
#include "src/cli/command.h"
#include "src/cli/device.h"

namespace skgemm::cli {
namespace {

constexpr size_t kCublasWorkspace = size_t{64} << 20;  // twice what its documentation recommends for Hopper
constexpr double kTargetUs = 1500;                     // of one measurement
constexpr int64_t kMostCalls = 256;                    // in one measurement
constexpr int kEstimateCalls = 3;

// A contender on the case at hand.
struct Entrant {
  Contender* contender;
  Timing* timing;
  GraphExec graph{};
  std::vector<double> graph_us{};

  bool alive() const { return timing->failed.empty(); }
};

class CudaRunner : public Runner {
 public:
  CudaRunner(const RunnerOptions& options, const Machine& machine, const std::vector<BenchCase>& cases)
      : options_(options),
        machine_(machine),
        device_(machine.devices.front().model),
        stage_(cases, device_.l2_bytes),
        cublas_workspace_(kCublasWorkspace, "cuBLAS's workspace"),
        ours_(stage_.stream()),
        sweeper_(stage_, device_, options.watchdog_s) {
    if (options.schedules) {
      for (const ScheduleKind kind : forced_schedules()) {
        forced_.push_back(std::make_unique<OurContender>(stage_.stream()));
        forced_.back()->force(kind, 0);
      }
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

  std::string spent() const override { return stage_.spent(); }

  Result run(const BenchCase& c, bool check) override {
    stage_.set(c);
    Result result = describe(c);
    result.checked = check;
    std::vector<Entrant> entrants = enter(result);
    const int64_t calls = estimate(entrants);
    if (check) stage_.begin_references(calls);
    for (Entrant& e : entrants) {
      if (e.alive()) e.graph = stage_.capture(*e.contender, calls, e.timing->failed);
    }
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      for (Entrant& e : entrants) {
        if (!e.alive()) continue;
        e.graph_us.push_back(stage_.replay(e.graph, calls));
        if (check && repeat + 1 == options_.repeats) e.timing->wrong = stage_.check(*e.contender, e.timing->failed);
      }
    }
    for (Entrant& e : entrants) {
      if (!e.alive()) continue;
      e.timing->graph_us = distribution(std::move(e.graph_us)).median;
      e.timing->stream_us = stage_.stream_time(*e.contender, calls, e.timing->failed);
    }
    return result;
  }

  Sweep sweep(const BenchCase& c, bool check) override {
    stage_.set(c);
    return sweeper_.sweep(c, check);
  }

 private:
  void load_cublas() {
    try {
      cublas_ = std::make_unique<CublasContender>(
          Workplace{stage_.stream(), cublas_workspace_.data(), cublas_workspace_.size()},
          Cublas::load(options_.cublas_path));
    } catch (const std::runtime_error& reason) {
      if (!options_.cublas_path.empty()) throw UsageError(reason.what());
      why_no_cublas_ = fmt::format("none: {}", reason.what());
    }
  }

  Result describe(const BenchCase& c) {
    const Roofline bound = roofline(c, device_);
    const skgemm_plan_t plan = ours_.plan(c, stage_.operands(0));
    Result r{.c = c,
             .bound_us = bound.us,
             .memory_bound = bound.memory_bound,
             .kernel = plan.kernel,
             .schedule = "",
             .ours = {},
             .cublas = {},
             .forced = {}};
    r.schedule = name_of(static_cast<ScheduleKind>(plan.schedule));
    r.ctas = plan.ctas;
    r.tile_m = plan.tile_m;
    r.tile_n = plan.tile_n;
    r.cluster = {plan.cluster_m, plan.cluster_n};
    r.tiles = plan.tiles;
    r.swapped = plan.swapped != 0;
    r.under_one_wave = plan.tiles * r.cluster.ctas() < device_.sms;
    if (!r.kernel.empty()) r.predicted_us = plan.predicted_us;
    return r;
  }

  std::vector<Entrant> enter(Result& result) {
    std::vector<Entrant> entrants;
    entrants.push_back({&ours_, &result.ours});
    if (cublas_) entrants.push_back({cublas_.get(), &result.cublas});
    result.forced.resize(forced_.size());
    for (size_t i = 0; i < forced_.size(); ++i) {
      // A schedule that this product can't have degrades to another one, whose time must not stand under its name.
      const skgemm_plan_t plan = forced_[i]->plan(result.c, stage_.operands(0));
      const bool degraded = plan.kernel[0] != '\0' && static_cast<ScheduleKind>(plan.schedule) != forced_schedules()[i];
      if (!degraded) entrants.push_back({forced_[i].get(), &result.forced[i]});
    }
    return entrants;
  }

  // Warms everybody up; returns how many calls make a measurement long enough.
  int64_t estimate(std::vector<Entrant>& entrants) {
    double logs = 0;
    int alive = 0;
    for (Entrant& e : entrants) {
      const double us = stage_.warm_up(*e.contender, kEstimateCalls, e.timing->failed);
      if (!e.alive()) continue;
      logs += std::log(us);
      ++alive;
    }
    const double us = alive > 0 ? std::exp(logs / alive) : kTargetUs;
    return std::clamp<int64_t>(std::llround(kTargetUs / us), us < 2 * kTargetUs ? 2 : 1, kMostCalls);
  }

  RunnerOptions options_;
  Machine machine_;
  DeviceModel device_;
  Stage stage_;
  DeviceMemory cublas_workspace_;
  OurContender ours_;
  Sweeper sweeper_;
  std::vector<std::unique_ptr<OurContender>> forced_;
  std::unique_ptr<CublasContender> cublas_;
  std::string why_no_cublas_ = "not asked for";
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
