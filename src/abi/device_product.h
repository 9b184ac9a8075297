// A checked product on device pointers: run, timed, and put in words for the log.
#pragma once
#include <string>

#include "src/gpu.h"

namespace skgemm {

struct Ran {
  Status status;
  double us = 0;    // the host's time: the product itself is asynchronous
  std::string how = {};  // the plan, or what went wrong; empty unless calls are logged
};

// On the current device. What it throws, it throws before anything is launched.
Ran run(const GemmCall& call, const gpu::LaunchContext& launch);

}  // namespace skgemm
