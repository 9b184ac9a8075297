#include "src/cli/palette.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace skgemm::cli {
namespace {

uint8_t encode_srgb(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * encoded));
}

double cube(double x) { return x * x * x; }

}  // namespace

Rgb oklch(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180;
  const double a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {encode_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          encode_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          encode_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Rgb tile_colour(int64_t tile, bool shared) {
  constexpr double kGoldenAngle = 137.50776405;  // degrees: any run of tiles gets well separated hues
  const double hue = std::fmod(250 + kGoldenAngle * static_cast<double>(tile), 360);
  return shared ? oklch(0.74, 0.125, hue) : oklch(0.875, 0.055, hue);
}

int terminal_index(Rgb colour) {
  auto level = [](uint8_t x) {
    return x < 48 ? 0 : x < 115 ? 1 : (x - 35) / 40;
  };  // the cube's 0, 95, 135, 175, 215, 255
  return 16 + 36 * level(colour.r) + 6 * level(colour.g) + level(colour.b);
}

}  // namespace skgemm::cli
