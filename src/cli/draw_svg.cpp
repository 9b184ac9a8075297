// The SVG drawing: rows of boxes over a time axis, with title, figures and legend. Coordinates are pixels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "src/cli/draw.h"
#include "src/cli/palette.h"

namespace skgemm::cli {
namespace {

constexpr double kWidth = 1280, kLeft = 92, kRight = 36, kTop = 34;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr const char* kInk = "#1f2933";
constexpr const char* kSoftInk = "#616e7c";
constexpr const char* kPublishInk = "#9a3412";
constexpr size_t kMostTips = 4000;  // a tooltip per box up to here; beyond it the file grows without use

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string hex(Rgb c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

class Svg {
 public:
  Svg(const Timeline& timeline, const Caption& caption) : timeline_(timeline), caption_(caption) {
    row_height_ = std::clamp(600.0 / static_cast<double>(timeline.rows), 3.0, 46.0);
    gap_ = row_height_ > 20 ? 6 : row_height_ > 10 ? 3 : row_height_ > 5 ? 1 : 0.5;
    plot_top_ = kTop + 24 + 20 * static_cast<double>(caption.lines.size()) + 14;
    plot_bottom_ = plot_top_ + row_height_ * static_cast<double>(timeline.rows);
    height_ = plot_bottom_ + 108;
  }

  std::string draw() {
    emit(R"(<?xml version="1.0" encoding="UTF-8"?>)"
         "\n");
    emit(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" )"
         R"(font-family="Inter, 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif" role="img">)"
         "\n",
         kWidth, height_);
    emit("<title>{}</title>\n", escape(caption_.title));
    emit(
        R"x(<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" )x"
        R"x(patternTransform="rotate(45)">)x"
        R"(<rect width="5" height="5" fill="#fed7aa"/><rect width="2.2" height="5" fill="{}"/></pattern></defs>)"
        "\n",
        kPublishInk);
    emit(R"(<rect width="100%" height="100%" fill="#ffffff"/>)"
         "\n");
    header();
    rows();
    axis();
    boxes();
    legend();
    emit("</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void emit(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  struct TextAt {
    double x, y, size;
    const char* ink = kInk;
    const char* anchor = "start";
    const char* weight = "400";
  };
  void text(const TextAt& at, std::string_view words) {
    emit(R"(<text x="{:.1f}" y="{:.1f}" font-size="{:.1f}" fill="{}" text-anchor="{}" font-weight="{}">{}</text>)"
         "\n",
         at.x, at.y, at.size, at.ink, at.anchor, at.weight, escape(words));
  }

  double x_of(double time) const { return kLeft + time / timeline_.makespan * kPlotWidth; }
  double y_of(int64_t row) const { return plot_top_ + row_height_ * static_cast<double>(row); }

  void header() {
    text({.x = 28, .y = kTop + 8, .size = 20, .weight = "600"}, caption_.title);
    double y = kTop + 32;
    for (const std::string& line : caption_.lines) {
      text({.x = 28, .y = y, .size = 13.5, .ink = kSoftInk}, line);
      y += 20;
    }
    text({.x = kWidth - kRight, .y = kTop + 14, .size = 32, .anchor = "end", .weight = "600"},
         fmt::format("{:.3g} %", 100 * timeline_.step_utilisation));
    text({.x = kWidth - kRight, .y = kTop + 34, .size = 12, .ink = kSoftInk, .anchor = "end"},
         "of the k-step slots do work");
  }

  void rows() {
    const int64_t every =
        std::max<int64_t>(1, static_cast<int64_t>(axis_distance(static_cast<double>(timeline_.rows), 24)));
    const int64_t label_every = row_height_ >= 14 ? 1 : every;
    for (int64_t row = 0; row < timeline_.rows; ++row) {
      emit(R"(<rect x="{:.1f}" y="{:.2f}" width="{:.1f}" height="{:.2f}" fill="#eef1f4"/>)"
           "\n",
           kLeft, y_of(row), kPlotWidth, row_height_ - gap_);
      if (row % label_every != 0) continue;
      text({.x = kLeft - 10,
            .y = y_of(row) + (row_height_ - gap_) / 2 + 4,
            .size = 12,
            .ink = kSoftInk,
            .anchor = "end"},
           fmt::format("{} {}", caption_.row_word, row));
    }
  }

  void axis() {
    const double distance = axis_distance(timeline_.makespan, 12);
    const double y = plot_bottom_ + 4;
    for (double t = 0; t <= timeline_.makespan * (1 + 1e-9); t += distance) {
      emit(R"(<line x1="{0:.1f}" y1="{1:.1f}" x2="{0:.1f}" y2="{2:.1f}" stroke="#cbd2d9"/>)"
           "\n",
           x_of(t), y, y + 6);
      text({.x = x_of(t), .y = y + 20, .size = 12, .ink = kSoftInk, .anchor = "middle"}, fmt::format("{:g}", t));
    }
    text({.x = kLeft - 10, .y = y + 20, .size = 12, .ink = kSoftInk, .anchor = "end"}, caption_.time_unit);
  }

  void boxes() {
    const bool tips = timeline_.boxes.size() <= kMostTips;
    for (const Box& box : timeline_.boxes) {
      if (box.kind != BoxKind::publish && box.kind != BoxKind::collect) draw_box(box, tips);
    }
    // Fixups last, over their neighbours: they are the thin ones.
    for (const Box& box : timeline_.boxes) {
      if (box.kind == BoxKind::publish || box.kind == BoxKind::collect) draw_box(box, tips);
    }
  }

  std::string fill_of(const Box& box) const {
    switch (box.kind) {
      case BoxKind::start:
        return "#cbd2d9";
      case BoxKind::store:
        return "#9fb3c8";
      case BoxKind::publish:
        return "url(#hatch)";
      case BoxKind::collect:
        return kInk;
      case BoxKind::compute:
        break;
    }
    return hex(tile_colour(box.tile, box.shared));
  }

  std::string tip(const Box& box) const {
    const std::string worker = fmt::format("{} {}", caption_.worker_word, box.cta);
    const std::string tiles =
        box.merged > 1 ? fmt::format("{} tiles from {}", box.merged, box.tile) : fmt::format("tile {}", box.tile);
    switch (box.kind) {
      case BoxKind::start:
        return fmt::format("{} starts", worker);
      case BoxKind::store:
        return fmt::format("{} ends {}", worker, tiles);
      case BoxKind::publish:
        return fmt::format("{} stores its partial of {}", worker, tiles);
      case BoxKind::collect:
        return fmt::format("{} sums {} parts of {}", worker, box.contributors, tiles);
      case BoxKind::compute:
        break;
    }
    return fmt::format("{}: {}, {} k-steps", worker, tiles, box.steps);
  }

  void draw_box(const Box& box, bool tips) {
    const bool compute = box.kind == BoxKind::compute;
    const bool fixup = box.kind == BoxKind::publish || box.kind == BoxKind::collect;
    const double least = fixup ? (row_height_ > 12 ? 5 : 1.6) : 0.3;
    const double end = x_of(box.end);
    const double width = std::max(x_of(box.end) - x_of(box.begin), least);
    const double x = std::max(kLeft, end - width), y = y_of(box.row), height = row_height_ - gap_;
    emit(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}")", x, y, width, height, fill_of(box));
    if (compute && row_height_ > 5) emit(R"( stroke="#ffffff" stroke-width="{}")", row_height_ > 12 ? 1.2 : 0.4);
    if (row_height_ > 12) emit(R"( rx="2.5")");
    if (tips) {
      emit("><title>{}</title></rect>\n", tip(box));
    } else {
      emit("/>\n");
    }
    if (compute)
      label_box(box, {.x = x + width / 2, .y = y + height / 2 + 4.2, .size = 12.5, .anchor = "middle", .weight = "500"},
                width);
  }

  void label_box(const Box& box, const TextAt& at, double width) {
    const std::string label = box.merged > 1 ? fmt::format("{} tiles", box.merged) : fmt::format("{}", box.tile);
    const double needed = 8.0 * static_cast<double>(label.size()) + 8;
    if (row_height_ >= 14 && width >= needed) text(at, label);
  }

  std::string nobody_waits() const {
    return fmt::format(" Nobody waits: the last {} to reach a shared tile sums it.", caption_.worker_word);
  }

  void legend() {
    const bool has_whole =
        std::ranges::any_of(timeline_.boxes, [](const Box& b) { return b.kind == BoxKind::compute && !b.shared; });
    const bool has_shared =
        std::ranges::any_of(timeline_.boxes, [](const Box& b) { return b.kind == BoxKind::compute && b.shared; });
    auto has = [&](BoxKind kind) {
      return std::ranges::any_of(timeline_.boxes, [&](const Box& b) { return b.kind == kind; });
    };
    double x = kLeft;
    const double y = plot_bottom_ + 58;
    auto entry = [&](std::initializer_list<std::string> fills, std::string_view words) {
      for (const std::string& fill : fills) {
        emit(R"(<rect x="{:.1f}" y="{:.1f}" width="14" height="14" rx="2.5" fill="{}"/>)"
             "\n",
             x, y - 11.5, fill);
        x += 17;
      }
      text({.x = x + 4, .y = y, .size = 13}, words);
      x += 4 + 7.0 * static_cast<double>(words.size()) + 20;
    };
    auto colours = [](bool shared) {
      return std::array{hex(tile_colour(0, shared)), hex(tile_colour(1, shared)), hex(tile_colour(2, shared))};
    };
    const auto vivid = colours(true), pale = colours(false);
    if (has_shared) entry({vivid[0], vivid[1], vivid[2]}, "tile shared by k-steps");
    if (has_whole) entry({pale[0], pale[1], pale[2]}, "tile done whole");
    if (has(BoxKind::publish)) entry({"url(#hatch)"}, "stores a partial");
    if (has(BoxKind::collect)) entry({kInk}, "sums the partials, ends the tile");
    if (has(BoxKind::store)) entry({"#9fb3c8"}, "ends a tile");
    if (has(BoxKind::start)) entry({"#cbd2d9"}, "start");
    entry({"#eef1f4"}, "idle");
    text({.x = kLeft, .y = y + 28, .size = 12, .ink = kSoftInk},
         fmt::format("A colour is a tile of C.{}", has(BoxKind::collect) ? nobody_waits() : ""));
  }

  const Timeline& timeline_;
  const Caption& caption_;
  std::string out_;
  double row_height_, gap_, plot_top_, plot_bottom_, height_;
};

}  // namespace

std::string draw_svg(const Timeline& timeline, const Caption& caption) { return Svg(timeline, caption).draw(); }

}  // namespace skgemm::cli
