// The native API as far as it goes without a GPU: what create() says, dead handles, settings, and every argument check,
// which all come before the device is touched. Where there is a GPU the same checks hold, and create() is left to the
// gpu tests.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "skgemm.h"
#include "src/context.h"
#include "src/gpu.h"
#include "tests/cpu/last_error.h"

namespace {

using skgemm::last_error, skgemm::says;

TEST(NativeWithoutGpu, CreateSaysWhyAndWhatToDo) {
  if (skgemm::gpu::availability().usable) GTEST_SKIP() << "there is a GPU";
  const auto before = reinterpret_cast<skgemm_handle_t>(uintptr_t{0x5a5a});
  skgemm_handle_t handle = before;
  EXPECT_EQ(skgemm_create(&handle), SKGEMM_STATUS_NO_DEVICE);
  EXPECT_EQ(handle, before) << "a failing create leaves the variable alone";
  EXPECT_FALSE(last_error().empty());
  const bool what_to_do = says("install") || says("nvidia-smi") || says("SKGEMM_CUDA=ON");
  EXPECT_TRUE(what_to_do) << last_error();
  EXPECT_EQ(skgemm_create(&handle), SKGEMM_STATUS_NO_DEVICE) << "and so the second time";
}

TEST(NativeWithoutGpu, CreateNeedsAPlaceForTheHandle) {
  EXPECT_EQ(skgemm_create(nullptr), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(says("NULL"));
}

TEST(NativeWithoutGpu, EveryStatusHasWords) {
  for (const int status : {0, 1, 3, 7, 8, 13, 14, 15, 32}) {
    const std::string words = skgemm_status_string(static_cast<skgemm_status_t>(status));
    EXPECT_FALSE(words.empty());
    EXPECT_NE(words, "unknown status") << status;
  }
  EXPECT_STREQ(skgemm_status_string(static_cast<skgemm_status_t>(99)), "unknown status");
  EXPECT_EQ(skgemm_version(), 10000 * SKGEMM_VERSION_MAJOR + 100 * SKGEMM_VERSION_MINOR + SKGEMM_VERSION_PATCH);
}

// Every entry point that takes a handle, called with nothing else that is right.
std::vector<skgemm_status_t> call_all(skgemm_handle_t h) {
  skgemm_gemm_t gemm{};
  skgemm_plan_t plan{};
  size_t bytes = 0;
  int sms = 0;
  skgemm_stream_t stream = nullptr;
  skgemm_pointer_mode_t pointer_mode{};
  skgemm_math_mode_t math_mode{};
  const auto bad = static_cast<skgemm_op_t>(9);
  const auto n = SKGEMM_OP_N;
  return {
      skgemm_destroy(h),
      skgemm_set_stream(h, nullptr),
      skgemm_get_stream(h, &stream),
      skgemm_set_pointer_mode(h, SKGEMM_POINTER_MODE_HOST),
      skgemm_get_pointer_mode(h, &pointer_mode),
      skgemm_set_math_mode(h, SKGEMM_MATH_DEFAULT),
      skgemm_get_math_mode(h, &math_mode),
      skgemm_set_sm_limit(h, 0),
      skgemm_get_sm_limit(h, &sms),
      skgemm_set_workspace(h, nullptr, 0),
      skgemm_set_schedule(h, SKGEMM_SCHEDULE_AUTO, 0),
      skgemm_set_tile(h, 0, SKGEMM_ORIENTATION_AUTO),
      skgemm_set_cluster(h, 0, 0),
      skgemm_sgemm(h, bad, n, -1, 1, 1, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, 0),
      skgemm_dgemm(h, bad, n, -1, 1, 1, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, 0),
      skgemm_hgemm(h, n, n, 0, 0, 0, nullptr, nullptr, 1, nullptr, 1, nullptr, nullptr, 1),
      skgemm_sgemm_strided_batched(h, n, n, 0, 0, 0, nullptr, nullptr, 1, 0, nullptr, 1, 0, nullptr, nullptr, 1, 0, 0),
      skgemm_dgemm_strided_batched(h, n, n, 0, 0, 0, nullptr, nullptr, 1, 0, nullptr, 1, 0, nullptr, nullptr, 1, 0, 0),
      skgemm_hgemm_strided_batched(h, n, n, 0, 0, 0, nullptr, nullptr, 1, 0, nullptr, 1, 0, nullptr, nullptr, 1, 0, 0),
      skgemm_gemm_ex(h, &gemm),
      skgemm_gemm_plan(h, &gemm, &plan),
      skgemm_gemm_workspace(h, &gemm, &bytes)};
}

TEST(NativeHandle, NullIsNotInitializedWhateverElse) {
  for (const skgemm_status_t status : call_all(nullptr)) EXPECT_EQ(status, SKGEMM_STATUS_NOT_INITIALIZED);
  EXPECT_TRUE(says("skgemm_create"));
}

TEST(NativeHandle, DestroyedIsNotInitialized) {
  skgemm_handle_t handle = skgemm::make_context(0);
  EXPECT_EQ(skgemm_destroy(handle), SKGEMM_STATUS_SUCCESS);
  for (const skgemm_status_t status : call_all(handle)) EXPECT_EQ(status, SKGEMM_STATUS_NOT_INITIALIZED);
  EXPECT_TRUE(says("destroyed"));
}

TEST(NativeHandle, DestroyedTwiceSparesTheOneMadeInBetween) {
  const skgemm_handle_t first = skgemm::make_context(0);
  EXPECT_EQ(skgemm_destroy(first), SKGEMM_STATUS_SUCCESS);
  const skgemm_handle_t second = skgemm::make_context(0);
  EXPECT_EQ(skgemm_destroy(first), SKGEMM_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(skgemm_set_stream(second, nullptr), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_destroy(second), SKGEMM_STATUS_SUCCESS);
}

TEST(NativeHandle, ManyThreadsMakeAndDestroy) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) {
        skgemm_handle_t handle = skgemm::make_context(0);
        EXPECT_EQ(skgemm_set_math_mode(handle, SKGEMM_MATH_PEDANTIC), SKGEMM_STATUS_SUCCESS);
        EXPECT_EQ(skgemm_destroy(handle), SKGEMM_STATUS_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class NativeCalls : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(skgemm_destroy(handle_), SKGEMM_STATUS_SUCCESS); }

  // A good fp32 product of host matrices with one change.
  template <class Change>
  skgemm_status_t with(Change change) {
    skgemm_gemm_t g{};
    g.m = 4, g.n = 5, g.k = 6;
    g.lda = 4, g.ldb = 6, g.ldc = 4;
    g.alpha = &one_, g.beta = &one_;
    g.a = a_, g.b = b_, g.c = c_;
    change(g);
    return skgemm_gemm_ex(handle_, &g);
  }

  skgemm_handle_t handle_ = skgemm::make_context(0);
  float one_ = 1, a_[24] = {}, b_[30] = {}, c_[20] = {};
};

TEST_F(NativeCalls, SettingsAreKeptAndANewHandleHasNone) {
  const auto stream = reinterpret_cast<skgemm_stream_t>(uintptr_t{0x40});
  EXPECT_EQ(skgemm_set_stream(handle_, stream), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_set_pointer_mode(handle_, SKGEMM_POINTER_MODE_DEVICE), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_set_math_mode(handle_, SKGEMM_MATH_PEDANTIC), SKGEMM_STATUS_SUCCESS);
  const auto read = [this] {
    skgemm_stream_t s{};
    skgemm_pointer_mode_t p{};
    skgemm_math_mode_t m{};
    int sms = -1;
    EXPECT_EQ(skgemm_get_stream(handle_, &s), SKGEMM_STATUS_SUCCESS);
    EXPECT_EQ(skgemm_get_pointer_mode(handle_, &p), SKGEMM_STATUS_SUCCESS);
    EXPECT_EQ(skgemm_get_math_mode(handle_, &m), SKGEMM_STATUS_SUCCESS);
    EXPECT_EQ(skgemm_get_sm_limit(handle_, &sms), SKGEMM_STATUS_SUCCESS);
    return std::tuple{s, p, m, sms};
  };
  EXPECT_EQ(read(), std::tuple(stream, SKGEMM_POINTER_MODE_DEVICE, SKGEMM_MATH_PEDANTIC, 0));
  // Its memory does become a new handle, in time.
  skgemm_handle_t const before = handle_;
  EXPECT_EQ(skgemm_destroy(handle_), SKGEMM_STATUS_SUCCESS);
  handle_ = skgemm::make_context(0);
  for (size_t i = 0; i < 3 * skgemm::kHandlesBetweenUses && handle_ != before; ++i) {
    EXPECT_EQ(skgemm_destroy(handle_), SKGEMM_STATUS_SUCCESS);
    handle_ = skgemm::make_context(0);
  }
  EXPECT_EQ(handle_, before);
  EXPECT_EQ(read(), std::tuple(skgemm_stream_t{}, SKGEMM_POINTER_MODE_HOST, SKGEMM_MATH_DEFAULT, 0));
}

TEST_F(NativeCalls, BadSettingsChangeNothing) {
  for (const int mode : {-1, 1, 3, 99}) {
    EXPECT_EQ(skgemm_set_math_mode(handle_, static_cast<skgemm_math_mode_t>(mode)), SKGEMM_STATUS_INVALID_VALUE);
  }
  for (const int mode : {-1, 2}) {
    EXPECT_EQ(skgemm_set_pointer_mode(handle_, static_cast<skgemm_pointer_mode_t>(mode)), SKGEMM_STATUS_INVALID_VALUE);
  }
  EXPECT_EQ(skgemm_set_sm_limit(handle_, -1), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_get_stream(handle_, nullptr), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_set_workspace(handle_, nullptr, 1), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_set_workspace(handle_, nullptr, 0), SKGEMM_STATUS_SUCCESS);
  skgemm_math_mode_t math{};
  EXPECT_EQ(skgemm_get_math_mode(handle_, &math), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(math, SKGEMM_MATH_DEFAULT);
}

TEST_F(NativeCalls, TheBadArgumentIsNamed) {
  const auto refused = [this](auto change, const std::string& words) {
    EXPECT_EQ(with(change), SKGEMM_STATUS_INVALID_VALUE);
    EXPECT_TRUE(says(words));
  };
  for (const int op : {3, -1}) {
    refused([op](auto& g) { g.op_a = static_cast<skgemm_op_t>(op); }, "skgemm_gemm_ex: op_a is " + std::to_string(op));
    refused([op](auto& g) { g.op_b = static_cast<skgemm_op_t>(op); }, "op_b is");
  }
  refused([](auto& g) { g.m = -1; }, "m is -1");
  refused([](auto& g) { g.n = -2; }, "n is -2");
  refused([](auto& g) { g.k = -3; }, "k is -3");
  refused([](auto& g) { g.lda = 3; }, "lda is 3, it must be at least max(1, m) = 4");
  refused([](auto& g) { g.op_b = SKGEMM_OP_T, g.ldb = 4; }, "ldb is 4, it must be at least max(1, n) = 5");
  refused([](auto& g) { g.ldc = 0; }, "ldc is 0");
  refused([](auto& g) { g.batch = -1; }, "batch is -1");
  refused([](auto& g) { g.m = 0, g.lda = 0; }, "lda is 0");  // also when there is nothing to do
}

TEST_F(NativeCalls, TypesThatAreNotBuilt) {
  const auto types = [this](skgemm_type_t a, skgemm_type_t b, skgemm_type_t c) {
    return with([=](auto& g) { g.a_type = a, g.b_type = b, g.c_type = c, g.m = 0; });
  };
  const auto f32 = SKGEMM_R_32F, f64 = SKGEMM_R_64F, f16 = SKGEMM_R_16F, bf16 = SKGEMM_R_16BF;
  for (const auto type : {f32, f64, f16, bf16}) EXPECT_EQ(types(type, type, type), SKGEMM_STATUS_SUCCESS) << type;
  EXPECT_EQ(types(f16, f16, f32), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(types(bf16, bf16, f32), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(types(f16, bf16, f32), SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(types(f16, f16, bf16), SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(types(f32, f32, f64), SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(types(f64, f64, f32), SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(types(f32, f32, f16), SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(types(static_cast<skgemm_type_t>(3), static_cast<skgemm_type_t>(3), static_cast<skgemm_type_t>(3)),
            SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(says("types (A 3, B 3, C 3)"));
}

TEST_F(NativeCalls, NothingToDoNeedsNoPointersAndNoDevice) {
  for (const bool m : {false, true}) {
    EXPECT_EQ(with([m](auto& g) {
                (m ? g.m : g.n) = 0;
                g.alpha = g.beta = g.a = g.b = nullptr;
                g.c = nullptr;
              }),
              SKGEMM_STATUS_SUCCESS);
  }
  EXPECT_EQ(skgemm_sgemm_strided_batched(handle_, SKGEMM_OP_N, SKGEMM_OP_N, 4, 5, 6, nullptr, nullptr, 4, 0, nullptr, 6,
                                         0, nullptr, nullptr, 4, 0, 0),
            SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_gemm_ex(handle_, nullptr), SKGEMM_STATUS_INVALID_VALUE);
}

TEST_F(NativeCalls, HostMatricesAreRefusedInWords) {
  const bool gpu = skgemm::gpu::availability().usable;
  EXPECT_EQ(with([](auto&) {}), gpu ? SKGEMM_STATUS_INVALID_VALUE : SKGEMM_STATUS_NO_DEVICE);
  EXPECT_FALSE(last_error().empty());
}

TEST_F(NativeCalls, PlansOfProductsThatNeedNone) {
  skgemm_gemm_t g{};
  g.lda = g.ldb = g.ldc = 1;
  skgemm_plan_t plan;
  EXPECT_EQ(skgemm_gemm_plan(handle_, &g, &plan), SKGEMM_STATUS_SUCCESS);
  EXPECT_STREQ(plan.kernel, "none");
  g.m = g.n = 1;
  EXPECT_EQ(skgemm_gemm_plan(handle_, &g, &plan), SKGEMM_STATUS_SUCCESS);
  EXPECT_STREQ(plan.kernel, "scale");
  size_t bytes = 1;
  EXPECT_EQ(skgemm_gemm_workspace(handle_, &g, &bytes), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(skgemm_gemm_plan(handle_, &g, nullptr), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_gemm_workspace(handle_, &g, nullptr), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_gemm_workspace(handle_, nullptr, &bytes), SKGEMM_STATUS_INVALID_VALUE);
}

TEST_F(NativeCalls, ErrorsAreEachThreadsOwn) {
  EXPECT_EQ(with([](auto& g) { g.m = -1; }), SKGEMM_STATUS_INVALID_VALUE);
  std::thread([] {
    EXPECT_EQ(last_error(), "");
    EXPECT_EQ(skgemm_destroy(nullptr), SKGEMM_STATUS_NOT_INITIALIZED);
  }).join();
  EXPECT_TRUE(says("m is -1"));
}

// A child of a process that asked for a GPU answers at once, with words, and never hangs.
TEST(NativeAfterFork, AChildHasNoDevice) {
  (void)skgemm::gpu::availability();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    skgemm_handle_t handle = nullptr;
    const bool right = skgemm_create(&handle) == SKGEMM_STATUS_NO_DEVICE && !last_error().empty() &&
                       skgemm::gpu::memory_of(&handle) == skgemm::gpu::Memory::host;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
