// fp64 at its limits: errors measured in twice fp64's precision and against cuBLAS's on the same operands, subnormal
// numbers, infinities and NaN.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "tests/gpu/gpu_test.h"
#include "tests/support/dot2.h"

namespace skgemm::test {
namespace {

constexpr const char* kOperations[] = {"NN", "NT", "TN", "TT"};
constexpr double kUnit = 0x1p-53;

// cuBLAS's dgemm (cublas_api.h), where a libcublas can be loaded.
class CublasDgemm {
 public:
  CublasDgemm() {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) return;
    const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library, "cublasCreate_v2"));
    gemm_ = reinterpret_cast<Gemm*>(dlsym(library, "cublasDgemm_v2"));
    loaded_ = create != nullptr && gemm_ != nullptr && create(&handle_) == 0;
  }
  bool loaded() const { return loaded_; }
  void multiply(const GemmCase& c, const skgemm_gemm_t& call) const {
    const double alpha = 1, beta = 0;
    check(static_cast<cudaError_t>(gemm_(handle_, c.a_transposed(), c.b_transposed(), static_cast<int>(c.m),
                                         static_cast<int>(c.n), static_cast<int>(c.k), &alpha, call.a,
                                         static_cast<int>(call.lda), call.b, static_cast<int>(call.ldb), &beta, call.c,
                                         static_cast<int>(call.ldc))),
          "cublasDgemm");
  }

 private:
  using Gemm = int(void*, int, int, int, int, int, const double*, const void*, int, const void*, int, const double*,
                   void*, int);
  Gemm* gemm_ = nullptr;
  void* handle_ = nullptr;  // kept until the process ends
  bool loaded_ = false;
};

double a_of(const GemmCase& c, const Operands& x, int64_t i, int64_t p) {
  return c.a_transposed() ? x.a.get(p, i) : x.a.get(i, p);
}
double b_of(const GemmCase& c, const Operands& x, int64_t p, int64_t j) {
  return c.b_transposed() ? x.b.get(j, p) : x.b.get(p, j);
}
void set_a(const GemmCase& c, Operands& x, int64_t i, int64_t p, double v) {
  c.a_transposed() ? x.a.set(p, i, v) : x.a.set(i, p, v);
}
void set_b(const GemmCase& c, Operands& x, int64_t p, int64_t j, double v) {
  c.b_transposed() ? x.b.set(j, p, v) : x.b.set(p, j, v);
}

enum class Data {
  uniform,     // in [-1, 1)
  positive,    // in [0, 1]: roundings add up to one side
  graded,      // rows of A, columns of B and both along k by 2^-40 to 2^40
  cancelling,  // each term of the second half of k nearly cancels one of the first
  neighbours,  // each second term nearly cancels the one before it
};
constexpr const char* kDataNames[] = {"uniform", "positive", "graded", "cancelling", "neighbours"};

// 2^(-40 ... 40) for the at'th of `count`.
double grade(int64_t at, int64_t count) { return std::ldexp(1.0, static_cast<int>(80 * at / count) - 40); }

// Which term the p'th one nearly cancels; itself: none.
int64_t partner(const GemmCase& c, Data data, int64_t p) {
  if (data == Data::cancelling && p >= c.k / 2 && p - c.k / 2 < c.k / 2) return p - c.k / 2;
  return data == Data::neighbours ? p - p % 2 : p;
}

// Makes such data of uniform ones.
void shape_data(const GemmCase& c, Data data, Operands& x) {
  for (int64_t p = 0; p < c.k; ++p) {
    const int64_t of = partner(c, data, p);
    const double along_k = data == Data::graded ? grade(p, c.k) : 1;
    const auto shaped = [&](double v, int64_t at, int64_t count) {
      return data == Data::positive ? std::abs(v) : data == Data::graded ? v * along_k * grade(at, count) : v;
    };
    for (int64_t i = 0; i < c.m; ++i) set_a(c, x, i, p, shaped(a_of(c, x, i, of), i, c.m));
    for (int64_t j = 0; j < c.n; ++j) {
      const double v = b_of(c, x, p, j);
      set_b(c, x, p, j, of == p ? shaped(v, j, c.n) : -b_of(c, x, of, j) * (1 + 0x1p-20 * v));
    }
  }
}

