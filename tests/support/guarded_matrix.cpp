// Layout, filling and checking of guarded matrices.
#include "tests/support/guarded_matrix.h"

#include <algorithm>

namespace skgemm::test {
namespace {

constexpr int64_t kGuardBytes = 512;  // each side; a multiple of the strongest alignment a kernel looks at

}  // namespace

GuardedMatrix::GuardedMatrix(const MatrixShape& shape) : shape_(shape) {
  const int64_t size = size_of(shape.type), guard = kGuardBytes / size;
  const int64_t last_entry = std::max<int64_t>(shape.batch - 1, 0) * shape.stride;
  const bool empty = shape.rows == 0 || shape.cols == 0 || shape.batch == 0;
  const int64_t one_entry = empty ? 0 : shape.rows + (shape.cols - 1) * shape.ld;
  const int64_t lowest = empty ? 0 : std::min<int64_t>(0, last_entry);
  const int64_t extent = one_entry + (empty ? 0 : std::max<int64_t>(0, last_entry) - lowest);
  origin_ = guard + shape.offset - lowest;
  frame_.resize(static_cast<size_t>((guard + shape.offset + extent + (shape.tight_end ? 0 : guard)) * size));
  for (size_t at = 0; at < frame_.size(); at += static_cast<size_t>(size)) store_poison(shape.type, &frame_[at]);
}

template <class F>
void GuardedMatrix::for_each_element(F&& visit) const {
  for (int64_t entry = 0; entry < shape_.batch; ++entry) {
    for (int64_t j = 0; j < shape_.cols; ++j) {
      for (int64_t i = 0; i < shape_.rows; ++i) visit(index(i, j, entry));
    }
  }
}

double GuardedMatrix::get(int64_t i, int64_t j, int64_t entry) const {
  return load_element(shape_.type, &frame_[static_cast<size_t>(index(i, j, entry) * size_of(shape_.type))]);
}

void GuardedMatrix::set(int64_t i, int64_t j, double value, int64_t entry) {
  store_element(shape_.type, &frame_[static_cast<size_t>(index(i, j, entry) * size_of(shape_.type))], value);
}

void GuardedMatrix::fill(Fill how, Random& random) {
  const int64_t size = size_of(shape_.type);
  for_each_element([&](int64_t at) {
    const double value = how == Fill::real      ? random.real()
                         : how == Fill::integer ? static_cast<double>(random.integer(-3, 3))
                                                : 1.0;
    store_element(shape_.type, &frame_[static_cast<size_t>(at * size)], value);
  });
}

void GuardedMatrix::fill(double value) {
  const int64_t size = size_of(shape_.type);
  for_each_element([&](int64_t at) { store_element(shape_.type, &frame_[static_cast<size_t>(at * size)], value); });
}

std::string GuardedMatrix::damage() const {
  const int64_t size = size_of(shape_.type);
  std::vector<bool> owned(frame_.size() / static_cast<size_t>(size));
  for_each_element([&](int64_t at) { owned[static_cast<size_t>(at)] = true; });
  int64_t hits = 0, first = 0;
  for (int64_t at = 0; at < static_cast<int64_t>(owned.size()); ++at) {
    if (owned[static_cast<size_t>(at)] || is_poison(shape_.type, &frame_[static_cast<size_t>(at * size)])) continue;
    if (hits++ == 0) first = at - origin_;
  }
  if (hits == 0) return "";
  return std::to_string(hits) + " elements outside the matrix were written, the first at " + std::to_string(first) +
         " elements from (0, 0), ld " + std::to_string(shape_.ld);
}

}  // namespace skgemm::test
