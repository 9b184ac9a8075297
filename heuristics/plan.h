// What will run: the selector's answer and everything a launch needs besides pointers.
#pragma once
#include <string>

#include "kernels/catalogue.h"
#include "kernels/schedule.h"

namespace skgemm {

struct Plan {
  const KernelRow* kernel;
  TileShape tile;  // run-time data of the kernel (design D7)
  Schedule schedule;
  size_t workspace_bytes;
  size_t copy_bytes;  // of those, at the end: aligned copies of operands (kernels/aligned_copy.h); 0: none are made
  double predicted_us;
  const char* why_not = nullptr;  // when there is no plan (kernel is nullptr): the reason
};

// One line: "f32_simt 128x128x16 two-tile g=264 sk_tiles=300 tiles=1024 steps=256 workspace=34.6MB predicted=812.4us",
// with copies=2.1MB after the workspace where operands are copied.
std::string to_string(const Plan& plan);

}  // namespace skgemm
