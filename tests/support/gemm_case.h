// One product as a test states it: a value that prints itself, and is read back from that text or from a CSV row, so
// that any failure can be repeated alone.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/guarded_matrix.h"

namespace skgemm::test {

// Stride of a batch whose entries follow each other without overlap.
inline constexpr int64_t kPacked = std::numeric_limits<int64_t>::min();

struct GemmCase {
  DataType in = DataType::f32, out = DataType::f32;
  std::string op = "NN";  // N, T or C, for A and for B
  int64_t m = 1, n = 1, k = 1;
  int64_t lda = 0, ldb = 0, ldc = 0;  // 0: the smallest legal one
  int64_t batch = 1;
  int64_t stride_a = kPacked, stride_b = kPacked, stride_c = kPacked;
  int64_t offset_a = 0, offset_b = 0, offset_c = 0;  // elements past a 256-byte boundary
  double alpha = 1, beta = 0;
  Fill fill = Fill::real;
  int64_t tight_end = 0;                 // 1: operands end exactly where their allocation ends
  int64_t device_scalars = 0;            // 1: alpha and beta in device memory
  int64_t typed_call = 0;                // 1: skgemm_sgemm and the like instead of skgemm_gemm_ex
  int64_t schedule = 0, parameter = 0;   // of skgemm_set_schedule
  int64_t width = 0, orientation = 0;    // of skgemm_set_tile
  int64_t cluster_m = 0, cluster_n = 0;  // of skgemm_set_cluster
  int64_t sms = 0;                       // of skgemm_set_sm_limit
  int64_t workspace = -1;                // bytes lent by the test; -1: the library's own
  int64_t workspace_offset = 0;          // bytes past a 256-byte boundary
  int64_t seed = 1;

  bool a_transposed() const { return op[0] != 'N'; }
  bool b_transposed() const { return op[1] != 'N'; }
};

// The same with every 0 ld and packed stride replaced by its value.
GemmCase completed(GemmCase c);
// "type=f16 out=f32 op=NT m=5 ..." with the fields that are not default, and back. Throws std::invalid_argument, naming
// the word, for what it does not know.
std::string to_string(const GemmCase& c);
GemmCase parse_case(std::string_view text);
// A CSV with one row of the same keys first, and # comments; the format of `skgemm bench --cases`.
std::vector<GemmCase> read_cases(const std::string& path);

// Operands with their data: A, B, and C with random values, or poison when beta is 0.
struct Operands {
  GuardedMatrix a, b, c;
};
Operands make_operands(const GemmCase& completed_case);

}  // namespace skgemm::test
