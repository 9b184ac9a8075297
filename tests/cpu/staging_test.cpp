// Host operands through "device" memory on a stand-in for the CUDA runtime (fake_cuda.h): the order of the copies, the
// cut into tiles and chunks, and failures in the middle. No GPU is needed; the real one has its own tests.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "src/gpu.h"
#include "src/host/cpu_gemm.h"
#include "src/host/signal_free_thread.h"
#include "tests/cpu/cpu_call.h"
#include "tests/cpu/fake_cuda.h"

namespace skgemm::test {
namespace {

constexpr DataType kTypes[] = {DataType::f16, DataType::f32, DataType::f64};
constexpr size_t kFree[] = {size_t{450} << 10, size_t{1} << 20, size_t{8} << 20, size_t{1} << 30};

// Runs on the GPU path; where it fails, the caller's duty (src/host/host_gemm.cpp) is the CPU.
void staged_or_cpu(const GemmCall& call) {
  bool dirty = false;
  const Status status = gpu::gemm_staged(call, &dirty);
  if (status.ok()) return;
  EXPECT_FALSE(dirty);
  EXPECT_NE(status.words, "");
  cpu_gemm(call);
}

void staged(const GemmCall& call) {
  bool dirty = false;
  const Status status = gpu::gemm_staged(call, &dirty);
  EXPECT_TRUE(status.ok()) << status.words;
}

GemmCase product_case(Random& random, int64_t largest) {
  GemmCase c = random_case(random, random.pick(kTypes), largest);
  c.m = std::max<int64_t>(c.m, 1);
  c.n = std::max<int64_t>(c.n, 1);
  c.k = std::max<int64_t>(c.k, 1);
  if (c.alpha == 0) c.alpha = 1;
  c.lda += 1, c.ldb += 1, c.ldc += 1;  // the extents may have grown by one
  return c;
}

TEST(Staging, AnyOrderOfTheStreamsGivesTheProduct) {
  Random random(5);
  for (int i = 0; i < 250; ++i) {
    fake_cuda::reset({.seed = random.bits(), .free_bytes = random.pick(kFree)});
    ASSERT_EQ(fault_of(product_case(random, i % 10 == 0 ? 200 : 90), staged), "");
  }
}

// Plenty of device memory: several tiles whose blocks of A and B are there already, so that only C has to arrive.
TEST(Staging, BlocksAreUsedAgain) {
  Random random(9);
  for (int i = 0; i < 12; ++i) {
    fake_cuda::reset({.seed = random.bits()});
    GemmCase c = product_case(random, 8);
    c.m = random.integer(512, 700), c.n = random.integer(512, 700);
    c.lda = c.ldb = c.ldc = 701;
    c.beta = 0.5;
    ASSERT_EQ(fault_of(c, staged), "");
  }
}

// Little device memory: many tiles, k in chunks, blocks of A sent again.
TEST(Staging, TilesWhatDoesNotFit) {
  Random random(6);
  for (const DataType type : kTypes) {
    for (const char* op : {"NN", "NT", "TN", "TT"}) {
      for (const double beta : {0.0, 0.5}) {
        fake_cuda::reset({.seed = random.bits(), .free_bytes = size_t{450} << 10});
        const GemmCase c{.in = type,
                         .out = type,
                         .op = op,
                         .m = 201,
                         .n = 163,
                         .k = 270,
                         .ldc = 207,
                         .alpha = 0.5,
                         .beta = beta,
                         .tight_end = 1};
        ASSERT_EQ(fault_of(c, staged), "");
      }
    }
  }
}

// Whichever call fails first, C ends right and beta has scaled it once.
TEST(Staging, AFailureAnywhereLeavesARightResult) {
  Random random(7);
  const GemmCase c{.in = DataType::f64,
                   .out = DataType::f64,
                   .m = 150,
                   .n = 140,
                   .k = 130,
                   .ldc = 153,
                   .alpha = 2,
                   .beta = 0.5,
                   .fill = Fill::integer};
  fake_cuda::reset({.free_bytes = size_t{450} << 10, .fail_at = int64_t{1} << 40});
  ASSERT_EQ(fault_of(c, staged), "");
  const int64_t calls = fake_cuda::calls();
  ASSERT_GT(calls, 40);
  for (int64_t fail_at = 0; fail_at < calls; ++fail_at) {
    fake_cuda::reset({.seed = random.bits(), .free_bytes = size_t{450} << 10, .fail_at = fail_at});
    ASSERT_EQ(fault_of(c, staged_or_cpu), "") << "with failure at call " << fail_at;
  }
}

TEST(Staging, AFullDeviceIsSaidAndLeavesCAlone) {
  fake_cuda::reset({.free_bytes = 10'000});
  const GemmCase c{.in = DataType::f64, .out = DataType::f64, .m = 150, .n = 140, .k = 130, .beta = 0.5};
  EXPECT_EQ(fault_of(c,
                     [](const GemmCall& call) {
                       bool dirty = true;
                       const Status status = gpu::gemm_staged(call, &dirty);
                       EXPECT_EQ(status.code, SKGEMM_STATUS_ALLOC_FAILED);
                       EXPECT_NE(status.words.find("memory"), std::string::npos) << status.words;
                       EXPECT_FALSE(dirty);
                       cpu_gemm(call);
                     }),
            "");
}

TEST(Staging, OperandsInBothKindsOfMemory) {
  Random random(8);
  for (int i = 0; i < 60; ++i) {
    fake_cuda::reset({.seed = random.bits()});
    const int on_device = static_cast<int>(random.integer(1, 7));  // a bit for each of A, B, C
    ASSERT_EQ(fault_of(product_case(random, 40),
                       [&](GemmCall call) {
                         const Matrix host_c = call.c;
                         const auto move = [](Matrix& x, int64_t cols, DataType type) {
                           const auto bytes = static_cast<size_t>(x.ld * cols * size_of(type));
                           void* copy = nullptr;
                           ASSERT_EQ(cudaMalloc(&copy, bytes), cudaSuccess);
                           // Up to the last element, which may end its allocation: the columns are tight but for the
                           // last.
                           std::memcpy(copy, x.data, bytes - static_cast<size_t>(x.ld * size_of(type)));
                           x.data = copy;
                         };
                         const int64_t a_cols = call.op_a == Op::n ? call.k : call.m,
                                       b_cols = call.op_b == Op::n ? call.n : call.k;
                         const int64_t a_rows = call.op_a == Op::n ? call.m : call.k,
                                       b_rows = call.op_b == Op::n ? call.k : call.n;
                         struct Side {
                           Matrix* x;
                           int64_t rows, cols;
                         };
                         int bit = 0;
                         for (const Side& side :
                              {Side{&call.a, a_rows, a_cols}, {&call.b, b_rows, b_cols}, {&call.c, call.m, call.n}}) {
                           if ((on_device >> bit++ & 1) == 0) continue;
                           const char* last =
                               static_cast<const char*>(side.x->data) + side.x->ld * (side.cols - 1) * size_of(call.in);
                           move(*side.x, side.cols, call.in);
                           std::memcpy(
                               static_cast<char*>(side.x->data) + side.x->ld * (side.cols - 1) * size_of(call.in), last,
                               static_cast<size_t>(side.rows * size_of(call.in)));
                         }
                         staged(call);
                         if (call.c.data != host_c.data) {
                           for (int64_t j = 0; j < call.n; ++j) {
                             const int64_t at = j * call.c.ld * size_of(call.out);
                             std::memcpy(static_cast<char*>(host_c.data) + at, static_cast<char*>(call.c.data) + at,
                                         static_cast<size_t>(call.m * size_of(call.out)));
                           }
                         }
                         for (const Matrix* x : {&call.a, &call.b, &call.c}) {
                           if (gpu::memory_of(x->data) == gpu::Memory::device) cudaFree(x->data);
                         }
                       }),
              "");
  }
}

size_t bytes_of(const Matrix& x, int64_t rows, int64_t cols, DataType type) {
  return static_cast<size_t>((x.ld * (cols - 1) + rows) * size_of(type));
}

// B is managed, the rest in host memory; what fills B is still on the default stream when the call comes.
TEST(Staging, ManagedOperandsAmongHostOnesAreWaitedFor) {
  for (uint64_t seed = 1; seed < 10; ++seed) {
    fake_cuda::reset({.seed = seed});
    const GemmCase c{.in = DataType::f64, .out = DataType::f64, .m = 40, .n = 30, .k = 20, .beta = 0.5};
    EXPECT_EQ(fault_of(c,
                       [](const GemmCall& call) {
                         const size_t bytes = bytes_of(call.b, call.k, call.n, call.in);
                         auto* data = static_cast<char*>(call.b.data);
                         const std::vector<char> true_b(data, data + bytes);
                         std::memset(data, 0xff, bytes);
                         fake_cuda::place(data, bytes, fake_cuda::Kind::managed);
                         fake_cuda::enqueue_on_default_stream([=] { std::memcpy(data, true_b.data(), bytes); });
                         staged(call);
                       }),
              "");
  }
}

// Some operands on this device, some on another: those are copied, after the work there that fills them.
TEST(Staging, OperandsOfAnotherDeviceAreCopied) {
  fake_cuda::reset({});
  const GemmCase c{.in = DataType::f64, .out = DataType::f64, .m = 40, .n = 30, .k = 20, .beta = 0.5};
  EXPECT_EQ(fault_of(c,
                     [](GemmCall call) {
                       const size_t bytes = bytes_of(call.a, call.m, call.k, call.in);
                       auto* data = static_cast<char*>(call.a.data);
                       const std::vector<char> true_a(data, data + bytes);
                       std::memset(data, 0xff, bytes);
                       fake_cuda::place(data, bytes, fake_cuda::Kind::other_device);
                       fake_cuda::enqueue_on_default_stream([=] { std::memcpy(data, true_a.data(), bytes); });
                       const size_t c_bytes = bytes_of(call.c, call.m, call.n, call.out);
                       void *c_here = nullptr, *c_there = std::exchange(call.c.data, nullptr);
                       ASSERT_EQ(cudaMalloc(&c_here, c_bytes), cudaSuccess);
                       std::memcpy(c_here, c_there, c_bytes);
                       call.c.data = c_here;
                       staged(call);
                       std::memcpy(c_there, c_here, c_bytes);
                       cudaFree(c_here);
                     }),
            "");
}

// A handler of the program's must not run on a thread of ours.
TEST(Staging, CopyThreadsTakeNoSignals) {
  sigset_t before, blocked, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ASSERT_EQ(sigismember(&before, SIGUSR1), 0);
  signal_free_thread([&blocked] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }).join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGUSR1, SIGALRM, SIGINT, SIGCHLD, SIGPROF}) {
    EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
}

TEST(Staging, CallsLeaveNothingBehind) {
  const GemmCase c{.in = DataType::f32, .out = DataType::f32, .m = 90, .n = 80, .k = 70};
  fake_cuda::reset({});
  for (int i = 0; i < 5; ++i) ASSERT_EQ(fault_of(c, staged), "");  // every buffer of the ring has its size then
  const int64_t held = fake_cuda::held();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(fault_of(c, staged), "");
  EXPECT_EQ(fake_cuda::held(), held);
}

TEST(Staging, TheLinkIsMeasured) {
  fake_cuda::reset({});
  const auto link = gpu::link_model();
  ASSERT_TRUE(link.has_value());
  EXPECT_GT(link->to_device_gbs, 0);
  EXPECT_GT(link->from_device_gbs, 0);
  EXPECT_GT(link->startup_us, 0);
}

}  // namespace
}  // namespace skgemm::test
