// `skgemm info`: what this build is, what it would run on, and with which constants.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "heuristics/cost_model.h"
#include "skgemm.h"
#include "src/cli/command.h"
#include "src/cli/device.h"
#include "src/cli/words.h"

extern "C" {
// The library's own BLAS entries (src/abi/symbols.def).
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
}

namespace skgemm::cli {
namespace {

using nlohmann::json;

json environment() {
  json set = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos || (!name.starts_with("SKGEMM_") && name != "CUDA_VISIBLE_DEVICES")) continue;
    set[std::string(name)] = std::string(text.substr(equals + 1));
  }
  return set;
}

template <class T>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                      const T*, const int*, const T*, T*, const int*);

// A small product on the CPU; true when its result is right.
template <class T>
bool multiply_on_cpu(Gemm<T> gemm) {
  const int n = 2;
  const T one = 1, zero = 0, a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  T c[] = {0, 0, 0, 0};
  gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
  return c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46;
}

// Where the library's log says that a routine of the CPU was found.
std::string routine_in_log(std::string_view log, std::string_view routine) {
  const std::string mark = fmt::format("{} of the CPU: ", routine);
  const size_t at = log.find(mark);
  if (at == std::string_view::npos) return "none";
  const std::string_view rest = log.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

// Asks the library itself: two small products that must stay on the CPU, with its log in a memory file. The library
// reads its environment at its first call, which these are.
json cpu_blas() {
  const int file = memfd_create("skgemm-log", 0);
  setenv("SKGEMM_VERBOSE", "2", 1);
  setenv("SKGEMM_OFFLOAD", "never", 1);
  setenv("SKGEMM_LOG", fmt::format("/proc/self/fd/{}", file).c_str(), 1);
  const bool right[] = {multiply_on_cpu<float>(sgemm_), multiply_on_cpu<double>(dgemm_)};
  std::string log(1 << 16, '\0');
  const ssize_t length = pread(file, log.data(), log.size(), 0);
  log.resize(length > 0 ? static_cast<size_t>(length) : 0);
  close(file);
  return {{"sgemm_", {{"library", routine_in_log(log, "sgemm_")}, {"works", right[0]}}},
          {"dgemm_", {{"library", routine_in_log(log, "dgemm_")}, {"works", right[1]}}}};
}

// What the constants of a kernel with a run-time width are made of, by their names in heuristics/cost_model.h.
json width_facts(const WidthConstants& k) {
  return {{"a0", k.a0},
          {"a_column", k.a_column},
          {"late", k.late},
          {"step_column", k.step_column},
          {"sm_gbs", k.sm_gbs},
          {"l2_gbs", k.l2_gbs},
          {"l2_skewed_gbs", k.l2_skewed_gbs},
          {"write_gbs", k.write_gbs},
          {"write_all_gbs", k.write_all_gbs},
          {"read_gbs", k.read_gbs},
          {"read_all_gbs", k.read_all_gbs},
          {"arrive", k.arrive},
          {"e0", k.e0},
          {"e_column", k.e_column},
          {"copy0", k.copy0},
          {"copy_gbs", k.copy_gbs},
          {"c_unaligned", k.c_unaligned},
          {"dram_share", k.dram_share}};
}

json kernel_facts(const KernelRow& row, const DeviceModel& device) {
  const ConstantsSource constants = constants_for(row, device);
  const CostConstants& k = constants.value;
  json facts = {{"type", word_of(row.in)},
                {"kernel", row.name},
                {"tile", {row.tile_m, row.tile_n, row.tile_k}},
                {"width_step", row.width_step},
                {"most_clustered", row.most_clustered},
                {"stages", row.stages},
                {"threads", row.threads},
                {"smem_bytes", row.smem_bytes},
                {"ctas_per_sm", resident_ctas(row, device)},
                {"constants", constants.fitted ? "fitted" : "derived"},
                {"us", {{"a", k.a}, {"b", k.b}, {"c", k.c}, {"d", k.d}, {"e", k.e}, {"solo", k.solo}}}};
  if (row.width_step > 0) facts["by_width"] = width_facts(width_constants_for(row, device).value);
  return facts;
}

json kernels_of(const DeviceModel& device) {
  json rows = json::array();
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32, DataType::f64}) {
    const KernelRow* last = nullptr;
    for (const bool small : {true, false}) {
      const KernelRow* row = find_kernel(type, device.compute_capability, small);
      if (row != nullptr && row != last) rows.push_back(kernel_facts(*row, device));
      last = row;
    }
  }
  return rows;
}

json device_facts(const DeviceModel& m) {
  return {{"name", m.name},
          {"compute_capability", m.compute_capability},
          {"sms", m.sms},
          {"clock_ghz", m.clock_ghz},
          {"dram_gbs", m.dram_gbs},
          {"l2_gbs", m.l2_gbs},
          {"l2_bytes", m.l2_bytes},
          {"smem_per_sm", m.smem_per_sm},
          {"fours", m.fours},
          {"eights", m.eights},
          {"kernels", kernels_of(m)}};
}

