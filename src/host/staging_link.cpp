// What the link between host memory and the device gives, staging copies included, for the offload decision.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "src/gpu.h"
#include "src/host/staging_buffers.h"
#include "src/log.h"

namespace skgemm::gpu {
namespace {

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Times the very copies that staging makes, from and to ordinary memory.
LinkModel measure_link() {
  constexpr int64_t kRows = int64_t{1} << 16, kCols = 64;  // 32 MiB of doubles
  StagerLease stager(current_device());
  std::vector<double> memory(static_cast<size_t>(kRows * kCols), 1.0);
  const auto* data = reinterpret_cast<const char*>(memory.data());
  const HostBlock all{data, kRows, kCols, kRows * 8, DataType::f64}, one{data, 1, 1, 8, DataType::f64};
  stager->device.reserve(memory.size() * 8);
  double up = 1e30, down = 1e30, startup = 1e30;
  for (int repeat = 0; repeat < 3; ++repeat) {  // the first also gets the pinned buffers
    auto begin = Clock::now();
    stager->upload(all, stager->device.data(), DataType::f64);
    check(cudaStreamSynchronize(stager->in), "time a copy to the device");
    up = std::min(up, us_since(begin));
    begin = Clock::now();
    stager->download(stager->device.data(), memory.size() * 8, 0);
    stager->write_back(0, DataType::f64, all);
    down = std::min(down, us_since(begin));
    begin = Clock::now();
    stager->upload(one, stager->device.data(), DataType::f64);
    check(cudaStreamSynchronize(stager->in), "time a copy to the device");
    stager->download(stager->device.data(), 8, 0);
    stager->write_back(0, DataType::f64, one);
    startup = std::min(startup, us_since(begin));
  }
  const double bytes = static_cast<double>(memory.size() * 8);
  return {bytes / up * 1e-3, bytes / down * 1e-3, 2 * startup};
}

}  // namespace

std::optional<LinkModel> link_model() {
  static const std::optional<LinkModel> model = []() -> std::optional<LinkModel> {
    try {
      const LinkModel link = measure_link();
      if (log::events()) {
        log::event("host memory to the GPU and back: " + std::to_string(static_cast<int>(link.to_device_gbs)) +
                   " and " + std::to_string(static_cast<int>(link.from_device_gbs)) + " GB/s, a call at least " +
                   std::to_string(static_cast<int>(link.startup_us)) + " us");
      }
      return link;
    } catch (const std::exception& error) {
      const auto* staging = dynamic_cast<const StagingError*>(&error);
      log::warn("the link to the GPU could not be measured (" +
                (staging != nullptr ? staging->status.words : std::string("host memory ran out")) +
                "), so products in host memory stay on the CPU; SKGEMM_OFFLOAD=always forces the GPU");
      return std::nullopt;
    }
  }();
  return model;
}

}  // namespace skgemm::gpu
