#include "src/abi/device_product.h"

#include <chrono>

#include "src/host/quietly.h"
#include "src/log.h"

namespace skgemm {

Ran run(const GemmCall& call, const gpu::LaunchContext& launch) {
  if (!log::calls()) return {gpu::gemm(call, launch), 0, {}};

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Plan plan{};
  Ran ran{gpu::gemm(call, launch, &plan), 0, {}};
  ran.us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  quietly([&] {
    const std::string planned = plan.kernel == nullptr ? "no product, C = beta*C" : to_string(plan);
    ran.how = ran.status.ok() ? planned : ran.status.words;
  });
  return ran;
}

}  // namespace skgemm