// Errors of elements, in units of 2^-53 times the sum of their terms' magnitudes.
struct Errors {
  double rms = 0, max = 0;
};

// Elements of C with their exact values: the corners, and others.
class Samples {
 public:
  Samples(const GemmCase& c, const Operands& x) {
    const int64_t most = c.k > 100'000 ? 96 : 256;
    Random random(7);
    for (int64_t s = 0; s < std::min(most, c.m * c.n); ++s) {
      const int64_t i = s < 4 ? s % 2 * (c.m - 1) : random.integer(0, c.m - 1);
      const int64_t j = s < 4 ? s / 2 * (c.n - 1) : random.integer(0, c.n - 1);
      Dot2 sum;
      for (int64_t p = 0; p < c.k; ++p) sum.add(a_of(c, x, i, p), b_of(c, x, p, j));
      elements_.push_back({i, j, sum});
    }
  }
  // Of the ratio of two root mean squares over so many samples of one distribution, three standard deviations.
  double spread() const { return 3 / std::sqrt(static_cast<double>(elements_.size())); }
  Errors errors_of(const GuardedMatrix& c) const {
    Errors e;
    for (const auto& [i, j, sum] : elements_) {
      const double error = sum.distance(c.get(i, j)) / (kUnit * sum.magnitude);
      e.rms += error * error / static_cast<double>(elements_.size());
      if (!(error <= e.max)) e.max = error;  // and for NaN
    }
    e.rms = std::sqrt(e.rms);
    return e;
  }

 private:
  struct Element {
    int64_t i, j;
    Dot2 sum;
  };
  std::vector<Element> elements_;
};

GuardedMatrix result_of(DeviceCase& product) {
  check(cudaDeviceSynchronize(), "the kernel");
  GuardedMatrix c = product.operands().c;
  c.frame() = product.c_bytes();
  return c;
}

struct AccuracyCase {
  Data data;
  const char* op;
  int64_t m, n, k;
};

class Accuracy : public GpuTest {
 protected:
  static GemmCase case_of(const char* op, int64_t m, int64_t n, int64_t k) {
    GemmCase c;
    c.in = c.out = DataType::f64;
    c.op = op, c.m = m, c.n = n, c.k = k;
    return c;
  }

  // Ours, and cuBLAS's where it is.
  void compare(const AccuracyCase& x, const CublasDgemm& cublas) {
    const GemmCase c = case_of(x.op, x.m, x.n, x.k);
    DeviceCase product(c);
    shape_data(c, x.data, product.operands());
    product.refresh();
    const Samples samples(c, product.operands());
    check(product.run(handle()), "gemm");
    const Errors ours = samples.errors_of(result_of(product));
    // Roundings that are independent add up as a random walk (Higham and Mary, "A New Approach to Probabilistic
    // Rounding Error Analysis", 2019).
    EXPECT_LE(ours.max, 8 + std::sqrt(static_cast<double>(c.k)));
    std::printf("%-10s %s %lld x %lld x %lld: ours rms %.3f max %.3f", kDataNames[static_cast<int>(x.data)], x.op,
                static_cast<long long>(x.m), static_cast<long long>(x.n), static_cast<long long>(x.k), ours.rms,
                ours.max);
    if (cublas.loaded()) {
      cublas.multiply(c, product.call());
      const Errors theirs = samples.errors_of(result_of(product));
      std::printf(", cuBLAS rms %.3f max %.3f", theirs.rms, theirs.max);
      // An mma adds every other of eight k first, so neighbours that cancel do so late: what no order is spared.
      if (x.data != Data::neighbours) {
        EXPECT_LE(ours.rms, (1 + samples.spread()) * theirs.rms);
        EXPECT_LE(ours.max, 1.5 * theirs.max + 0.1) << "the largest of as many";
      }
    }
    std::printf("\n");
  }
};

