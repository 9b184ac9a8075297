// The products that `skgemm bench` measures, and the files they come from.
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "src/cli/words.h"

namespace skgemm::cli {

// Column-major. Batch entries lie one after the other where no distance is given.
struct BenchCase {
  static constexpr int64_t kPacked = -1;

  DataType type, out;
  OpPair ops;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  int64_t batch;
  double alpha, beta;
  // Elements between batch entries; 0 of A or B: one matrix for all.
  int64_t given_stride_a = kPacked, given_stride_b = kPacked, given_stride_c = kPacked;

  int64_t a_rows() const { return ops.a_transposed ? k : m; }
  int64_t a_columns() const { return ops.a_transposed ? m : k; }
  int64_t b_rows() const { return ops.b_transposed ? n : k; }
  int64_t b_columns() const { return ops.b_transposed ? k : n; }
  int64_t stride_a() const { return given_stride_a == kPacked ? lda * a_columns() : given_stride_a; }
  int64_t stride_b() const { return given_stride_b == kPacked ? ldb * b_columns() : given_stride_b; }
  int64_t stride_c() const { return given_stride_c == kPacked ? ldc * n : given_stride_c; }
  // Elements of memory that all entries take.
  int64_t a_extent() const { return (batch - 1) * stride_a() + lda * a_columns(); }
  int64_t b_extent() const { return (batch - 1) * stride_b() + ldb * b_columns(); }
  int64_t c_extent() const { return (batch - 1) * stride_c() + ldc * n; }
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
  }

  bool operator==(const BenchCase&) const = default;
};

// "h NN 1352x2848x7264", with whatever is not the default after it.
std::string to_string(const BenchCase& c);

BenchCase packed_case(DataType type, OpPair ops, int64_t m, int64_t n, int64_t k);
// Throws UsageError, beginning with `where`, when the case makes no sense or its types are not served.
void check_case(const BenchCase& c, const std::string& where);

// A CSV file with a line of column names: type, op, m, n, k and any of lda, ldb, ldc, batch, stride_a, stride_b,
// stride_c, alpha, beta, out. Other columns are ignored and lines that begin with # skipped, so a table that bench
// wrote can be measured again. Errors name the line.
std::vector<BenchCase> read_cases(std::istream& file, const std::string& name);
// Lines of SKGEMM_VERBOSE=1 (src/log.h), mixed with anything else. Products with nothing to compute are left out;
// illegal calls, which the library hands to the CPU BLAS for its message, are left out and counted.
struct Replay {
  std::vector<BenchCase> cases;
  int64_t illegal = 0;
};
Replay read_replay(std::istream& file, const std::string& name);

}  // namespace skgemm::cli
