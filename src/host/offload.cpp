#include "src/host/offload.h"

#include <algorithm>

#include "src/degenerate.h"

namespace skgemm {
namespace {

constexpr double kPanels = 8;  // into which staging cuts a large product, at least

}  // namespace

double flops(const GemmCall& call) {
  return 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
}

OffloadBytes offload_bytes(const GemmCall& call) {
  const double m = static_cast<double>(call.m), n = static_cast<double>(call.n), k = static_cast<double>(call.k);
  const double c = m * n * size_of(call.out);
  const bool reads_c = host_scalar(call.scalar_type, call.beta) != 0;
  return {(m * k + k * n) * size_of(call.in) + (reads_c ? c : 0), c};
}

OffloadEstimate estimate_offload(const GemmCall& call, const OffloadRates& rates) {
  const OffloadBytes bytes = offload_bytes(call);
  // GB/s are bytes per ns. One host thread fills and drains the staging buffers, so the two directions add up.
  const double link_us = (bytes.to_device / rates.to_device_gbs + bytes.from_device / rates.from_device_gbs) * 1e-3;
  const double overlapped = std::max(link_us, rates.gpu_us) + std::min(link_us, rates.gpu_us) / kPanels;
  return {rates.startup_us + overlapped, flops(call) / rates.cpu_gflops * 1e-3};
}

}  // namespace skgemm