TEST_F(Accuracy, ErrorsAreNoLargerThanCublass) {
  set_deadline(std::chrono::seconds(120));
  const CublasDgemm cublas;
  std::vector<AccuracyCase> cases;
  for (const Data data : {Data::uniform, Data::positive, Data::graded, Data::cancelling, Data::neighbours}) {
    for (const char* op : kOperations) cases.push_back({data, op, 301, 259, 1003});
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                  {17, 5, 3},
                                  {64, 64, 16},
                                  {1024, 1024, 512},
                                  {130, 70, 8000},
                                  {1500, 40, 2000}})
      cases.push_back({data, "NN", m, n, k});
  }
  for (const Data data : {Data::uniform, Data::positive, Data::cancelling}) {
    cases.push_back({data, "NN", 16, 24, 1'000'000});
    cases.push_back({data, "TN", 9, 17, 999'999});
  }
  for (const AccuracyCase& x : cases) {
    SCOPED_TRACE(testing::Message() << kDataNames[static_cast<int>(x.data)] << ' ' << x.op << ' ' << x.m << 'x' << x.n
                                    << 'x' << x.k);
    compare(x, cublas);
  }
  if (!cublas.loaded()) GTEST_SKIP() << "no cuBLAS can be loaded: errors were held against their bound alone";
}

// Operands, products, and sums below 2^-1022; all of them multiples of the least number there is, so exact.
TEST_F(Accuracy, SubnormalNumbersAreKept) {
  struct Powers {
    int a, b;
  };
  for (const Powers& power : {Powers{-1074, 0}, {0, -1074}, {-540, -530}, {-1030, -40}, {-500, -540}}) {
    for (const char* op : kOperations) {
      GemmCase c = case_of(op, 133, 71, 45);
      c.fill = Fill::integer;
      DeviceCase product(c);
      Operands& x = product.operands();
      Reference expected = reference_gemm(completed(c), x);
      for (double& v : expected.value) v = std::ldexp(v, power.a + power.b);
      for (int64_t p = 0; p < c.k; ++p) {
        for (int64_t i = 0; i < c.m; ++i) set_a(c, x, i, p, std::ldexp(a_of(c, x, i, p), power.a));
        for (int64_t j = 0; j < c.n; ++j) set_b(c, x, p, j, std::ldexp(b_of(c, x, p, j), power.b));
      }
      product.refresh();
      check(product.run(handle()), "gemm");
      check(cudaDeviceSynchronize(), "the kernel");
      ASSERT_TRUE(product.judge(expected)) << op << " 2^" << power.a << " 2^" << power.b;
    }
  }
}

// One element of A makes its row of C infinite or NaN, one of B its column, and nothing else: no lane multiplies what
// it has by a zero from beyond the edge. Infinities of both signs, zeros against them, and overflow come with that.
TEST_F(Accuracy, InfinitiesAndNanStayInTheirRowAndColumn) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kRow = 130, kColumn = 64, kAt = 100;  // the last of each
  for (const char* op : kOperations) {
    for (const double special : {kInf, -kInf, kNan, 1e308}) {
      GemmCase c = case_of(op, kRow + 1, kColumn + 1, kAt + 1);
      c.fill = Fill::integer;
      DeviceCase product(c);
      Operands& x = product.operands();
      set_a(c, x, kRow, kAt, special);
      set_b(c, x, kAt, kColumn, special);
      product.refresh();
      const Reference expected = reference_gemm(completed(c), x);
      const auto finite =
          std::count_if(expected.value.begin(), expected.value.end(), [](double v) { return std::isfinite(v); });
      ASSERT_GE(finite, kRow * kColumn);
      ASSERT_LT(finite, (kRow + 1) * (kColumn + 1));
      for (const auto orientation : {SKGEMM_ORIENTATION_STRAIGHT, SKGEMM_ORIENTATION_SWAPPED}) {
        for (const auto schedule : {SKGEMM_SCHEDULE_DATA_PARALLEL, SKGEMM_SCHEDULE_STREAM_K}) {
          check(skgemm_set_tile(handle(), 48, orientation), "skgemm_set_tile");
          check(skgemm_set_schedule(handle(), schedule, 0), "skgemm_set_schedule");
          product.reset_c();
          check(product.run(handle()), "gemm");
          check(cudaDeviceSynchronize(), "the kernel");
          ASSERT_TRUE(product.judge(expected)) << op << ' ' << special << ' ' << orientation << ' ' << schedule;
        }
      }
    }
  }
}

}  // namespace
}  // namespace skgemm::test
