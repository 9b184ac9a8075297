// The sequential cache-blocked product (algorithm 1 of Osama et al. 2023) in fp64, and the comparison with it.
#include "tests/support/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace skgemm::test {
namespace {

constexpr int64_t kBlkM = 64, kBlkN = 128, kBlkK = 64;

// One batch entry as plain arrays: op(A) m x k and op(B) k x n, rows contiguous.
struct Dense {
  std::vector<double> a, b;
};

Dense densified(const GemmCase& c, const Operands& o, int64_t entry) {
  Dense d{std::vector<double>(static_cast<size_t>(c.m * c.k)), std::vector<double>(static_cast<size_t>(c.k * c.n))};
  for (int64_t p = 0; p < c.k; ++p) {
    for (int64_t i = 0; i < c.m; ++i) {
      d.a[static_cast<size_t>(i * c.k + p)] = c.a_transposed() ? o.a.get(p, i, entry) : o.a.get(i, p, entry);
    }
    for (int64_t j = 0; j < c.n; ++j) {
      d.b[static_cast<size_t>(p * c.n + j)] = c.b_transposed() ? o.b.get(j, p, entry) : o.b.get(p, j, entry);
    }
  }
  return d;
}

// sum += A*B, m x n with rows contiguous.
void multiply(const GemmCase& c, const double* a, const double* b, double* sum) {
  for (int64_t mm = 0; mm < c.m; mm += kBlkM) {
    for (int64_t nn = 0; nn < c.n; nn += kBlkN) {
      for (int64_t kk = 0; kk < c.k; kk += kBlkK) {
        const int64_t m_end = std::min(mm + kBlkM, c.m), n_end = std::min(nn + kBlkN, c.n);
        const int64_t k_end = std::min(kk + kBlkK, c.k);
        for (int64_t i = mm; i < m_end; ++i) {    // tile rows [mm, mm + BLK_M)
          for (int64_t p = kk; p < k_end; ++p) {  // one step's [kk, kk + BLK_K)
            const double left = a[i * c.k + p];
            for (int64_t j = nn; j < n_end; ++j) sum[i * c.n + j] += left * b[p * c.n + j];
          }
        }
      }
    }
  }
}

std::vector<double> product(const GemmCase& c, const Dense& d) {
  std::vector<double> sum(static_cast<size_t>(c.m * c.n));
  multiply(c, d.a.data(), d.b.data(), sum.data());
  return sum;
}

void make_absolute(std::vector<double>& values) {
  for (double& x : values) x = std::fabs(x);
}

double scalar_as_passed(const GemmCase& c, double value) {
  return c.in == DataType::f64 ? value : static_cast<double>(static_cast<float>(value));
}

// The BLAS rule: what is multiplied by a zero scalar is not read.
double combined(double alpha, double sum, double beta, double old, int64_t k) {
  const double scaled = beta == 0 ? 0.0 : beta * old;
  return alpha == 0 || k == 0 ? scaled : beta == 0 ? alpha * sum : alpha * sum + scaled;
}

// `magnitude` is |A||B|; `old` is beta*C.
double tolerance_of(const GemmCase& c, double alpha, double magnitude, double old, double value) {
  const double unit = accumulation_unit(c.in), scalar_unit = unit_roundoff(accumulator_of(c.in));
  const double exact_unit = unit_roundoff(DataType::f64), terms = static_cast<double>(c.k) + 3;
  const double sum = std::fabs(alpha) * magnitude;
  const double ours =
      gamma(terms, unit) * sum + gamma(3, scalar_unit) * std::fabs(old) + 2 * smallest_subnormal(accumulator_of(c.in));
  const double references = gamma(terms, exact_unit) * (sum + std::fabs(old));
  return ours + references + unit_roundoff(c.out) * (std::fabs(value) + ours) + smallest_subnormal(c.out);
}

}  // namespace

double gamma(double roundings, double unit) { return roundings * unit / (1 - roundings * unit); }

double accumulation_unit(DataType in) {
  const bool tensor_core_fp32 = in == DataType::f16 || in == DataType::bf16;
  return tensor_core_fp32 ? 0x1p-22 : unit_roundoff(accumulator_of(in));
}

Reference reference_gemm(const GemmCase& c, const Operands& o) {
  Reference r{c.m, c.n, c.batch, {}, {}};
  r.value.reserve(static_cast<size_t>(c.m * c.n * c.batch));
  r.tolerance.reserve(r.value.capacity());
  const double alpha = scalar_as_passed(c, c.alpha), beta = scalar_as_passed(c, c.beta);
  const bool exact = c.fill != Fill::real;
  const int64_t inner = alpha == 0 ? 0 : c.k;
  for (int64_t entry = 0; entry < c.batch; ++entry) {
    Dense d = inner == 0 ? Dense{} : densified(c, o, entry);
    const std::vector<double> sum = inner == 0 ? std::vector<double>(static_cast<size_t>(c.m * c.n)) : product(c, d);
    make_absolute(d.a);
    make_absolute(d.b);
    const std::vector<double> magnitude = exact || inner == 0 ? sum : product(c, d);
    for (int64_t j = 0; j < c.n; ++j) {
      for (int64_t i = 0; i < c.m; ++i) {
        const size_t at = static_cast<size_t>(i * c.n + j);
        const double old = beta == 0 ? 0.0 : o.c.get(i, j, entry);
        const double value = combined(alpha, sum[at], beta, old, c.k);
        r.value.push_back(exact ? rounded(c.out, value) : value);
        r.tolerance.push_back(exact ? 0.0 : tolerance_of(c, alpha, magnitude[at], beta * old, value));
      }
    }
  }
  return r;
}

std::string mismatch(const GuardedMatrix& c, const Reference& r) {
  int64_t wrong = 0;
  char first[160] = "";
  size_t at = 0;
  for (int64_t entry = 0; entry < r.batch; ++entry) {
    for (int64_t j = 0; j < r.n; ++j) {
      for (int64_t i = 0; i < r.m; ++i, ++at) {
        const double got = c.get(i, j, entry), want = r.value[at], bound = r.tolerance[at];
        // A finite comparison that NaN cannot pass: !(x <= t) is true for NaN.
        const bool same_class = std::isnan(want) ? std::isnan(got) : std::isinf(want) ? got == want : false;
        if (same_class || (std::isfinite(want) && std::fabs(got - want) <= bound)) continue;
        if (wrong++ == 0) {
          std::snprintf(first, sizeof first, "C(%lld,%lld) of entry %lld is %.17g, not %.17g +- %.3g",
                        static_cast<long long>(i), static_cast<long long>(j), static_cast<long long>(entry), got, want,
                        bound);
        }
      }
    }
  }
  return wrong == 0 ? "" : std::to_string(wrong) + " of " + std::to_string(at) + " elements are wrong: " + first;
}

}  // namespace skgemm::test
