// The cuBLAS entry points with a GPU that is a stand-in: what is served, with which settings, and what goes on to
// cuBLAS, once and unchanged. The entry points are part of this program, so the stub stands behind them.
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "src/gpu.h"
#include "tests/abi/stub_cublas.h"

namespace {

struct Gpu {
  skgemm::gpu::Availability availability{true, {}};
  bool streams_device_is_current = true;
  std::optional<skgemm::Status> fails;
  bool throws = false;
  std::vector<skgemm::GemmCall> calls;
  skgemm::gpu::LaunchContext launch;
};
Gpu the_gpu;

}  // namespace

namespace skgemm::gpu {

Availability availability() { return the_gpu.availability; }
bool on_current_device(CUstream_st*) { return the_gpu.streams_device_is_current; }
Status gemm(const GemmCall& call, const LaunchContext& launch, Plan*) {
  if (the_gpu.throws) throw std::runtime_error("no room for a plan");
  the_gpu.calls.push_back(call);
  the_gpu.launch = launch;
  return the_gpu.fails.value_or(Status::success());
}

}  // namespace skgemm::gpu

namespace {

// A legal product, that tests change.
struct Arguments {
  cublasHandle_t handle = reinterpret_cast<cublasHandle_t>(uintptr_t{0x10});
  cublasOperation_t op_a = CUBLAS_OP_T, op_b = CUBLAS_OP_N;
  int64_t m = 4, n = 5, k = 6;
  const double *alpha, *a;
  int64_t lda = 7;
  const double* b;
  int64_t ldb = 8;
  const double* beta;
  double* c;
  int64_t ldc = 9;
};

cublasStatus_t call_narrow(const Arguments& x) {
  const auto cut = [](int64_t value) { return static_cast<int>(value); };
  return cublasDgemm_v2(x.handle, x.op_a, x.op_b, cut(x.m), cut(x.n), cut(x.k), x.alpha, x.a, cut(x.lda), x.b,
                        cut(x.ldb), x.beta, x.c, cut(x.ldc));
}
cublasStatus_t call_wide(const Arguments& x) {
  return cublasDgemm_v2_64(x.handle, x.op_a, x.op_b, x.m, x.n, x.k, x.alpha, x.a, x.lda, x.b, x.ldb, x.beta, x.c,
                           x.ldc);
}

struct Width {
  const char* name;
  cublasStatus_t (*call)(const Arguments&);
};

// In a test's name; without it, the bytes of the struct.
void PrintTo(const Width& width, std::ostream* out) { *out << width.name; }

class CublasServe : public testing::TestWithParam<Width> {
 protected:
  void SetUp() override {
    the_gpu = {};
    *stub_cublas() = {};
    stub_cublas()->products = CUBLAS_STATUS_MAPPING_ERROR;  // which nothing of ours answers
    x_.alpha = &alpha_, x_.beta = &beta_, x_.a = a_, x_.b = b_, x_.c = c_;
  }

  void expect_served(const char* why = "") {
    EXPECT_EQ(GetParam().call(x_), CUBLAS_STATUS_SUCCESS) << why;
    EXPECT_EQ(the_gpu.calls.size(), 1u) << why;
    EXPECT_EQ(stub_cublas()->called, 0) << why;
    the_gpu.calls.clear();
  }
  void expect_forwarded(const char* why = "") {
    the_gpu.calls.clear();
    stub_cublas()->called = 0;
    EXPECT_EQ(GetParam().call(x_), CUBLAS_STATUS_MAPPING_ERROR) << why;
    ASSERT_EQ(stub_cublas()->called, 1) << why;
    const StubCall& s = stub_cublas()->last;
    EXPECT_STREQ(s.name, GetParam().name);
    EXPECT_TRUE(s.handle == x_.handle && s.op_a == x_.op_a && s.op_b == x_.op_b) << why;
    EXPECT_TRUE(s.m == x_.m && s.n == x_.n && s.k == x_.k) << why;
    EXPECT_TRUE(s.lda == x_.lda && s.ldb == x_.ldb && s.ldc == x_.ldc) << why;
    EXPECT_TRUE(s.alpha == x_.alpha && s.a == x_.a && s.b == x_.b && s.beta == x_.beta && s.c == x_.c) << why;
  }
  void expect_forwarded_unseen(const char* why = "") {
    expect_forwarded(why);
    EXPECT_TRUE(the_gpu.calls.empty()) << why;
  }

