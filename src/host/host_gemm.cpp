#include "src/host/host_gemm.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "src/degenerate.h"
#include "src/fault.h"
#include "src/gpu.h"
#include "src/host/cpu_gemm.h"
#include "src/host/cpu_rate.h"
#include "src/host/offload.h"
#include "src/host/quietly.h"
#include "src/log.h"

namespace skgemm {
namespace {

enum class Offload { automatic, always, never };

Offload read_offload() {
  const char* text = std::getenv("SKGEMM_OFFLOAD");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "auto") == 0) return Offload::automatic;
  if (std::strcmp(text, "always") == 0) return Offload::always;
  if (std::strcmp(text, "never") == 0) return Offload::never;
  quietly([text] {
    log::warn(std::string("SKGEMM_OFFLOAD=") + text + " is not known; use auto, always or never. Going on with auto");
  });
  return Offload::automatic;
}

Offload offload_setting() {
  static const Offload setting = read_offload();
  return setting;
}

// Where a product goes, and why; the words are made only when somebody reads them.
struct Decision {
  bool gpu;
  std::string why;
};

Decision decide(bool gpu, const char* why) { return {gpu, log::calls() ? why : std::string()}; }

// The product as staging lays it out on the device: aligned columns.
GemmCall staged_layout(GemmCall call) {
  constexpr int64_t kElements = 64;
  for (Matrix* x : {&call.a, &call.b, &call.c}) *x = {nullptr, ceil_div(x->ld, kElements) * kElements, 0};
  return call;
}

Decision decide_by_model(const GemmCall& call) {
  const auto link = gpu::link_model();
  if (!link) return decide(false, "the link to the GPU could not be measured");
  Plan plan{};
  if (const Status status = gpu::plan(staged_layout(call), {}, &plan); !status.ok()) return {false, status.words};
  const OffloadEstimate estimate = estimate_offload(call, {.to_device_gbs = link->to_device_gbs,
                                                           .from_device_gbs = link->from_device_gbs,
                                                           .startup_us = link->startup_us,
                                                           .gpu_us = plan.predicted_us,
                                                           .cpu_gflops = cpu_gflops(call.in)});
  if (!log::calls()) return {estimate.gpu_pays(), {}};
  const auto us = [](double value) { return std::to_string(static_cast<int64_t>(value)) + " us"; };
  return {estimate.gpu_pays(), "expected: gpu " + us(estimate.gpu_us) + " with transfers, cpu " + us(estimate.cpu_us)};
}

Decision decide_for_host_memory(const GemmCall& call) {
  const Offload setting = offload_setting();
  if (setting == Offload::never) return decide(false, "SKGEMM_OFFLOAD=never");
  if (degenerate(call) != Degenerate::no) return decide(false, "no product to compute");
  if (setting == Offload::automatic && flops(call) < kLeastOffloadFlops) return decide(false, "small");
  if (gpu::Availability gpu = gpu::availability(); !gpu.usable) return {false, std::move(gpu.why_not)};
  if (setting == Offload::always) return decide(true, "SKGEMM_OFFLOAD=always");
  return decide_by_model(call);
}

void run_on_cpu(const GemmCall& call, const CpuEntry& cpu) {
  if (degenerate(call) != Degenerate::no || cpu.run == nullptr || !cpu.run(cpu.call)) cpu_gemm(call);
}

// What most calls are: nothing to ask and nothing to say.
bool plainly_cpu(const GemmCall& call, bool logged) {
  return !logged && !gpu::initialized() && offload_setting() != Offload::always &&
         flops(call) < kLeastOffloadFlops;
}

// Whether an operand that the product touches is in device memory, where no CPU BLAS can go, or in managed memory,
// which a kernel of the program's may still be writing: the GPU serves those, behind that kernel.
bool has_device_operand(const GemmCall& call) {
  if (!gpu::initialized() || call.m == 0 || call.n == 0) return false;
  const auto on_device = [](const Matrix& x) { return gpu::memory_of(x.data) != gpu::Memory::host; };
  if (on_device(call.c)) return true;
  return degenerate(call) == Degenerate::no && (on_device(call.a) || on_device(call.b));
}

struct Outcome {
  const char* on;
  std::string why;
};

Outcome run_on_device_memory(const GemmCall& call) {
  bool dirty = false;
  const Status status = gpu::gemm_staged(call, &dirty);
  if (status.ok()) return {"gpu", log::calls() ? "operands in device or managed memory" : ""};
  log::warn(std::string(call.name) + ": an operand is in device or managed memory and the GPU failed (" + status.words +
            "); C is " + (dirty ? "partly written" : "unchanged"));
  return {"gpu", "failed: " + status.words};
}

// Tries the GPU; true when there is nothing left to do. Otherwise C is as it was, and `why` says what happened. `dirty`
// is set when C's old values are gone.
bool run_on_gpu(const GemmCall& call, std::string& why, bool& dirty) {
  const Status status = gpu::gemm_staged(call, &dirty);
  if (status.ok()) return true;
  why = "the GPU failed (" + status.words + ")";
  log::warn(std::string(call.name) + ": " + why +
            (dirty ? " while it was writing C, whose old values are lost: C is wrong" : "; computed on the CPU"));
  return dirty;
}

Outcome run(const GemmCall& call, const CpuEntry& cpu) {
  Decision decision{false, {}};
  const bool device_operand = has_device_operand(call);
  bool dirty = false;
  try {
    if (device_operand) return run_on_device_memory(call);
    decision = decide_for_host_memory(call);
    if (decision.gpu && run_on_gpu(call, decision.why, dirty)) return {"gpu", std::move(decision.why)};
  } catch (const std::exception&) {  // no memory for words
    if (device_operand || dirty) return {"gpu", {}};
  }
  run_on_cpu(call, cpu);
  return {"cpu", std::move(decision.why)};
}

}  // namespace

void host_gemm(const GemmCall& call, const CpuEntry& cpu) {
  if (CallDepth::nested()) {
    // A CPU BLAS that comes back to us for an entry point it lacks would come back for ever.
    if (cpu.run == nullptr || !cpu.run(cpu.call)) builtin_gemm(call);
    return;
  }
  const CallDepth depth;
  SKGEMM_INJECT_FAULT(call, nullptr);
  bool logged = false;
  quietly([&logged] { logged = log::calls(); });
  if (plainly_cpu(call, logged)) return run_on_cpu(call, cpu);
  if (!logged) {
    run(call, cpu);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run(call, cpu);
  const std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - begin;
  quietly([&] { log::call(call, outcome.on, us.count(), outcome.why); });
}

}  // namespace skgemm
