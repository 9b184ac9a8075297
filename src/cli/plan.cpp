// `skgemm plan`: what the selector would run for a product, drawn over time. Needs no GPU.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "heuristics/cost_model.h"
#include "heuristics/select.h"
#include "src/cli/command.h"
#include "src/cli/device.h"
#include "src/cli/plan.h"
#include "src/cli/words.h"
#include "src/shape_of.h"

namespace skgemm::cli {
namespace {

constexpr int64_t kMostUnits = 4'000'000;  // a drawing past this would take gigabytes and show nothing

void check(const PlanOptions& o) {
  for (const auto& [name, value] : {std::pair{"M", o.m}, {"N", o.n}, {"K", o.k}, {"--batch", o.batch}}) {
    if (value < 1 || value > (int64_t{1} << 40))
      throw UsageError(fmt::format("{} is {}, but must be at least 1 and at most 2^40", name, value));
  }
  const OpPair ops = parse_ops(o.op);
  const struct {
    const char* name;
    int64_t value, least;
  } lds[] = {{"--lda", o.lda, ops.a_transposed ? o.k : o.m},
             {"--ldb", o.ldb, ops.b_transposed ? o.n : o.k},
             {"--ldc", o.ldc, o.m}};
  for (const auto& ld : lds) {
    if (ld.value != 0 && ld.value < ld.least)
      throw UsageError(fmt::format("{} is {}, but a column has {} elements", ld.name, ld.value, ld.least));
  }
  if (o.align < 1 || (o.align & (o.align - 1)) != 0) throw UsageError("--align takes a power of two, in bytes");
  if (o.sms < 0 || o.grid < 0 || o.split < 0) throw UsageError("--sms, --grid and --split can't be negative");
  const DataType in = parse_type(o.type), out = o.out.empty() ? in : parse_type(o.out);
  check_out(in, out, "the command line");
  if (const auto element = std::max(size_of(in), size_of(out)); o.align < element)
    throw UsageError(fmt::format("--align is {}, but an element has {} bytes", o.align, element));
  const ScheduleKind kind = parse_schedule(o.schedule);
  if (o.split != 0 && kind != ScheduleKind::fixed_split) throw UsageError("--split needs --schedule split");
  if (o.grid != 0 && kind != ScheduleKind::stream_k) throw UsageError("--grid needs --schedule streamk");
  if (o.width < 0 || o.width > 256 || o.width % 8 != 0)
    throw UsageError(fmt::format("--width is {}, but takes a multiple of 8 up to 256 (0: the model chooses)", o.width));
  const bool forced_tile =
      o.width != 0 || parse_orientation(o.orientation) != Orientation::automatic || parse_cluster(o.cluster).ctas() > 0;
  if (!o.tile.empty() && forced_tile)
    throw UsageError("--tile gives the whole tile: leave out --width, --orientation and --cluster");
}

DeviceModel device_of(const PlanOptions& o) {
  if (o.device.empty() || o.device == "current") {
    const Machine machine = find_machine();
    if (!machine.devices.empty()) return machine.devices.front().model;
    if (o.device == "current") throw UsageError(fmt::format("there is no current device: {}", machine.why_none));
    return *find_device("h200");
  }
  if (const DeviceModel* known = find_device(o.device)) return *known;
  std::string names;
  for (const DeviceModel& model : known_devices()) names += fmt::format(", {}", model.name);
  throw UsageError(fmt::format("unknown device '{}': use current, h200, h100, a100, l40s, b200 or a full name of{}",
                               o.device, names.substr(1)));
}

Shape shape_of(const PlanOptions& o) {
  const OpPair ops = parse_ops(o.op);
  const auto matrix = [&](int64_t ld, int64_t rows, int64_t columns) {
    const int64_t pitch = ld == 0 ? rows : ld;
    int64_t packed = 0;  // only its last bits count, so it may wrap
    (void)__builtin_mul_overflow(pitch, columns, &packed);
    return Matrix{reinterpret_cast<void*>(static_cast<uintptr_t>(o.align)), pitch, packed};
  };
  GemmCall call{};
  call.op_a = ops.a_transposed ? Op::t : Op::n;
  call.op_b = ops.b_transposed ? Op::t : Op::n;
  call.m = o.m, call.n = o.n, call.k = o.k, call.batch = o.batch;
  call.in = parse_type(o.type);
  call.out = o.out.empty() ? call.in : parse_type(o.out);
  call.a = ops.a_transposed ? matrix(o.lda, o.k, o.m) : matrix(o.lda, o.m, o.k);
  call.b = ops.b_transposed ? matrix(o.ldb, o.n, o.k) : matrix(o.ldb, o.k, o.n);
  call.c = matrix(o.ldc, o.m, o.n);
  return skgemm::shape_of(call);
}

// The library cuts a split down to the steps; who names one wants to know.
void check_split(const PlanOptions& o, const TileSpace& space) {
  if (o.split > space.steps)
    throw UsageError(fmt::format("--split is {}, but a tile has only {} k-step{}", o.split, space.steps,
                                 space.steps == 1 ? "" : "s"));
}

// The selector's plan with the cost model's times.
Planned plan_by_model(const PlanOptions& o) {
  const DeviceModel device = device_of(o);
  if (o.sms > device.sms)
    throw UsageError(fmt::format("--sms is {}, but must be between 0 (all) and the {} multiprocessors of {}", o.sms,
                                 device.sms, device.name));
  const Limits limits{.sms = o.sms,
                      .forced = parse_schedule(o.schedule),
                      .forced_parameter = std::max(o.grid, o.split),
                      .forced_width = o.width,
                      .forced_orientation = parse_orientation(o.orientation),
                      .forced_cluster = parse_cluster(o.cluster)};
  const Shape shape = shape_of(o);
  const Plan plan = select(shape, device, limits);
  if (plan.kernel == nullptr) throw UsageError(fmt::format("{} (type {} on {})", plan.why_not, o.type, device.name));
  const Room room = room_for(*plan.kernel, device, limits, plan.tile.cluster);
  check_split(o, plan.schedule.space);
  const CostConstants k = costs_of(plan, shape, device, room.sms);
  const ActionCosts costs{k.a, step_time(k, plan.schedule.ctas, room.sms, room.ctas_per_sm), k.b, k.d, k.e};
  const double copies =
      plan.copy_bytes > 0 ? copy_us(width_constants_for(*plan.kernel, device).value, plan.copy_bytes) : 0;
  return {plan, plan.kernel->tile_k, costs, copies, room.ctas(), false, device.name};
}

// A schedule on a tile given by hand, as the paper's examples have it: one CTA per SM, time in k-steps, free fixups.
Planned plan_by_hand(const PlanOptions& o) {
  const auto tile = tile_of_word(o.tile);
  if (!tile) throw UsageError(fmt::format("--tile is '{}', but takes MxNxK, as 128x128x32", o.tile));
  const int64_t p = o.sms > 0 ? o.sms : device_of(o).sms;
  const TileSpace space{ceil_div(o.m, (*tile)[0]), ceil_div(o.n, (*tile)[1]), o.batch, ceil_div(o.k, (*tile)[2]),
                        ceil_div(o.m, (*tile)[0])};
  check_split(o, space);
  Schedule s{};
  switch (const ScheduleKind kind = parse_schedule(o.schedule)) {
    case ScheduleKind::data_parallel:
      s = data_parallel(space, p);
      break;
    case ScheduleKind::fixed_split:
      s = fixed_split(space, p, o.split > 0 ? o.split : 2);
      break;
    case ScheduleKind::stream_k:
      s = stream_k(space, o.grid > 0 ? o.grid : p);
      break;
    case ScheduleKind::one_tile:
    case ScheduleKind::two_tile:
      s = hybrid(kind, space, p);
      break;
    default:
      throw UsageError(
          "--tile draws a schedule that you name: add --schedule dp, split, streamk, one-tile or two-tile");
  }
  const TileShape shape{static_cast<int>((*tile)[0]), static_cast<int>((*tile)[1]), false};
  const Plan plan{
      .kernel = nullptr, .tile = shape, .schedule = s, .workspace_bytes = 0, .copy_bytes = 0, .predicted_us = 0};
  const ActionCosts costs{.start = 0, .step = 1, .publish = 0, .collect = 0, .store = 0};
  return {plan, static_cast<int>((*tile)[2]), costs, 0, p, true, fmt::format("{} SMs", p)};
}

TextStyle style_of_terminal() {
  TextStyle style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) style.columns = window.ws_col;
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return style;
  const char* depth = std::getenv("COLORTERM");
  const std::string_view d = depth == nullptr ? "" : depth;
  style.colour = d == "truecolor" || d == "24bit" ? Colour::full : Colour::palette;
  return style;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UsageError(fmt::format("can't write {}: check the folder and its permissions", path));
}

void run_plan(const PlanOptions& o) {
  check(o);
  const Planned planned = o.tile.empty() ? plan_by_model(o) : plan_by_hand(o);
  const Schedule& s = planned.plan.schedule;
  if (s.tiles() * s.split + s.ctas > kMostUnits) {
    if (!o.json && o.svg.empty() && planned.plan.kernel != nullptr) return fmt::print("{}\n", to_string(planned.plan));
    throw UsageError(fmt::format("{} tiles are too many to draw (at most {})", s.tiles() * s.split, kMostUnits));
  }
  Timeline timeline = make_timeline(s, planned.costs, planned.places);
  const Caption caption = caption_of(o, planned, timeline);
  if (!o.svg.empty()) {
    Timeline small = timeline;
    merge_narrow(small, timeline.makespan / 400);
    write_file(o.svg, draw_svg(small, caption));
  }
  if (o.json) return fmt::print("{}\n", json_of(o, planned, timeline).dump(2));
  fmt::print("{}", draw_text(timeline, caption, style_of_terminal()));
  if (!o.svg.empty()) fmt::print("Drawn in {}\n", o.svg);
}

}  // namespace

