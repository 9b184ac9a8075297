// The paper's analytic model (Osama et al. 2023, appendix A.1) by its own names, and the makespan of a whole schedule.
#pragma once
#include <algorithm>
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
  // Whether d was fitted with the true number of contributors where a grid cuts every shared tile alike, also into
  // parts that differ by a step. If not, it goes with the bound for such grids, as for all others.
  bool exact_cuts = false;
  double skew = 1;  // a shared step's time over another's, where a grid cuts tiles at different k
};

// What those constants come from where the tile's width is run-time data: microseconds (us), and GB/s, once as one CTA
// draws them and once as all CTAs together do. A column is one of the width.
struct WidthConstants {
  double a0;             // us: launch, first loads, last store's latency
  double a_column;       // us per column: the last tile's epilogue
  double late;           // us: a grid's start is not hidden, where one like it before leaves it no room beside itself
  double step0;          // us per k-step: until a worker alone on its SM multiplies, twice past the kernel's
                         // fine_width; two fill each other's gaps
  double step_column;    // us per column and k-step: the multiplications
  double sm_gbs;         // operands into one SM
  double l2_gbs;         // all workers' operands out of L2, as far as a k-step waits for them beside its other work,
                         // while CTAs work at the same k of neighbouring tiles
  double l2_skewed_gbs;  // and while each is at a k of its own, so that no two ask for the same lines together
  double l2_apart_gbs;   // the most that L2 gives then
  double crossed;        // added to an operand's part of that, as a share, where lines don't start at its multiples of
  double shifted;        // 128 bytes; and where they don't start at multiples of 32 either
  double copied;         // the same for operands that aren't read as boxes, and into the SM too, if a line is one k;
  double copied_k_major; // and if it is a row or column
  double copied0;        // us: added to a launch with such an operand
  double eights;         // added to a k-step's other work, as a share, in clusters of eight
  double write_gbs;      // a partial's store by one CTA
  double write_all_gbs;  // and by all
  double read_gbs;       // a peer's partial read by one CTA
  double read_all_gbs;   // and by all
  double arrive;         // us: a CTA's arrival seen by another one
  double e0;             // us: from a tile to the next in a CTA
  double e_column;       // us per column of that
  double copy0;          // us: aligned copies of operands, whatever their size
  double copy_gbs;       // bytes of such copies
  double c_unaligned;    // us per column: added to each epilogue where lines of C start anywhere
  double dram_share;     // of the device's DRAM rate
};

// One way for a kernel with a run-time width to do a product.
struct Candidate {
  const KernelRow* row;
  int width;  // of one CTA's part of the tile
  int cluster_rows = 1, cluster_columns = 1;  // CTAs of a worker along the kernel's rows and along the width
  bool rows_k_major;   // the operand along the rows is contiguous along k
  bool width_k_major;  // and that along the width; else it is loaded 64 columns at a time
  int rows_align = 128, width_align = 128;  // bytes: at multiples of what the operands' lines start
  bool c_unaligned;    // columns of C do not all begin at multiples of 16 bytes
  double traffic;  // bytes through DRAM: operands and result once
};

// What of a candidate's costs does not depend on how many workers (CTAs or clusters) run at once, microseconds. A CTA
// alone draws at the rate of its SM; each of many gets its part of what all share.
struct CandidateCosts {
  double a, e, arrive;
  double late;             // added to a in grids that fill more than half of the device
  double work;             // a k-step of a CTA that has L2 for itself
  double paired;           // the same, while it shares its SM, which has room for
  int per_sm;              // so many; the slowest SM counts
  double load_part, load_part_skewed;  // a k-step's operands out of L2, times the number of workers
  double load_apart;                   // and the least time that they take in skewed grids, times that number
  double write, write_part;
  double read, read_part;  // a partial

  // While so many workers run at once, spread over the SMs, of those that the device has room for.
  CostConstants at(int64_t workers, int64_t room) const {
    const auto n = static_cast<double>(workers), sms = static_cast<double>(std::min(workers, room / per_sm));
    const auto longer = [](double x, double y) { return x < y ? y : x; };
    const bool shares = n > sms;
    const double begun = shares ? paired : work, loads = shares ? per_sm * sms : sms;
    const double step = begun + load_part * loads, skewed = longer(begun + load_part_skewed * loads, load_apart * n);
    return {.a = 2 * workers > room ? a + late : a,
            .b = arrive + longer(write, write_part * n),
            .c = step,
            .d = longer(read, read_part * n),
            .e = e,
            .solo = step,
            .exact_cuts = true,
            .skew = skewed / step};
  }
};
CandidateCosts costs_of(const WidthConstants& k, const Candidate& candidate);
// Aligned copies of so many bytes, ahead of the product.
double copy_us(const WidthConstants& k, size_t bytes);
// Device time of a candidate under a schedule, while at most so many of its workers run at once.
double predicted_us(const WidthConstants& k, const Candidate& candidate, const Schedule& s, const DeviceModel& device,
                    int64_t workers);
// The same, knowing the makespan: nothing is done before its operands have come through DRAM.
double predicted_us(const WidthConstants& k, const Candidate& candidate, double makespan_us, const DeviceModel& device);

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
// Contributors of the most divided shared tile of a hybrid or Stream-K schedule, or a bound where its grid cuts no tile
// like the next; 1 when all shares end at tile ends. `exact_cuts` as in the constants.
int64_t most_contributors(const Schedule& s, bool exact_cuts = false);
// Device time of a schedule: the CTA that ends last, on `sms` multiprocessors. O(1).
double makespan(const CostConstants& k, const Schedule& s, int64_t sms, int64_t ctas_per_sm);

// Constants compiled in for the device, else derived from its rates. `fitted` says which (`skgemm info` shows it).
struct ConstantsSource {
  CostConstants value;
  bool fitted;
};
// Of a kernel with a run-time width: those of its widest tile on a full device.
ConstantsSource constants_for(const KernelRow& row, const DeviceModel& device);
struct WidthConstantsSource {
  WidthConstants value;
  bool fitted;
};
WidthConstantsSource width_constants_for(const KernelRow& row, const DeviceModel& device);

}  // namespace skgemm
