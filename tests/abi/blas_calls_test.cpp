// Legal calls through every BLAS and CBLAS name of libskgemm.so. CTest runs this program over several CPU BLAS
// libraries, and over none (CMakeLists.txt here).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "tests/abi/entry_points.h"
#include "tests/cpu/random_case.h"
#include "tests/support/watchdog.h"

namespace skgemm::test {
namespace {

using namespace std::chrono_literals;

// First in this program: the library is looked up, and its tables are made, by eight threads at once.
TEST(FirstCall, ByEightThreadsAtOnce) {
  std::vector<std::string> faults(8);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < faults.size(); ++t) {
      threads.emplace_back([&faults, t] {
        Random random(t + 1);
        for (int i = 0; i < 40 && faults[t].empty(); ++i) {
          const EntryPoint& entry = random.pick(kEntryPoints);
          faults[t] = fault_of(entry, random_case(random, entry.type, 20));
        }
      });
    }
  }
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

class EveryEntryPoint : public testing::TestWithParam<EntryPoint> {};

TEST_P(EveryEntryPoint, RandomCases) {
  Random random(11);
  for (int i = 0; i < 150; ++i) {
    const GemmCase c = random_case(random, GetParam().type, 40);
    ASSERT_EQ(fault_of(GetParam(), c), "");
    if (GetParam().cblas) {
      ASSERT_EQ(fault_of(GetParam(), c, true), "");
    }
  }
}

// C holds NaN, and so does everything around it: beta 0 must not read it, whichever kernel serves the size.
TEST_P(EveryEntryPoint, BetaZeroNeverReadsC) {
  for (const double beta : {0.0, -0.0}) {
    for (const int64_t size : {1, 2, 7, 33, 64, 129}) {
      const GemmCase c{.in = GetParam().type,
                       .out = GetParam().type,
                       .m = size,
                       .n = size + 1,
                       .k = 5,
                       .ldc = size + 3,
                       .beta = beta};
      ASSERT_EQ(fault_of(GetParam(), c), "");
    }
  }
}

TEST_P(EveryEntryPoint, AlphaZeroNeverReadsAAndB) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const DataType type = GetParam().type;
  for (const double beta : {0.0, 1.0, 2.0}) {
    GuardedMatrix a({.type = type, .rows = 3, .cols = 3, .ld = 3}), c({.type = type, .rows = 3, .cols = 3, .ld = 3});
    a.fill(kNan);
    c.fill(3);
    void* a_data = a.frame().data() + a.origin_bytes();
    GetParam().call({.op_a = 'N',
                     .op_b = 'T',
                     .m = 3,
                     .n = 3,
                     .k = 3,
                     .alpha = 0,
                     .beta = beta,
                     .a = a_data,
                     .lda = 3,
                     .b = a_data,
                     .ldb = 3,
                     .c = c.frame().data() + c.origin_bytes(),
                     .ldc = 3,
                     .row_major = false});
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(c.get(i, 2 - i), beta * 3);
    EXPECT_EQ(c.damage(), "");
  }
}

TEST_P(EveryEntryPoint, EmptyProductsReturnAtOnce) {
  const Watchdog watchdog("EmptyProductsReturnAtOnce", 20s);
  for (const char* op : {"NN", "NT", "TN", "TT"}) {
    for (const auto& [m, n, k] : {std::tuple{0, 4, 4}, {4, 0, 4}, {4, 4, 0}, {0, 0, 0}}) {
      for (const double beta : {0.0, 1.0, 0.5}) {
        const GemmCase c{.in = GetParam().type, .out = GetParam().type, .op = op, .m = m, .n = n, .k = k, .beta = beta};
        ASSERT_EQ(fault_of(GetParam(), c), "");
        if (GetParam().cblas) {
          ASSERT_EQ(fault_of(GetParam(), c, true), "");
        }
      }
    }
  }
}

// The reference returns before it reads a scalar or a matrix, so all of them may be NULL (CBLAS scalars are values).
TEST_P(EveryEntryPoint, EmptyProductsReadNothing) {
  for (const auto& [m, n] : {std::pair{0, 4}, {4, 0}, {0, 0}}) {
    CallArguments x{.op_a = 'N', .op_b = 'N', .m = m, .n = n, .k = 4, .lda = 4, .ldb = 4, .ldc = 4};
    x.scalars_null = true;
    GetParam().call(x);
    x.row_major = true;
    if (GetParam().cblas) GetParam().call(x);
  }
}

INSTANTIATE_TEST_SUITE_P(Blas, EveryEntryPoint, testing::ValuesIn(kEntryPoints),
                         [](const auto& row) { return std::string(row.param.name); });

// gfortran passes a size_t per character argument behind the documented ones, C callers nothing: both must do.
TEST(Fortran, HiddenLengthsAreNotNeeded) {
  using WithLengths =
      void (*)(const char*, const char*, const int32_t*, const int32_t*, const int32_t*, const double*, const double*,
               const int32_t*, const double*, const int32_t*, const double*, double*, const int32_t*, size_t, size_t);
  const int32_t one = 1;
  const double alpha = 2, a = 3, b = 5, beta = 0;
  for (const size_t length : {size_t{1}, size_t{0}, ~size_t{0}}) {
    double c = -1;
    // As a Fortran compiler does: it knows no prototype.
    reinterpret_cast<WithLengths>(reinterpret_cast<void*>(&dgemm_))("n", "t", &one, &one, &one, &alpha, &a, &one, &b,
                                                                    &one, &beta, &c, &one, length, length);
    EXPECT_EQ(c, 30);
  }
}