json collect() {
  const int version = skgemm_version();
  const Machine machine = find_machine();
  json j;
  j["version"] = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  j["build"] = {{"cuda", built_with_cuda()},
                {"architectures", built_architectures()},
                {"cuda_runtime", machine.cuda_runtime},
                {"compiler", "g++ " __VERSION__}};
  j["driver"] = machine.driver;
  j["cuda_driver"] = machine.cuda_driver;
  j["devices"] = json::array();
  for (const DeviceInfo& device : machine.devices) {
    json facts = device_facts(device.model);
    facts["memory_bytes"] = device.memory_bytes;
    facts["usable"] = device.usable;
    j["devices"].push_back(std::move(facts));
  }
  if (machine.devices.empty()) {
    j["why_no_device"] = machine.why_none;
    j["modelled_devices"] = json::array();
    for (const DeviceModel& model : known_devices()) j["modelled_devices"].push_back(device_facts(model));
  }
  j["environment"] = environment();
  j["cpu_blas"] = cpu_blas();
  return j;
}

void print_kernels(const json& device) {
  fmt::print("    {:<5}{:<18}{:<15}{:>6}{:>9}{:>8}{:>9}  {:<8}{}\n", "type", "kernel", "tile", "stages", "threads",
             "smem KB", "CTAs/SM", "", "a, b, c, d, e, solo (us)");
  for (const json& row : device["kernels"]) {
    const json &tile = row["tile"], &us = row["us"];
    // With a run-time width the costs are those of the widest tile.
    const int step = row["width_step"].get<int>(), stages = row["stages"].get<int>();
    const std::string widths = fmt::format("{}{}", step > 0 ? fmt::format("{}-", step) : "", tile[1].get<int>());
    fmt::print("    {:<5}{:<18}{:<15}{:>6}{:>9}{:>8.0f}{:>9}  {:<8}{:.3g}, {:.3g}, {:.3g}, {:.3g}, {:.3g}, {:.3g}\n",
               row["type"].get<std::string>(), row["kernel"].get<std::string>(),
               fmt::format("{}x{}x{}", tile[0].get<int>(), widths, tile[2].get<int>()),
               stages > 0 ? std::to_string(stages) : "any", row["threads"].get<int>(),
               row["smem_bytes"].get<double>() / 1024, row["ctas_per_sm"].get<int>(),
               row["constants"].get<std::string>(), us["a"].get<double>(), us["b"].get<double>(),
               us["c"].get<double>(), us["d"].get<double>(), us["e"].get<double>(), us["solo"].get<double>());
  }
}

void print_part(const json& d, std::string_view heading) {
  fmt::print("{}{}: sm_{}, {} SMs at {:.2f} GHz, ", heading, d["name"].get<std::string>(),
             d["compute_capability"].get<int>(), d["sms"].get<int>(), d["clock_ghz"].get<double>());
  if (d.contains("memory_bytes")) fmt::print("{:.0f} GB memory, ", d["memory_bytes"].get<double>() / 1e9);
  fmt::print("DRAM {:.0f} GB/s, L2 {:.0f} MB\n", d["dram_gbs"].get<double>(), d["l2_bytes"].get<double>() / (1 << 20));
}

void print_device(const json& d, std::string_view heading) {
  print_part(d, heading);
  if (d.contains("usable") && !d["usable"].get<bool>()) fmt::print("    not used: older than sm_80\n");
  print_kernels(d);
}

void print(const json& j) {
  fmt::print("libskgemm {}\n", j["version"].get<std::string>());
  const json& build = j["build"];
  const std::string architectures = build["architectures"].get<std::string>();
  fmt::print("build      {}, {}\n",
             build["cuda"].get<bool>()
                 ? fmt::format("CUDA {} for {}", build["cuda_runtime"].get<std::string>(), architectures)
                 : "CPU part only",
             build["compiler"].get<std::string>());
  const std::string driver = j["driver"].get<std::string>(), cuda = j["cuda_driver"].get<std::string>();
  if (!cuda.empty()) fmt::print("driver     {} (CUDA {})\n", driver.empty() ? "of unknown version" : driver, cuda);
  for (const auto& [index, device] : j["devices"].items()) print_device(device, fmt::format("device {}   ", index));
  if (j.contains("why_no_device")) {
    fmt::print("devices    none: {}\n", j["why_no_device"].get<std::string>());
    fmt::print("           parts that `skgemm plan --device` knows (skgemm info --json: kernels and costs):\n");
    for (const json& device : j["modelled_devices"]) print_part(device, "             ");
  }
  for (const auto& [routine, found] : j["cpu_blas"].items()) {
    const std::string library = found["library"].get<std::string>();
    const char* advice = library == "none" ? ": install libopenblas0, or name a BLAS in SKGEMM_CPU_BLAS" : "";
    const char* verdict = found["works"].get<bool>() ? "" : " (its result is wrong)";
    fmt::print("{:<11}on the CPU: {}{}{}\n", routine, library, advice, verdict);
  }
  if (j["environment"].empty()) fmt::print("environment: no SKGEMM_ variable is set\n");
  for (const auto& [name, value] : j["environment"].items())
    fmt::print("environment: {}={}\n", name, value.get<std::string>());
}

}  // namespace

void add_info(CLI::App& app, int&) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* info =
      app.add_subcommand("info", "library, build, devices, kernels and their cost constants, CPU BLAS, environment");
  info->add_flag("--json", *as_json, "print JSON");
  info->footer("Example:\n  skgemm info --json");
  info->callback([as_json] {
    const json j = collect();
    if (*as_json) return fmt::print("{}\n", j.dump(2));
    print(j);
  });
}

}  // namespace skgemm::cli