  Arguments x_;
  double alpha_ = 2, beta_ = 3, a_[28]{}, b_[40]{}, c_[45]{};
};

TEST_P(CublasServe, AsTheHandleIsSet) {
  stub_cublas()->stream = reinterpret_cast<cudaStream_t>(uintptr_t{0x40});
  stub_cublas()->sms = 33;
  for (const auto mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
    stub_cublas()->scalars = mode;
    ASSERT_EQ(GetParam().call(x_), CUBLAS_STATUS_SUCCESS);
    const skgemm::GemmCall call = the_gpu.calls.back();
    EXPECT_EQ(call.scalars == skgemm::PointerMode::device, mode == CUBLAS_POINTER_MODE_DEVICE);
    EXPECT_TRUE(call.op_a == skgemm::Op::t && call.op_b == skgemm::Op::n);
    EXPECT_TRUE(call.m == 4 && call.n == 5 && call.k == 6 && call.batch == 1);
    EXPECT_TRUE(call.a.ld == 7 && call.b.ld == 8 && call.c.ld == 9);
    EXPECT_TRUE(call.a.data == a_ && call.b.data == b_ && call.c.data == c_);
    EXPECT_TRUE(call.alpha == &alpha_ && call.beta == &beta_);
    for (const auto type : {call.in, call.out, call.scalar_type}) EXPECT_EQ(type, skgemm::DataType::f64);
    EXPECT_STREQ(call.name, GetParam().name);
    EXPECT_EQ(the_gpu.launch.stream, stub_cublas()->stream);
    EXPECT_EQ(the_gpu.launch.limits.sms, 33);
    EXPECT_EQ(the_gpu.launch.workspace, nullptr);
  }
  EXPECT_EQ(stub_cublas()->called, 0);
}

TEST_P(CublasServe, NullHandleBeforeAnythingElse) {
  x_.handle = nullptr;
  x_.m = -1;
  EXPECT_EQ(GetParam().call(x_), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(stub_cublas()->asked + stub_cublas()->called, 0);
}

TEST_P(CublasServe, IllegalCallsGoOnOnce) {
  const Arguments legal = x_;
  const auto with = [&](auto change) {
    x_ = legal;
    change(x_);
    expect_forwarded_unseen();
  };
  with([](Arguments& x) { x.op_a = static_cast<cublasOperation_t>(3); });
  with([](Arguments& x) { x.op_b = static_cast<cublasOperation_t>(-1); });
  with([](Arguments& x) { x.m = -1; });
  with([](Arguments& x) { x.n = -1; });
  with([](Arguments& x) { x.k = -1; });
  with([](Arguments& x) { x.lda = 5; });
  with([](Arguments& x) { x.ldb = 5; });
  with([](Arguments& x) { x.ldc = 3; });
  with([](Arguments& x) { x.m = x.ldc = 0; });
}

TEST_P(CublasServe, NothingIsNeededForAnEmptyC) {
  x_.alpha = x_.beta = x_.a = x_.b = x_.c = nullptr;
  x_.n = 0;
  EXPECT_EQ(GetParam().call(x_), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<int>(the_gpu.calls.size()) + stub_cublas()->called, 0);
}

TEST_P(CublasServe, PointersThatCanNotBeReadGoOn) {
  const Arguments legal = x_;
  const auto odd = reinterpret_cast<double*>(reinterpret_cast<uintptr_t>(c_) + 4);
  const auto with = [&](const char* why, auto change) {
    x_ = legal;
    change(x_);
    expect_forwarded_unseen(why);
  };
  with("alpha", [](Arguments& x) { x.alpha = nullptr; });
  with("beta", [](Arguments& x) { x.beta = nullptr; });
  with("A", [](Arguments& x) { x.a = nullptr; });
  with("B", [](Arguments& x) { x.b = nullptr; });
  with("C", [](Arguments& x) { x.c = nullptr; });
  with("odd C", [odd](Arguments& x) { x.c = odd; });
  stub_cublas()->scalars = CUBLAS_POINTER_MODE_DEVICE;
  with("alpha on the device", [odd](Arguments& x) { x.alpha = odd; });
  with("beta on the device, NULL", [](Arguments& x) { x.beta = nullptr; });
}

TEST_P(CublasServe, WhatIsNotReadMayBeNull) {
  x_.a = x_.b = nullptr;
  alpha_ = 0;
  expect_served("alpha is 0");
  alpha_ = 2;
  x_.k = 0;
  expect_served("k is 0");
  beta_ = 1;
  x_.c = nullptr;
  expect_served("C stays as it is");
}

TEST_P(CublasServe, MathModes) {
  for (const int mode : {0, 1, 2, 3, 4, 16, 18}) {
    stub_cublas()->math = static_cast<cublasMath_t>(mode);
    expect_served();
  }
  for (const int mode : {8, 12, 24}) {
    stub_cublas()->math = static_cast<cublasMath_t>(mode);
    expect_forwarded_unseen("fp64 emulation is the user's choice");
  }
}

TEST_P(CublasServe, WhatTheGpuDoesNotDoGoesOn) {
  for (const skgemm_status_t code : {SKGEMM_STATUS_NOT_SUPPORTED, SKGEMM_STATUS_ALLOC_FAILED,
                                     SKGEMM_STATUS_ARCH_MISMATCH, SKGEMM_STATUS_EXECUTION_FAILED}) {
    the_gpu.fails = skgemm::Status{code, "not done"};
    expect_forwarded("a failure");
    EXPECT_EQ(the_gpu.calls.size(), 1u);
  }
  the_gpu.throws = true;
  expect_forwarded("an exception");
  the_gpu = {};
  the_gpu.availability = {false, "no device"};
  expect_forwarded_unseen("no GPU");
  the_gpu = {};
  the_gpu.streams_device_is_current = false;
  expect_forwarded_unseen("a stream of another device");
  the_gpu = {};
  stub_cublas()->getters = CUBLAS_STATUS_NOT_INITIALIZED;
  expect_forwarded_unseen("a handle that cuBLAS doesn't know");
}

INSTANTIATE_TEST_SUITE_P(BothWidths, CublasServe,
                         testing::Values(Width{"cublasDgemm_v2", call_narrow}, Width{"cublasDgemm_v2_64", call_wide}),
                         [](const auto& row) { return row.index == 0 ? "Narrow" : "Wide"; });

}  // namespace