TEST(Fortran, OpsAreTheirFirstLetterInEitherCase) {
  const int32_t two = 2, one = 1;
  const double alpha = 1, a[] = {1, 2}, b[] = {3, 4}, beta = 0;
  for (const char* op : {"N", "n", "No transpose", "T", "t", "Transpose", "C", "c", "Conjugate"}) {
    const bool plain = op[0] == 'N' || op[0] == 'n';
    double c = -1;  // 1x2 times 2x1
    dgemm_(op, "N", &one, &one, &two, &alpha, a, plain ? &one : &two, b, &two, &beta, &c, &one);
    EXPECT_EQ(c, 11) << op;
  }
}

// A plain name reads 32 bits, whatever stands above them.
TEST(Fortran, PlainNamesReadThirtyTwoBits) {
  const int64_t one = 0x5555555500000001;
  const double alpha = 1, a = 3, b = 5, beta = 0;
  double c = -1;
  const auto* narrow = reinterpret_cast<const int32_t*>(&one);
  dgemm_("N", "N", narrow, narrow, narrow, &alpha, &a, narrow, &b, narrow, &beta, &c, narrow);
  EXPECT_EQ(c, 15);
}

// One column, so that a leading dimension above 32 bits costs no memory. A CPU BLAS with 32-bit integers can't be
// asked.
TEST(Wide, LeadingDimensionsAboveThirtyTwoBits) {
  constexpr int64_t kLd = (int64_t{1} << 33) + 1;
  int tried = 0;
  for (const EntryPoint& entry : kEntryPoints) {
    if (!entry.wide) continue;
    ++tried;
    GuardedMatrix a({.type = entry.type, .rows = 2, .cols = 1, .ld = 2}),
        c({.type = entry.type, .rows = 2, .cols = 1, .ld = 2});
    a.set(0, 0, 3);
    a.set(1, 0, 5);
    void* a_data = a.frame().data() + a.origin_bytes();
    entry.call({.op_a = 'N',
                .op_b = 'N',
                .m = 2,
                .n = 1,
                .k = 1,
                .alpha = 2,
                .beta = 0,
                .a = a_data,
                .lda = kLd,
                .b = a_data,
                .ldb = kLd,
                .c = c.frame().data() + c.origin_bytes(),
                .ldc = kLd,
                .row_major = false});
    EXPECT_EQ(c.get(0, 0), 18) << entry.name;
    EXPECT_EQ(c.get(1, 0), 30) << entry.name;
    EXPECT_EQ(c.damage(), "") << entry.name;
  }
  EXPECT_EQ(tried, 9);
}

TEST(Halves, SmallIntegersAreExactAndSumsAreFp32) {
  for (const EntryPoint& entry : kEntryPoints) {
    if (entry.type != DataType::f16) continue;
    EXPECT_EQ(
        fault_of(entry, {.in = DataType::f16, .out = DataType::f16, .m = 17, .n = 9, .k = 31, .fill = Fill::integer}),
        "");
    EXPECT_EQ(
        fault_of(entry, {.in = DataType::f16, .out = DataType::f16, .m = 2, .n = 2, .k = 2052, .fill = Fill::ones}),
        "");
    EXPECT_EQ(
        fault_of(entry, {.in = DataType::f16, .out = DataType::f16, .m = 2, .n = 2, .k = 70000, .fill = Fill::ones}),
        "");  // Inf
  }
}

// Several tiles and panels of the way through device memory, which the small cases above do not have.
TEST(Large, SeveralTiles) {
  const char* offload = std::getenv("SKGEMM_OFFLOAD");
  if (offload == nullptr || std::strcmp(offload, "always") != 0) GTEST_SKIP() << "only with SKGEMM_OFFLOAD=always";
  for (const DataType type : {DataType::f16, DataType::f32, DataType::f64}) {
    for (const char* op : {"NN", "NT", "TN", "TT"}) {
      const EntryPoint& entry = kEntryPoints[type == DataType::f16 ? 2 : type == DataType::f32 ? 0 : 1];
      const GemmCase c{.in = type,
                       .out = type,
                       .op = op,
                       .m = 715,
                       .n = 1033,
                       .k = 301,
                       .lda = 719,
                       .ldb = 1035,
                       .ldc = 717,
                       .offset_c = 3,
                       .alpha = -0.75,
                       .beta = 0.5};
      EXPECT_EQ(fault_of(entry, c), "");
    }
  }
}

// A child of fork computes, also when its parent has used the library; nothing of it may hang.
TEST(Fork, TheChildComputes) {
  const EntryPoint& entry = kEntryPoints[1];
  const GemmCase c{.in = DataType::f64, .out = DataType::f64, .m = 100, .n = 100, .k = 100, .beta = 0.5};
  ASSERT_EQ(fault_of(entry, c), "");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Watchdog watchdog("TheChildComputes", 20s);
    _exit(fault_of(entry, c).empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace skgemm::test
