// Finding the CPU BLAS. Which libraries this machine has is found out with dlopen here, not assumed.
#include "src/host/cpu_blas.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace skgemm::cpu_blas {
namespace {

constexpr EntryPoint kDgemm{DataType::f64, Convention::fortran, false};

bool loads(const char* library) { return dlopen(library, RTLD_NOW | RTLD_LOCAL) != nullptr; }

// 1x1: C = alpha*A*B with A = 3, B = 5.
double fifteen(const Routine& routine, double alpha) {
  const double a = 3, b = 5, zero = 0;
  double c = -1;
  const bool done = forward(routine, FortranCall<double>{.op_a = "N",
                                                         .op_b = "T",
                                                         .m = 1,
                                                         .n = 1,
                                                         .k = 1,
                                                         .alpha = &alpha,
                                                         .a = &a,
                                                         .lda = 1,
                                                         .b = &b,
                                                         .ldb = 1,
                                                         .beta = &zero,
                                                         .c = &c,
                                                         .ldc = 1});
  return done ? c : -2;
}

class CpuBlas : public testing::Test {
 protected:
  void SetUp() override {
    if (find(kDgemm).function == nullptr) GTEST_SKIP() << "no CPU BLAS is installed (libopenblas0)";
  }
};

TEST_F(CpuBlas, EveryEntryPointIsItsOwnFunctionAndNotOurs) {
  std::vector<const void*> seen;
  for (const DataType type : {DataType::f32, DataType::f64}) {
    for (const Convention convention : {Convention::fortran, Convention::cblas}) {
      const void* function = find({type, convention, false}).function;
      ASSERT_NE(function, nullptr);
      Dl_info theirs{}, ours{};
      ASSERT_NE(dladdr(function, &theirs), 0);
      ASSERT_NE(dladdr(reinterpret_cast<const void*>(&loads), &ours), 0);
      EXPECT_NE(theirs.dli_fbase, ours.dli_fbase);
      for (const void* other : seen) EXPECT_NE(other, function);
      seen.push_back(function);
    }
  }
}

TEST_F(CpuBlas, ConcurrentLookupsAgree) {
  std::vector<const void*> found(16);
  {
    std::vector<std::jthread> threads;
    for (auto& function : found)
      threads.emplace_back([&function] { function = find({DataType::f32, Convention::cblas, true}).function; });
  }
  for (const void* function : found) EXPECT_EQ(function, found.front());
}

TEST_F(CpuBlas, CallsArriveWithTheirArguments) {
  EXPECT_EQ(fifteen(find(kDgemm), 1), 15);
  EXPECT_EQ(fifteen(find({DataType::f64, Convention::fortran, true}), -2), -30);
  float c = -1;
  ASSERT_TRUE(forward(find({DataType::f32, Convention::cblas, false}), CblasCall<float>{.layout = 101,
                                                                                        .op_a = 111,
                                                                                        .op_b = 112,
                                                                                        .m = 1,
                                                                                        .n = 1,
                                                                                        .k = 1,
                                                                                        .alpha = 2,
                                                                                        .a = std::vector{3.0f}.data(),
                                                                                        .lda = 1,
                                                                                        .b = std::vector{5.0f}.data(),
                                                                                        .ldb = 1,
                                                                                        .beta = 0,
                                                                                        .c = &c,
                                                                                        .ldc = 1}));
  EXPECT_EQ(c, 30);
}

// isamax in 64 bits sees the high half. On a machine with both widths both are told apart.
TEST(CpuBlasWidth, TheWidthOfALibraryIsFoundOut) {
  struct Library {
    const char* name;
    bool wide;
  };
  int tried = 0;
  for (const Library& library : {Library{"libopenblas.so.0", false},
                                 {"libblas.so.3", false},
                                 {"libopenblas64.so.0", true},
                                 {"libblas64.so.3", true}}) {
    if (!loads(library.name)) continue;
    ++tried;
    const Routine routine = find_in_library(library.name, kDgemm);
    ASSERT_NE(routine.function, nullptr) << library.name;
    EXPECT_EQ(routine.ilp64, library.wide) << library.name;
    EXPECT_EQ(fifteen(routine, 1), 15) << library.name;
  }
  if (tried == 0) GTEST_SKIP() << "no CPU BLAS is installed (libopenblas0, libopenblas64-0)";
}

TEST(CpuBlasWidth, NarrowIntegersAreNeverCut) {
  const auto sample = [](int64_t m, int64_t ldc) {
    return FortranCall<double>{.op_a = "N",
                               .op_b = "N",
                               .m = m,
                               .n = 1,
                               .k = 1,
                               .alpha = nullptr,
                               .a = nullptr,
                               .lda = m,
                               .b = nullptr,
                               .ldb = 1,
                               .beta = nullptr,
                               .c = nullptr,
                               .ldc = ldc};
  };
  EXPECT_TRUE(fits_32_bits(sample(2147483647, 2147483647)));
  EXPECT_TRUE(fits_32_bits(sample(-2147483648, 1)));
  EXPECT_FALSE(fits_32_bits(sample(2147483648, 1)));
  EXPECT_FALSE(fits_32_bits(sample(1, int64_t{1} << 32)));
  int never = 0;
  EXPECT_FALSE(forward(Routine{&never, false}, sample(int64_t{1} << 32, 1)));
  EXPECT_FALSE(forward(Routine{}, sample(1, 1)));
}

}  // namespace
}  // namespace skgemm::cpu_blas
