// The BLAS names on host, device and managed pointers with SKGEMM_OFFLOAD=always: right, inside the matrix, beta once,
// and served by the GPU (the library's own log says so). Runs in its own process, because the library reads its
// environment once.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/gpu/device_kernels.h"
#include "tests/gpu/host_blas.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

TEST_P(HostBlas, EveryInterfaceAndLayout) {
  set_deadline(std::chrono::seconds(60));
  for (const Interface how : {Interface::fortran, Interface::cblas_column, Interface::cblas_row}) {
    for (const char* op : {"NN", "NT", "TN", "TT", "CN"}) {
      for (const double beta : {0.0, 2.5}) {
        GemmCase c = base();
        c.op = op, c.m = 63, c.n = 130, c.k = 77, c.alpha = -1, c.beta = beta, c.fill = Fill::integer;
        const GemmCase tight = completed(c);
        c.lda = tight.lda + 3, c.ldb = tight.ldb + 1, c.ldc = tight.ldc + 5;
        c.offset_a = 1, c.offset_c = 3, c.tight_end = 1;
        expect_right(how, c);
        expect_on_gpu();
      }
    }
  }
}

TEST_P(HostBlas, Sizes) {
  set_deadline(std::chrono::seconds(60));
  constexpr int64_t extents[] = {1, 2, 7, 16, 33, 64, 129, 500};
  for (const int64_t m : extents) {
    for (const int64_t n : {int64_t{1}, int64_t{15}, int64_t{128}, 501 - m}) {
      GemmCase c = base();
      c.m = m, c.n = n, c.k = 1 + (m * n) % 200, c.ldc = m + 1, c.beta = m % 2 ? 1 : 0;
      expect_right(Interface::fortran, c);
      expect_on_gpu();
    }
  }
}

// Rules that need no product: whoever answers, the answer is the same.
TEST_P(HostBlas, DegenerateCalls) {
  for (const double beta : {0.0, 1.0, 2.5}) {
    GemmCase c = base();
    c.m = 20, c.n = 30, c.k = 0, c.ldc = 23, c.beta = beta, c.fill = Fill::integer;
    expect_right(Interface::fortran, c);
    c.k = 10, c.alpha = 0;
    expect_right(Interface::cblas_row, c);
    c.m = 0;
    expect_right(Interface::cblas_column, c);
  }
}

// Several panels each way: tall, wide, deep.
TEST_P(HostBlas, Panels) {
  set_deadline(std::chrono::seconds(120));
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{5001, 200, 150}, {150, 5003, 170}, {100, 90, 20'000}, {1200, 1300, 100}}) {
    GemmCase c = base();
    c.op = "TN", c.m = m, c.n = n, c.k = k, c.ldc = m + 7, c.beta = 1, c.fill = Fill::integer;
    expect_right(Interface::fortran, c);
    expect_on_gpu();
  }
}

// Operands in device memory, all or some of them, through the BLAS name.
TEST_P(HostBlas, DevicePointers) {
  GemmCase c = base();
  c.op = "NT", c.m = 100, c.n = 70, c.k = 60, c.beta = 2.5, c.fill = Fill::integer, c.ldc = 103;
  c = completed(c);
  for (int on_device = 1; on_device < 8; ++on_device) {  // bits: A, B, C
    Operands o = make_operands(c);
    const Operands before = o;
    const DeviceBuffer a(o.a.frame()), b(o.b.frame()), to(o.c.frame());
    const auto place = [&](int bit, const DeviceBuffer& device, GuardedMatrix& host) {
      return ((on_device & bit) ? device.data() : host.frame().data()) + host.origin_bytes();
    };
    call_any(Interface::fortran, c, {place(1, a, o.a), place(2, b, o.b), place(4, to, o.c)});
    if (on_device & 4) o.c.frame() = to.download();
    EXPECT_EQ(mismatch(o.c, reference_gemm(c, before)), "") << "operands on the device: " << on_device;
    EXPECT_EQ(o.c.damage(), "") << "operands on the device: " << on_device;
    expect_on_gpu();
  }
}

GemmCase managed_case(const GemmCase& base) {
  GemmCase c = base;
  c.m = 90, c.n = 40, c.k = 50, c.beta = -1, c.fill = Fill::integer, c.ldc = 91;
  return completed(c);
}

TEST_P(HostBlas, ManagedPointers) {
  const GemmCase c = managed_case(base());
  const Operands o = make_operands(c);
  const Managed a(o.a.frame()), b(o.b.frame()), to(o.c.frame());
  call_any(Interface::fortran, c,
           {a.data() + o.a.origin_bytes(), b.data() + o.b.origin_bytes(), to.data() + o.c.origin_bytes()});
  GuardedMatrix result = o.c;
  result.frame() = to.bytes();
  EXPECT_EQ(mismatch(result, reference_gemm(c, o)), "");
  EXPECT_EQ(result.damage(), "");
  expect_on_gpu();
}

