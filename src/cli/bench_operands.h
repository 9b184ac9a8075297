// Operands of the benchmark: one block of random numbers on the host, repeated over a pool of device memory through
// which the calls rotate, so that they come from DRAM. The host's block says what every element on the device is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/cli/bench_case.h"

namespace skgemm::cli {

// Uniform in [-1, 1), in the element type.
class Block {
 public:
  Block(DataType type, int64_t elements, uint64_t seed);

  DataType type() const { return type_; }
  int64_t elements() const { return elements_; }
  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  // Element of a pool that holds the block over and over.
  double at(int64_t element) const;
  // `count` of them from `first` on, `stride` apart: the walk of at() without its division and switch.
  std::vector<double> gather(int64_t first, int64_t stride, int64_t count) const;

 private:
  DataType type_;
  int64_t elements_;
  std::vector<std::byte> bytes_;
};

// Where call i of a case finds its operands: A and B one after the other in the input pool, C in the output pool.
struct Layout {
  int64_t a_bytes, b_bytes, c_bytes;  // one set, rounded up to 256 bytes
  int64_t sets, c_sets;               // that the pools hold

  int64_t a_offset(int64_t call) const { return call % sets * (a_bytes + b_bytes); }
  int64_t b_offset(int64_t call) const { return a_offset(call) + a_bytes; }
  int64_t c_offset(int64_t call) const { return call % c_sets * c_bytes; }
};
int64_t input_bytes(const BenchCase& c);
int64_t output_bytes(const BenchCase& c);
Layout make_layout(const BenchCase& c, int64_t input_pool_bytes, int64_t output_pool_bytes);

}  // namespace skgemm::cli
