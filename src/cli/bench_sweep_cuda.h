// Measures the plans of a sweep on the device.
#pragma once
#include "src/cli/bench_stage.h"
#include "src/cli/bench_sweep.h"

namespace skgemm::cli {

class Sweeper {
 public:
  Sweeper(Stage& stage, const DeviceModel& device, unsigned watchdog_s);
  // Of a case that the stage was set for.
  Sweep sweep(const BenchCase& c, bool check);

 private:
  // The schedules on one tile that no plan in the sweep has yet; false when the kernel can't have this tile.
  void add_tile(const Forced& tile, const KernelRow& kernel, Sweep& sweep);
  skgemm_plan_t plan(const Forced& forced, const BenchCase& c);
  void measure(SweptPlan& swept, const BenchCase& c);

  Stage& stage_;
  OurContender ours_;
  DeviceModel device_;
  unsigned watchdog_s_;
  // The case at hand.
  int64_t calls_ = 1;
  bool check_ = true;
};

}  // namespace skgemm::cli