// "" when a small product is right whose B the default stream has yet to write when the call comes. B is managed, and
// so is C, or it is in host memory.
std::string fault_behind_the_default_stream(const GemmCase& c, bool c_managed) {
  Operands o = make_operands(c);
  const Reference expected = reference_gemm(c, o);
  const std::vector<std::byte> poison(o.b.frame().size(), std::byte{0xff});
  const DeviceBuffer true_b(o.b.frame());
  const Managed a(o.a.frame()), b(poison), to(o.c.frame());
  std::byte* c_frame = c_managed ? to.data() : o.c.frame().data();
  occupy_sms(nullptr, 1, 200);
  check(cudaMemcpyAsync(b.data(), true_b.data(), poison.size(), cudaMemcpyDefault, nullptr), "copy B");
  call_any(Interface::fortran, c,
           {a.data() + o.a.origin_bytes(), b.data() + o.b.origin_bytes(), c_frame + o.c.origin_bytes()});
  if (c_managed) o.c.frame() = to.bytes();
  return mismatch(o.c, expected) + o.c.damage();
}

// Under auto too, which has small products in host memory done by the CPU. In a process of its own: this one has read
// SKGEMM_OFFLOAD.
TEST_P(HostBlas, ManagedPointersUnderAuto) {
  set_deadline(std::chrono::seconds(60));
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const GemmCase c = managed_case(base());
  const size_t before = decisions().size();
  setenv("SKGEMM_OFFLOAD", "auto", 1);
  const auto run_both = [&c] {
    const std::string fault = fault_behind_the_default_stream(c, true) + fault_behind_the_default_stream(c, false);
    std::fprintf(stderr, "%s\n", fault.empty() ? "both are right" : fault.c_str());
    std::_Exit(fault.empty() ? 0 : 1);
  };
  EXPECT_EXIT(run_both(), testing::ExitedWithCode(0), "both are right");
  setenv("SKGEMM_OFFLOAD", "always", 1);
  expect_on_gpu(before, 2);
}

TEST_P(HostBlas, ThreadsWithTheirOwnData) {
  set_deadline(std::chrono::seconds(60));
  constexpr int64_t kThreads = 6, kRounds = 20;
  const size_t before = decisions().size();
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t round = 0; round < kRounds; ++round) {
        GemmCase c = base();
        c.m = 30 + 17 * t, c.n = 50 + round, c.k = 40 + t, c.seed = 100 * t + round, c.fill = Fill::integer, c.beta = 1;
        expect_right(Interface::fortran, c);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_on_gpu(before, kThreads * kRounds);
}

// Takes device memory until about `rest` bytes are free.
std::vector<DeviceBuffer> fill_device(size_t rest) {
  std::vector<DeviceBuffer> taken;
  size_t free_bytes = 0, total = 0;
  for (int i = 0; i < 8; ++i) {
    check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    if (free_bytes < rest + (size_t{4} << 20)) break;
    taken.emplace_back(free_bytes - rest);
  }
  return taken;
}

// C alone is as large as all that is left on the device: in tiles, still on the GPU, every row and column is there and
// beta was applied once. Then with almost nothing left: whoever computes it, it is right.
TEST_P(HostBlas, NearlyFullDevice) {
  set_deadline(std::chrono::seconds(120));
  constexpr int64_t kLeft = int64_t{64} << 20;  // bytes
  expect_right(Interface::fortran, base());     // what the first call sets up is there
  GemmCase c = base();
  c.m = 3000, c.k = 20, c.n = kLeft / size_of(c.in) / c.m, c.ldc = 3001, c.beta = 2.5, c.fill = Fill::integer;
  {
    const std::vector<DeviceBuffer> taken = fill_device(kLeft);
    expect_right(Interface::fortran, c);
    expect_on_gpu();
  }
  const std::vector<DeviceBuffer> taken = fill_device(size_t{4} << 20);
  c.n = 300;
  expect_right(Interface::fortran, c);
}

// An illegal call leaves C alone, whoever reports it. Where no CPU BLAS is installed the library says it on stderr.
TEST_P(HostBlas, IllegalCallLeavesCAlone) {
  GemmCase c = base();
  c.m = 10, c.n = 10, c.k = 10, c.fill = Fill::integer, c.beta = 1;
  c = completed(c);
  Operands o = make_operands(c);
  const std::vector<std::byte> before = o.c.frame();
  c.ldc = 9;
  call_any(Interface::fortran, c,
           {o.a.frame().data() + o.a.origin_bytes(), o.b.frame().data() + o.b.origin_bytes(),
            o.c.frame().data() + o.c.origin_bytes()});
  EXPECT_EQ(o.c.frame(), before);
}

INSTANTIATE_TEST_SUITE_P(All, HostBlas, testing::ValuesIn(kKernelTypes), param_name);

}  // namespace
}  // namespace skgemm::test

// The environment must be there before the library reads it, however this program was started.
int main(int argc, char** argv) {
  if (std::getenv("SKGEMM_LOG") == nullptr) {
    const std::string name = "skgemm_host_test." + std::to_string(getpid()) + ".log";
    const std::string log = std::filesystem::temp_directory_path() / name;
    setenv("SKGEMM_OFFLOAD", "always", 1);
    setenv("SKGEMM_VERBOSE", "1", 1);
    setenv("SKGEMM_LOG", log.c_str(), 1);
    execv("/proc/self/exe", argv);
  }
  const int result = skgemm::test::run_all_tests(argc, argv);
  std::filesystem::remove(std::getenv("SKGEMM_LOG"));
  return result;
}
