// Products with host operands on the CPU: the CPU BLAS, our own loops, and the way between them.
#include "src/host/host_gemm.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "src/host/cpu_gemm.h"
#include "src/host/cpu_rate.h"
#include "tests/cpu/cpu_call.h"

namespace {
thread_local int64_t allocations_left = -1;  // before they fail; -1: they do not
}

// All of the program's, so that a test can run out of memory anywhere.
void* operator new(size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* data = std::malloc(bytes > 0 ? bytes : 1)) return data;
  throw std::bad_alloc();
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }

namespace skgemm::test {
namespace {

// The status of a child in which the library's first call, which reads the environment, looks for a BLAS and has
// warnings to say, runs out of memory after some allocations.
int status_with_allocations(DataType type, int64_t count) {
  const pid_t child = fork();
  if (child != 0) {
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
  }
  setenv("SKGEMM_OFFLOAD", "sometimes", 1);
  setenv("SKGEMM_CPU_BLAS", "/nonexistent/libblas.so", 1);
  setenv("SKGEMM_VERBOSE", "2", 1);
  setenv("SKGEMM_LOG", count % 2 == 0 ? "/dev/null" : "/nonexistent/log", 1);
  close(STDERR_FILENO);
  const GemmCase c{.in = type, .out = type, .m = 5, .n = 4, .k = 3, .beta = 0.5, .fill = Fill::integer};
  const std::string fault = fault_of(c, [count](const GemmCall& call) {
    allocations_left = count;
    host_gemm(call, {});
    allocations_left = -1;
  });
  _exit(fault.empty() ? 0 : 1);
}

// First in this program: nothing has been found or read yet. A bad_alloc that left host_gemm would end the child.
TEST(HostGemmFirstCall, OutOfMemoryStillGivesTheProduct) {
  for (const DataType type : {DataType::f16, DataType::f32, DataType::f64}) {
    for (int64_t count = 0; count < 60; ++count) ASSERT_EQ(status_with_allocations(type, count), 0) << count;
  }
}

constexpr DataType kTypes[] = {DataType::f16, DataType::f32, DataType::f64};

struct Path {
  const char* name;
  void (*run)(const GemmCall&);
};
constexpr Path kPaths[] = {{"host_gemm", [](const GemmCall& call) { host_gemm(call, {}); }},
                           {"cpu_gemm", cpu_gemm},
                           {"builtin_gemm", builtin_gemm}};

TEST(HostGemm, RandomCases) {
  Random random(4);
  for (int i = 0; i < 900; ++i) {
    const GemmCase c = random_case(random, random.pick(kTypes), 33);
    for (const Path& path : kPaths) ASSERT_EQ(fault_of(c, path.run), "") << path.name;
  }
}

TEST(HostGemm, BuiltinLoopsCrossTheirBlocks) {
  for (const char* op : {"NN", "NT", "TN", "TT"}) {
    const GemmCase c{.in = DataType::f64,
                     .out = DataType::f64,
                     .op = op,
                     .m = 515,
                     .n = 3,
                     .k = 70,
                     .ldc = 520,
                     .alpha = -2,
                     .beta = 0.5};
    EXPECT_EQ(fault_of(c, builtin_gemm), "");
  }
}

// One element, so that the rules can be read: C = alpha*A*B + beta*C.
double one_element(void (*run)(const GemmCall&), double alpha, double a, double b, double beta, double c,
                   int64_t k = 1) {
  run({.op_a = Op::n,
       .op_b = Op::n,
       .m = 1,
       .n = 1,
       .k = k,
       .in = DataType::f64,
       .out = DataType::f64,
       .scalar_type = DataType::f64,
       .scalars = PointerMode::host,
       .alpha = &alpha,
       .beta = &beta,
       .a = {&a, 1, 0},
       .b = {&b, 1, 0},
       .c = {&c, 1, 0},
       .batch = 1,
       .name = "test"});
  return c;
}

TEST(HostGemm, EdgeRulesOfBlas) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  for (const Path& path : kPaths) {
    SCOPED_TRACE(path.name);
    EXPECT_EQ(one_element(path.run, 1, 2, 3, 0, kNan), 6);  // beta 0 does not read C
    EXPECT_EQ(one_element(path.run, 1, 2, 3, -0.0, kNan), 6);
    EXPECT_EQ(one_element(path.run, 0, kNan, kInf, 2, 3), 6);  // alpha 0 does not read A and B
    EXPECT_EQ(one_element(path.run, 0, kNan, kInf, 0, kNan), 0);
    EXPECT_TRUE(std::isnan(one_element(path.run, 0, 1, 1, kNan, 3)));
    EXPECT_EQ(one_element(path.run, kNan, kNan, kNan, 2, 3, 0), 6);    // k 0 does not read alpha
    EXPECT_TRUE(std::isnan(one_element(path.run, 1, kInf, 0, 0, 1)));  // a zero is no reason to skip
    EXPECT_TRUE(std::isnan(one_element(path.run, kNan, 1, 1, 0, 1)));
    EXPECT_TRUE(std::signbit(one_element(path.run, 1, 1, 1, 1, -0.0, 0)));  // k 0, beta 1: C bit for bit
  }
}

TEST(HostGemm, TheProgramsOwnEntryPointComesFirst) {
  static int calls;
  calls = 0;
  const CpuEntry entry{[](const void* call) { return ++calls, call == &calls; }, &calls};
  const double one = 1;
  double c = 0.5;
  const GemmCall call{.op_a = Op::n,
                      .op_b = Op::n,
                      .m = 1,
                      .n = 1,
                      .k = 1,
                      .in = DataType::f64,
                      .out = DataType::f64,
                      .scalar_type = DataType::f64,
                      .scalars = PointerMode::host,
                      .alpha = &one,
                      .beta = &one,
                      .a = {&c, 1, 0},
                      .b = {&c, 1, 0},
                      .c = {&c, 1, 0},
                      .batch = 1,
                      .name = "test"};
  host_gemm(call, entry);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(c, 0.5);
}

// A CPU BLAS that calls back into an entry point it does not have must end in the loops, not in a circle.
TEST(HostGemm, AnInnerCallEndsInTheLoops) {
  const CallDepth outer;
  EXPECT_EQ(fault_of({.in = DataType::f32, .out = DataType::f32, .m = 5, .n = 6, .k = 7, .beta = 2},
                     [](const GemmCall& call) {
                       host_gemm(call, {[](const void*) { return false; }, nullptr});
                     }),
            "");
}

TEST(HostGemm, ThreadsDoNotDisturbEachOther) {
  std::vector<std::string> faults(8);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < faults.size(); ++t) {
      threads.emplace_back([&faults, t] {
        Random random(100 + t);
        for (int i = 0; i < 60 && faults[t].empty(); ++i) {
          faults[t] =
              fault_of(random_case(random, random.pick(kTypes), 24), [](const GemmCall& call) { host_gemm(call, {}); });
        }
      });
    }
  }
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

TEST(CpuRate, IsPositiveAndRemembered) {
  const double rate = cpu_gflops(DataType::f32);
  EXPECT_GT(rate, 0);
  EXPECT_EQ(cpu_gflops(DataType::f16), rate);
}

}  // namespace
}  // namespace skgemm::test
