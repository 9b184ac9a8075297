// Colours of drawings: one per tile, evenly spread in hue and of equal lightness, so that neighbours differ and none
// shouts.
#pragma once
#include <cstdint>

namespace skgemm::cli {

struct Rgb {
  uint8_t r, g, b;

  bool operator==(const Rgb&) const = default;
};

// From OKLCH (Ottosson 2020): lightness 0..1, chroma 0..0.3, hue in degrees. Clipped to sRGB.
Rgb oklch(double lightness, double chroma, double hue);
// Vivid for tiles that CTAs share, pale for tiles done whole.
Rgb tile_colour(int64_t tile, bool shared);
// Nearest of the 256-colour terminal palette's 6x6x6 cube.
int terminal_index(Rgb colour);

}  // namespace skgemm::cli
