// A timeline as text for a terminal and as SVG. Pure functions.
#pragma once
#include <string>
#include <vector>

#include "src/cli/timeline.h"

namespace skgemm::cli {

// What the drawing says around the boxes.
struct Caption {
  std::string title;
  std::vector<std::string> lines;  // below the title
  std::string worker_word;         // who takes tiles: "CTA" or "cluster"
  std::string row_word;            // what a row is: "SM", or a worker
  std::string time_unit;           // "us" or "k-steps"
};

enum class Colour : uint8_t { none, palette, full };

struct TextStyle {
  Colour colour = Colour::none;
  int columns = 100;   // of the terminal
  int most_rows = 36;  // more are sampled evenly
};

std::string draw_text(const Timeline& timeline, const Caption& caption, const TextStyle& style);
std::string draw_svg(const Timeline& timeline, const Caption& caption);

// A round distance between axis marks: 1, 2 or 5 times a power of ten, at most `marks` of them over `length`.
double axis_distance(double length, int marks);

}  // namespace skgemm::cli