void add_plan(CLI::App& app, int&) {
  auto options = std::make_shared<PlanOptions>();
  PlanOptions& o = *options;
  CLI::App* plan = app.add_subcommand("plan", "what would run for a product, drawn as CTAs or clusters over time");
  plan->add_option("M", o.m, "rows of C")->required();
  plan->add_option("N", o.n, "columns of C")->required();
  plan->add_option("K", o.k, "the summed extent")->required();
  plan->add_option("--type", o.type, "s, d, h or bf: the type of A and B")->capture_default_str();
  plan->add_option("--op", o.op, "NN, NT, TN or TT")->capture_default_str();
  plan->add_option("--out", o.out, "the type of C (as --type)");
  plan->add_option("--batch", o.batch, "products in one call")->capture_default_str();
  plan->add_option("--lda", o.lda, "leading dimension of A (packed)");
  plan->add_option("--ldb", o.ldb, "leading dimension of B (packed)");
  plan->add_option("--ldc", o.ldc, "leading dimension of C (packed)");
  plan->add_option("--align", o.align, "alignment of the addresses in bytes")->capture_default_str();
  plan->add_option("--device", o.device,
                   "current, h200, h100, a100, l40s, b200 (the current one if there is one, else h200)");
  plan->add_option("--sms", o.sms, "use this many SMs");
  plan->add_option("--schedule", o.schedule, "auto, dp, split, streamk, one-tile or two-tile")->capture_default_str();
  plan->add_option("--grid", o.grid, "CTAs, or clusters, of --schedule streamk");
  plan->add_option("--split", o.split, "parts per tile of --schedule split");
  plan->add_option("--width", o.width,
                   "columns of a CTA's tile where the kernel has a choice: a multiple of 8 up to 256,\n"
                   "rounded up to one that the kernel has (0: the model's)");
  plan->add_option("--orientation", o.orientation, "auto, straight or swapped: the width along n or m")
      ->capture_default_str();
  plan->add_option("--cluster", o.cluster,
                   "auto, or 1, 2 or 4 CTAs along m and n, at most 8, that act as one, as 2x1, where\n"
                   "the kernel can and there is room")
      ->capture_default_str();
  plan->add_option("--tile", o.tile, "MxNxK: draw a schedule on this tile, time in k-steps, no kernel");
  plan->add_flag("--json", o.json, "print JSON instead");
  plan->add_option("--svg", o.svg, "also draw into this file");
  plan->footer(
      "Examples:\n  skgemm plan 4096 4096 1024 --type h --op NT --svg plan.svg\n"
      "  skgemm plan 384 384 128 --sms 4 --tile 128x128x4 --schedule streamk    (the Stream-K paper's figure 2)");
  plan->callback([options] { run_plan(*options); });
}

}  // namespace skgemm::cli
