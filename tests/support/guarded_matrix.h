// A column-major matrix (or a batch of them) inside a frame of poison: a guard band before it, gap rows between its
// columns, a guard band behind it. The whole frame travels to the device and back, so every byte a kernel must not
// write is checked, and everything it must not read is NaN.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/element.h"
#include "tests/support/random.h"

namespace skgemm::test {

enum class Fill {
  real,     // uniform in [-1, 1)
  integer,  // small integers, so that sums are exact
  ones,
};

struct MatrixShape {
  DataType type = DataType::f32;
  int64_t rows = 0, cols = 0, ld = 1;
  int64_t stride = 0;  // between batch entries, elements; any sign, 0 for one shared entry
  int64_t batch = 1;
  int64_t offset = 0;      // elements from a 256-byte boundary to the lowest element
  bool tight_end = false;  // the frame ends with the last element: no guard band behind
};

class GuardedMatrix {
 public:
  explicit GuardedMatrix(const MatrixShape& shape);  // every element is poison

  const MatrixShape& shape() const { return shape_; }
  const std::vector<std::byte>& frame() const { return frame_; }
  std::vector<std::byte>& frame() { return frame_; }
  // Bytes from the start of the frame to element (0, 0) of entry 0.
  int64_t origin_bytes() const { return origin_ * size_of(shape_.type); }

  double get(int64_t i, int64_t j, int64_t entry = 0) const;
  void set(int64_t i, int64_t j, double value, int64_t entry = 0);
  void fill(Fill how, Random& random);
  void fill(double value);

  // "" when everything around the elements is still poison; otherwise what was overwritten, in words.
  std::string damage() const;

 private:
  int64_t index(int64_t i, int64_t j, int64_t entry) const {
    return origin_ + entry * shape_.stride + i + j * shape_.ld;
  }
  template <class F>
  void for_each_element(F&& visit) const;

  MatrixShape shape_;
  int64_t origin_ = 0;  // elements
  std::vector<std::byte> frame_;
};

}  // namespace skgemm::test
