// A dot product as if it were summed in twice fp64's precision (algorithm 5.3, "Dot2", of Ogita, Rump and Oishi,
// "Accurate Sum and Dot Product", 2005), with the sum of its terms' magnitudes: what an error is measured against.
#pragma once
#include <cmath>
#include <cstdint>

namespace skgemm::test {

struct Dot2 {
  double high = 0, low = 0;  // the sum is high + low
  double magnitude = 0;      // of |a_i * b_i|

  void add(double a, double b) {
    const double product = a * b, product_error = std::fma(a, b, -product);
    const double sum = high + product, virtually = sum - high;
    const double sum_error = (high - (sum - virtually)) + (product - virtually);
    high = sum;
    low += sum_error + product_error;
    magnitude += std::abs(product);
  }
  // |value - sum|, without losing what the leading digits of both share.
  double distance(double value) const { return std::abs((value - high) - low); }
};

}  // namespace skgemm::test
