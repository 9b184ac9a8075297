#include "heuristics/device_model.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace skgemm {
namespace {

struct NamedDevice {
  std::string_view key;
  DeviceModel model;
};

// SM counts, clocks, L2 sizes and memory rates from the vendor's architecture white papers (A100, H100, Ada,
// Blackwell); the H200's rates are measured ones. L2 rates of the others are scaled from the H200's by SMs and clock.
const std::vector<NamedDevice>& table() {
  static const std::vector<NamedDevice> devices = {
      {"h200", {"NVIDIA H200", 90, 132, 1.98, 4510, 5500, int64_t{60} << 20, 228 << 10, 30, 15}},
      {"h100", {"NVIDIA H100 80GB HBM3", 90, 132, 1.98, 3000, 5500, int64_t{50} << 20, 228 << 10, 30, 15}},
      {"a100", {"NVIDIA A100-SXM4-80GB", 80, 108, 1.41, 1850, 3900, int64_t{40} << 20, 164 << 10}},
      {"l40s", {"NVIDIA L40S", 89, 142, 2.52, 800, 5000, int64_t{96} << 20, 100 << 10}},
      {"b200", {"NVIDIA B200", 100, 148, 1.96, 7200, 9000, int64_t{126} << 20, 228 << 10, 33, 16}},
  };
  return devices;
}

bool equal_ignoring_case(std::string_view x, std::string_view y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](unsigned char p, unsigned char q) { return std::tolower(p) == std::tolower(q); });
}

}  // namespace

int64_t clusters_at_once(const DeviceModel& device, int64_t sms, int ctas) {
  if (ctas < 4) return sms / ctas;
  return std::min<int64_t>(sms / ctas, ctas == 4 ? device.fours : device.eights);
}

const DeviceModel* find_device(std::string_view name) {
  for (const NamedDevice& d : table()) {
    if (equal_ignoring_case(d.key, name) || equal_ignoring_case(d.model.name, name)) return &d.model;
  }
  return nullptr;
}

std::span<const DeviceModel> known_devices() {
  static const std::vector<DeviceModel> models = [] {
    std::vector<DeviceModel> all;
    for (const NamedDevice& d : table()) all.push_back(d.model);
    return all;
  }();
  return models;
}

DeviceModel with_known_rates(DeviceModel m) {
  constexpr double kClockGhz = 1.4, kDramGbsPerSm = 10;  // below or near those of the parts above
  if (m.sms <= 0) m.sms = 1;
  if (!(m.clock_ghz > 0)) m.clock_ghz = kClockGhz;
  if (!(m.dram_gbs > 0)) m.dram_gbs = kDramGbsPerSm * m.sms;
  // An SM draws about 32 bytes a clock from L2 when all do (measured on sm_80 and sm_90 parts).
  if (!(m.l2_gbs > 0)) m.l2_gbs = 32.0 * m.sms * m.clock_ghz;
  // A cluster lies within a GPC, and GPCs hold some SMs more than a multiple of four: 30 on the 132 of an H200.
  if (m.fours == 0 && m.compute_capability >= 90) m.fours = m.sms * 10 / 44;
  if (m.eights == 0 && m.compute_capability >= 90) m.eights = m.sms * 10 / 88;
  for (const DeviceModel& known : known_devices()) {
    if (known.name != m.name || known.sms != m.sms) continue;
    m.dram_gbs = known.dram_gbs;
    m.l2_gbs = known.l2_gbs;
    m.fours = known.fours;
    m.eights = known.eights;
  }
  return m;
}

}  // namespace skgemm
