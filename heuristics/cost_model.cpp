#include "heuristics/cost_model.h"

#include <algorithm>
#include <string_view>

#include "heuristics/constants/sm_90_h200.h"

namespace skgemm {
namespace {

// Flops per cycle and SM of the unit each kernel runs on (vendor white papers; fp16 on sm_90 by mma.sync, which reaches
// about 62 % of wgmma's 4096).
double flops_per_cycle(DataType in, int compute_capability) {
  const bool a100 = compute_capability == 80, hopper = compute_capability == 90;
  const bool datacenter = a100 || compute_capability == 90 || compute_capability == 100;
  switch (in) {
    case DataType::f64:
      return hopper ? 256 : datacenter ? 128 : 2;
    case DataType::f32:
      return a100 ? 128 : 256;
    default:
      return a100 ? 2048 : datacenter ? 2540 : 1024;
  }
}

// Constants from rates, for parts that were never fitted. The shares of peak are those of the fitted part's kernels.
CostConstants derive(const KernelRow& row, const DeviceModel& device) {
  constexpr double kShareOfPeak = 0.85;      // of a full SM
  constexpr double kSoloShareOfPeak = 0.65;  // of an SM with one CTA
  constexpr double kLaunchUs = 4.0;
  const double sm_flops_per_us = flops_per_cycle(row.in, device.compute_capability) * device.clock_ghz * 1e3;
  const double step_flops = 2.0 * row.tile_m * row.tile_n * row.tile_k;
  const double full = row.ctas_per_sm * step_flops / (sm_flops_per_us * kShareOfPeak);
  // A partial moves through L2; a CTA gets its SM's share of the L2 rate (GB/s = 1e3 bytes/us).
  const double slot_us =
      static_cast<double>(row.slot_bytes(row.tile(row.tile_n, false))) / (device.l2_gbs * 1e3 / device.sms);
  const double solo = std::min(full, step_flops / (sm_flops_per_us * kSoloShareOfPeak));
  return {.a = kLaunchUs, .b = slot_us, .c = full, .d = slot_us, .e = 0.5 * slot_us, .solo = solo};
}

// The same for a run-time width: what the fitted part reaches of its clock, bus widths and L2 rate.
WidthConstants derive_width(const KernelRow& row, const DeviceModel& device) {
  constexpr double kWgmma = 4096, kShareOfPeak = 0.95;          // flops per cycle, dense
  constexpr double kBytesPerCycle = 64;                         // between an SM and L2
  const double peak = row.by_tma ? kWgmma : flops_per_cycle(row.in, device.compute_capability);
  const double column_flops = 2.0 * row.tile_m * row.tile_k;
  const double port_gbs = kBytesPerCycle * device.clock_ghz;
  const double column = column_flops / (peak * device.clock_ghz * 1e3 * kShareOfPeak);
  return {.a0 = 1.9,
          .a_column = 0.0096,
          .late = 0.85,
          .step0 = row.workers > 1 ? 0.055 : 0.0,
          .step_column = column,
          .sm_gbs = 0.98 * port_gbs,
          .l2_gbs = 5.6 * device.l2_gbs,
          .l2_skewed_gbs = 4 * device.l2_gbs,
          .l2_apart_gbs = (row.workers > 1 ? 1.3 : 8) * device.l2_gbs,
          .crossed = 0.23,
          .shifted = 0.9,
          .copied = 0.5,
          .copied_k_major = 1.3,
          .copied0 = 0.5,
          .eights = 0.077,
          .write_gbs = 0.5 * port_gbs,
          .write_all_gbs = 0.7 * device.l2_gbs,
          .read_gbs = 0.6 * port_gbs,
          .read_all_gbs = 1.4 * device.l2_gbs,
          .arrive = 1.6,
          .e0 = 0.15,
          .e_column = 0.006,
          .copy0 = 1.8,
          .copy_gbs = 0.54 * device.dram_gbs,
          .c_unaligned = 0.004,
          .dram_share = 0.61};
}

// The kernel's row in a table of constants; nullptr on another part.
template <class Rows>
auto fitted_in(const Rows& rows, const KernelRow& row, const DeviceModel& device) -> decltype(&rows[0].value) {
  if (device.name != constants::h200::kPart) return nullptr;
  for (const auto& fitted : rows) {
    if (std::string_view(row.name) == fitted.kernel) return &fitted.value;
  }
  return nullptr;
}

// As costs that the paper's model takes: the widest tile, aligned, while the whole device works.
CostConstants of_widest(const WidthConstants& k, const KernelRow& row, const DeviceModel& device) {
  const Candidate widest{.row = &row,
                         .width = row.tile_n,
                         .cluster_rows = 1,
                         .cluster_columns = 1,
                         .rows_k_major = true,
                         .width_k_major = true,
                         .c_unaligned = false,
                         .traffic = 0};
  const int64_t workers = device.sms * row.workers;
  return costs_of(k, widest).at(workers, workers);
}

}  // namespace

CandidateCosts costs_of(const WidthConstants& k, const Candidate& c) {
  constexpr double kGb = 1e-3;         // bytes at 1 GB/s take this many microseconds each
  const KernelRow& row = *c.row;
  const double width = c.width;
  const int64_t together = row.by_tma ? 64 : 16;  // columns, where the contiguous extent is the width
  const int64_t whole = ceil_div(c.width, together) * together;
  const double loaded = c.width_k_major ? width : static_cast<double>(whole);
  const double line = kGb * row.tile_k * size_of(row.in);
  constexpr int kBoxed = 16;  // multiples of so many bytes; other lines are copied as they lie
  const auto copied = [&](int align, bool k_major) {
    return align >= kBoxed ? 1.0 : 1 + (k_major ? k.copied_k_major : k.copied);
  };
  const auto slowed = [&](int align, bool k_major) {
    return align >= 128 ? 1.0 : align >= 32 ? 1 + k.crossed : align >= kBoxed ? 1 + k.shifted : copied(align, k_major);
  };
  const double into_sm = line * (row.tile_m * copied(c.rows_align, c.rows_k_major) +
                                 loaded * copied(c.width_align, c.width_k_major));
  const double out_of_l2 = line * (c.cluster_rows * row.tile_m * slowed(c.rows_align, c.rows_k_major) +
                                   c.cluster_columns * loaded * slowed(c.width_align, c.width_k_major));
  const int ctas = c.cluster_rows * c.cluster_columns;
  const double begin = c.width > row.fine_width ? 2 * k.step0 : k.step0;
  const double slower = ctas == 8 ? 1 + k.eights : 1;
  const double work = slower * std::max(begin + k.step_column * width, into_sm / k.sm_gbs);
  const double paired = slower * row.workers * std::max(k.step_column * width, into_sm / k.sm_gbs);
  const double slot = kGb * row.tile_m * width * size_of(accumulator_of(row.in));
  const double store = c.c_unaligned ? k.c_unaligned * width : 0.0;
  const double copies = std::min(c.rows_align, c.width_align) < kBoxed ? k.copied0 : 0.0;
  return {.a = k.a0 + k.a_column * width + store + copies,
          .e = k.e0 + k.e_column * width + store,
          .arrive = k.arrive,
          .late = k.late,
          .work = work,
          .paired = paired,
          .per_sm = row.workers,
          .load_part = out_of_l2 / k.l2_gbs,
          .load_part_skewed = out_of_l2 / k.l2_skewed_gbs,
          .load_apart = line * (c.cluster_rows * row.tile_m + c.cluster_columns * loaded) / k.l2_apart_gbs,
          .write = slot / k.write_gbs,
          .write_part = ctas * slot / k.write_all_gbs,
          .read = slot / k.read_gbs,
          .read_part = ctas * slot / k.read_all_gbs};
}

double copy_us(const WidthConstants& k, size_t bytes) {
  return k.copy0 + static_cast<double>(bytes) / (k.copy_gbs * 1e3);
}

double predicted_us(const WidthConstants& k, const Candidate& candidate, const Schedule& s, const DeviceModel& device,
                    int64_t workers) {
  const CostConstants costs = costs_of(k, candidate).at(std::min(s.ctas, workers), workers);
  const int per_sm = candidate.row->workers;
  return predicted_us(k, candidate, makespan(costs, s, workers / per_sm, per_sm), device);
}

double predicted_us(const WidthConstants& k, const Candidate& candidate, double makespan_us,
                    const DeviceModel& device) {
  return std::max(makespan_us, costs_of(k, candidate).a + candidate.traffic / (device.dram_gbs * k.dram_share * 1e3));
}

int64_t iters_per_cta(int64_t tiles, int64_t steps, int64_t g) { return ceil_div(tiles * steps, g); }

int64_t fixup_peers(int64_t tiles, int64_t steps, int64_t g) { return ceil_div(steps, iters_per_cta(tiles, steps, g)); }

double stream_k_time(const CostConstants& k, int64_t tiles, int64_t steps, int64_t g) {
  const int64_t peers = fixup_peers(tiles, steps, g);
  return k.a + k.b * (peers > 1) + k.c * static_cast<double>(iters_per_cta(tiles, steps, g)) +
         k.d * static_cast<double>(peers - 1);
}

int64_t best_grid(const CostConstants& k, int64_t tiles, int64_t steps, int64_t p) {
  int64_t best = 1;
  for (int64_t g = 2; g <= p; ++g) {
    if (stream_k_time(k, tiles, steps, g) < stream_k_time(k, tiles, steps, best)) best = g;
  }
  return best;
}

int64_t most_contributors(const Schedule& s, bool exact_cuts) {
  if (s.kind == ScheduleKind::fixed_split) return s.split;
  if (s.sk_tiles == 0) return 1;
  if (exact_cuts && s.ctas % s.sk_tiles == 0) return s.ctas / s.sk_tiles;
  const int64_t total = s.sk_steps(), steps = s.space.steps, share = total / s.ctas;
  const bool even = share * s.ctas == total;
  if (even && (share % steps == 0 || steps % share == 0)) return share >= steps ? 1 : steps / share;
  return std::min(ceil_div(steps, share) + 1, s.ctas);
}

int64_t resident_ctas(const KernelRow& row, const DeviceModel& device) {
  // A CTA also costs 1 KB of system shared memory (CUDA C++ Programming Guide, compute capabilities 8.x and later).
  const int64_t fit = device.smem_per_sm / static_cast<int64_t>(row.smem_bytes + 1024);
  return std::clamp<int64_t>(fit, 1, row.ctas_per_sm) * row.workers;
}

double step_time(const CostConstants& k, int64_t ctas, int64_t sms, int64_t ctas_per_sm) {
  // A CTA alone on its SM steps faster than one that shares it.
  const double occupancy = std::clamp(static_cast<double>(ctas) / static_cast<double>(sms), 1.0, double(ctas_per_sm));
  const double shared_part = ctas_per_sm > 1 ? (occupancy - 1.0) / static_cast<double>(ctas_per_sm - 1) : 0.0;
  return k.solo + (k.c - k.solo) * shared_part;
}

double makespan(const CostConstants& k, const Schedule& s, int64_t sms, int64_t ctas_per_sm) {
  const double step = step_time(k, s.ctas, sms, ctas_per_sm);

  const int64_t peers = most_contributors(s, k.exact_cuts);
  const double fixup = peers > 1 ? k.b + k.d * static_cast<double>(peers - 1) : 0.0;
  if (s.kind == ScheduleKind::fixed_split) {
    const int64_t rounds = ceil_div(s.tiles() * s.split, s.ctas);
    const double unit = step * static_cast<double>(ceil_div(s.space.steps, s.split));
    return k.a + static_cast<double>(rounds) * unit + static_cast<double>(rounds - 1) * k.e + fixup;
  }
  const int64_t whole = ceil_div(s.tiles() - s.sk_tiles, s.ctas);
  const int64_t shared = s.sk_tiles > 0 ? ceil_div(s.sk_steps(), s.ctas) : 0;
  const int64_t units = whole + (shared > 0 ? 1 + (shared - 1) / s.space.steps : 0);
  const double shared_step = s.sk_tiles > 0 && s.ctas % s.sk_tiles != 0 ? step * k.skew : step;
  // A grid that was forced can be larger than what runs at once.
  const auto rounds = static_cast<double>(ceil_div(s.ctas, sms * ctas_per_sm));
  const double share = shared_step * static_cast<double>(shared) + step * static_cast<double>(whole * s.space.steps) +
                       static_cast<double>(units) * k.e;
  return k.a + rounds * share - k.e + fixup;
}

ConstantsSource constants_for(const KernelRow& row, const DeviceModel& device) {
  if (row.width_step > 0) {
    const WidthConstantsSource source = width_constants_for(row, device);
    return {of_widest(source.value, row, device), source.fitted};
  }
  if (const CostConstants* fitted = fitted_in(constants::h200::kRows, row, device)) return {*fitted, true};
  return {derive(row, device), false};
}

WidthConstantsSource width_constants_for(const KernelRow& row, const DeviceModel& device) {
  if (const WidthConstants* fitted = fitted_in(constants::h200::kWidthRows, row, device)) return {*fitted, true};
  return {derive_width(row, device), false};
}

}  // namespace skgemm
