// What the selector knows about a device: plain numbers, so that it runs and is tested without one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace skgemm {

struct DeviceModel {
  std::string name;        // as the driver says it, e.g. "NVIDIA H200"
  int compute_capability;  // 80, 90, ...
  int sms;
  double clock_ghz;        // maximum SM clock
  double dram_gbs;         // DRAM read rate, GB/s
  double l2_gbs;           // L2 read rate, GB/s
  int64_t l2_bytes;
  int64_t smem_per_sm;     // bytes
  int fours = 0;           // clusters of four CTAs, each with an SM for itself, that run at once; 0: none
  int eights = 0;          // the same of eight
};

// Clusters of so many CTAs, each with one of `sms` multiprocessors of the device for itself, that run at once. A
// cluster lies within a GPC: pairs find their SMs side by side (TPCs), larger ones leave some over.
int64_t clusters_at_once(const DeviceModel& device, int64_t sms, int ctas);

// Parts known by name, for `plan --device` and tests: "h200", "h100", "a100", ... nullptr when unknown.
const DeviceModel* find_device(std::string_view name);
std::span<const DeviceModel> known_devices();
// The model of a device of this machine from what its driver says: measured rates for a part known by name and SM count
// (a MIG slice has the part's name and fewer SMs: its rates are not the part's), and stand-ins for attributes that read
// 0, as under some virtual GPUs.
DeviceModel with_known_rates(DeviceModel found);

}  // namespace skgemm
