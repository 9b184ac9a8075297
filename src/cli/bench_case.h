// The products that `skgemm bench` measures, and the files they come from.
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "src/cli/words.h"

namespace skgemm::cli {

// Column-major; batch entries packed one after the other.
struct BenchCase {
  DataType type, out;
  OpPair ops;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  int64_t batch;
  double alpha, beta;

  int64_t a_rows() const { return ops.a_transposed ? k : m; }
  int64_t a_columns() const { return ops.a_transposed ? m : k; }
  int64_t b_rows() const { return ops.b_transposed ? n : k; }
  int64_t b_columns() const { return ops.b_transposed ? k : n; }
  int64_t stride_a() const { return lda * a_columns(); }
  int64_t stride_b() const { return ldb * b_columns(); }
  int64_t stride_c() const { return ldc * n; }
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

// A CSV file with a line of column names: type, op, m, n, k and any of lda, ldb, ldc, batch, alpha, beta, out. Other
// columns are ignored and lines that begin with # skipped, so a table that bench wrote can be measured again. Errors
// name the line.
std::vector<BenchCase> read_cases(std::istream& file, const std::string& name);
// Lines of SKGEMM_VERBOSE=1 (src/log.h), mixed with anything else. Products with nothing to compute are left out.
std::vector<BenchCase> read_replay(std::istream& file, const std::string& name);

}  // namespace skgemm::cli
