// The terminal drawing: a line per row of the timeline, a character per moment.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "src/cli/draw.h"
#include "src/cli/palette.h"

namespace skgemm::cli {
namespace {

constexpr std::string_view kIdle = "·", kPublish = "▾", kCollect = "Σ", kStart = "╶", kStore = "▪";

struct Cell {
  std::string_view glyph = kIdle;
  const Box* box = nullptr;
};

std::string_view glyph_of(BoxKind kind) {
  switch (kind) {
    case BoxKind::start:
      return kStart;
    case BoxKind::publish:
      return kPublish;
    case BoxKind::collect:
      return kCollect;
    case BoxKind::store:
      return kStore;
    case BoxKind::compute:
      break;
  }
  return " ";
}

// Without colour neighbouring tiles differ by their shade.
std::string_view shade(int64_t tile) {
  constexpr std::string_view shades[] = {"░", "▒", "▓"};
  return shades[tile % 3];
}

std::string paint(const Cell& cell, Colour colour) {
  if (colour == Colour::none) return std::string(cell.glyph);
  if (cell.box == nullptr || cell.box->kind == BoxKind::start) return fmt::format("\x1b[2m{}\x1b[0m", cell.glyph);
  const bool compute = cell.box->kind == BoxKind::compute;
  const Rgb c = tile_colour(cell.box->tile, cell.box->shared);
  const std::string_view weight = compute ? "30" : "1;30";
  if (colour == Colour::palette) return fmt::format("\x1b[{};48;5;{}m{}\x1b[0m", weight, terminal_index(c), cell.glyph);
  return fmt::format("\x1b[{};48;2;{};{};{}m{}\x1b[0m", weight, c.r, c.g, c.b, cell.glyph);
}

// Boxes of one row onto `width` cells. A box too narrow for a cell still marks one when it is a fixup.
std::vector<Cell> cells_of_row(std::span<const Box> boxes, double makespan, int width, bool coloured) {
  std::vector<Cell> cells(static_cast<size_t>(width));
  auto column = [&](double time) {
    return std::clamp(static_cast<int>(std::lround(time / makespan * width)), 0, width);
  };
  auto put = [&](const Box& box, int begin, int end) {
    for (int x = begin; x < end; ++x) {
      std::string_view glyph = glyph_of(box.kind);
      if (box.kind == BoxKind::compute && !coloured) glyph = shade(box.tile);
      cells[static_cast<size_t>(x)] = {glyph, &box};
    }
  };
  for (const Box& box : boxes) {
    const int begin = column(box.begin), end = column(box.end);
    put(box, begin, end);
    const std::string label = fmt::format("{}", box.tile);
    if (box.kind != BoxKind::compute || box.merged > 1 || end - begin < std::ssize(label) + 2) continue;
    if (!coloured) cells[static_cast<size_t>(begin)].glyph = "│";
    for (size_t i = 0; i < label.size(); ++i) {
      constexpr std::string_view digits = "0123456789";
      cells[static_cast<size_t>(begin + 1) + i].glyph = digits.substr(static_cast<size_t>(label[i] - '0'), 1);
    }
  }
  for (const Box& box : boxes) {
    if (box.kind != BoxKind::publish && box.kind != BoxKind::collect) continue;
    const int end = column(box.end), begin = column(box.begin);
    if (begin == end) put(box, std::max(0, end - 1), std::max(1, end));
  }
  return cells;
}

std::string axis(const Timeline& timeline, const Caption& caption, int margin, int width) {
  const double distance = axis_distance(timeline.makespan, std::max(2, width / 12));
  std::string line(static_cast<size_t>(width + 12), ' ');
  for (double t = 0; t <= timeline.makespan * (1 + 1e-9); t += distance) {
    const std::string label = fmt::format("{:g}", t);
    const auto at = static_cast<size_t>(std::lround(t / timeline.makespan * width));
    std::ranges::copy(label, line.begin() + static_cast<std::ptrdiff_t>(at));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return fmt::format("{:>{}}{} {}\n", "", margin, line, caption.time_unit);
}

std::string legend(const Timeline& timeline, bool coloured) {
  std::string text = coloured ? "colour, number = tile" : "number and shade = tile";
  if (timeline.published > 0)
    text += fmt::format("   {} stores a partial   {} sums the partials, ends the tile", kPublish, kCollect);
  const auto has = [&](BoxKind kind) {
    return std::ranges::any_of(timeline.boxes, [&](const Box& b) { return b.kind == kind; });
  };
  if (has(BoxKind::store)) text += fmt::format("   {} ends a tile", kStore);
  if (has(BoxKind::start)) text += fmt::format("   {} start", kStart);
  text += fmt::format("   {} idle\n", kIdle);
  return text;
}

}  // namespace

double axis_distance(double length, int marks) {
  if (length <= 0) return 1;
  const double least = length / marks;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

std::string draw_text(const Timeline& timeline, const Caption& caption, const TextStyle& style) {
  // An odd distance, so that the rows shown of a tile split 2, 4 or 8 ways are not all of one position.
  const int64_t every = ceil_div(timeline.rows, style.most_rows) | (timeline.rows > style.most_rows ? 1 : 0);
  const int label_width = static_cast<int>(caption.row_word.size() + fmt::format(" {}", timeline.rows - 1).size());
  const int margin = label_width + 2;
  const int width = std::max(20, style.columns - margin - 12);
  const bool coloured = style.colour != Colour::none;

  std::string out = coloured ? fmt::format("\x1b[1m{}\x1b[0m\n", caption.title) : caption.title + "\n";
  for (const std::string& line : caption.lines) out += line + "\n";
  out += "\n";
  auto box = timeline.boxes.begin();
  for (int64_t row = 0; row < timeline.rows; ++row) {
    const auto begin = box;
    while (box != timeline.boxes.end() && box->row == row) ++box;
    if (row % every != 0) continue;
    out += fmt::format("{:>{}}  ", fmt::format("{} {}", caption.row_word, row), label_width);
    for (const Cell& cell : cells_of_row({begin, box}, timeline.makespan, width, coloured))
      out += paint(cell, style.colour);
    out += "\n";
  }
  out += axis(timeline, caption, margin, width);
  out += "\n" + legend(timeline, coloured);
  if (every > 1) out += fmt::format("One row in {} is shown, of {}.\n", every, timeline.rows);
  return out;
}

}  // namespace skgemm::cli
