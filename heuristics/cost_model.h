// The paper's analytic model (Osama et al. 2023, appendix A.1) by its own names, and the makespan of a whole schedule.
#pragma once
#include <cstdint>

#include "heuristics/device_model.h"
#include "kernels/catalogue.h"
#include "kernels/schedule.h"

namespace skgemm {

// The constants of one kernel on one device, microseconds. a, b, c, d are the paper's; solo and e belong to the
// makespan.
struct CostConstants {
  double a;     // fixed: launch, first loads, last store
  double b;     // storing a partial
  double c;     // one k-step of a CTA while every SM holds all the CTAs it can
  double d;     // reading and adding one peer's partial
  double e;     // finishing a tile and starting the next one in the same CTA
  double solo;  // one k-step of a CTA that has its SM for itself
};

// time(g) = a + b*[peers(g) > 1] + c*iters(g) + d*(peers(g) - 1), for basic Stream-K on `tiles` tiles of `steps` steps.
int64_t iters_per_cta(int64_t tiles, int64_t steps, int64_t g);
int64_t fixup_peers(int64_t tiles, int64_t steps, int64_t g);
double stream_k_time(const CostConstants& k, int64_t tiles, int64_t steps, int64_t g);
// argmin over g in [1, p]; ties go to the smaller g.
int64_t best_grid(const CostConstants& k, int64_t tiles, int64_t steps, int64_t p);

// CTAs of a kernel that one SM of the device holds.
int64_t resident_ctas(const KernelRow& row, const DeviceModel& device);
// One k-step of a CTA in a grid of `ctas`: between k.solo and k.c.
double step_time(const CostConstants& k, int64_t ctas, int64_t sms, int64_t ctas_per_sm);
// Contributors of the most divided shared tile of a hybrid or Stream-K schedule; 1 when all shares end at tile ends.
int64_t most_contributors(const Schedule& s);
// Device time of a schedule: the CTA that ends last, on `sms` multiprocessors. O(1).
double makespan(const CostConstants& k, const Schedule& s, int64_t sms, int64_t ctas_per_sm);

// Constants compiled in for the device, else derived from its rates. `fitted` says which (`skgemm info` shows it).
struct ConstantsSource {
  CostConstants value;
  bool fitted;
};
ConstantsSource constants_for(const KernelRow& row, const DeviceModel& device);

}  // namespace skgemm
