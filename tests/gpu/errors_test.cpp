// Argument errors of the native API: the status, the words, and C untouched.
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

extern "C" void sgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                       const float* beta, float* c, const int* ldc);

namespace skgemm::test {
namespace {

class Errors : public GpuTest {
 protected:
  static GemmCase small() {
    GemmCase c;
    c.op = "NT", c.m = 9, c.n = 7, c.k = 5;
    return c;
  }
};

struct BadArgument {
  const char* word;  // the message must say what it is
  std::function<void(skgemm_gemm_t&)> spoil;
};

TEST_F(Errors, BadArgumentsAreNamedAndLeaveCAlone) {
  const BadArgument rows[] = {
      {"op_a", [](skgemm_gemm_t& g) { g.op_a = static_cast<skgemm_op_t>(9); }},
      {"op_b", [](skgemm_gemm_t& g) { g.op_b = static_cast<skgemm_op_t>(3); }},
      {"m", [](skgemm_gemm_t& g) { g.m = -1; }},
      {"n", [](skgemm_gemm_t& g) { g.n = -1; }},
      {"k", [](skgemm_gemm_t& g) { g.k = -1; }},
      {"lda", [](skgemm_gemm_t& g) { g.lda = g.m - 1; }},
      {"lda", [](skgemm_gemm_t& g) { g.m = 0, g.lda = 0; }},
      {"ldb", [](skgemm_gemm_t& g) { g.ldb = g.n - 1; }},
      {"ldc", [](skgemm_gemm_t& g) { g.ldc = g.m - 1; }},
      {"ldc", [](skgemm_gemm_t& g) { g.m = 0, g.ldc = 0; }},
      {"batch", [](skgemm_gemm_t& g) { g.batch = -1; }},
      {"alpha", [](skgemm_gemm_t& g) { g.alpha = nullptr; }},
      {"beta", [](skgemm_gemm_t& g) { g.beta = nullptr; }},
      {"A", [](skgemm_gemm_t& g) { g.a = nullptr; }},
      {"B", [](skgemm_gemm_t& g) { g.b = nullptr; }},
  };
  for (const BadArgument& row : rows) {
    const DeviceCase product(small());
    const std::vector<std::byte> before = product.c_bytes();
    skgemm_gemm_t call = product.call();
    row.spoil(call);
    EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_INVALID_VALUE) << row.word;
    const std::string words = std::string(" ") + row.word + " is ";
    EXPECT_NE(std::string(skgemm_last_error()).find(words), std::string::npos) << skgemm_last_error();
    check(cudaDeviceSynchronize(), "no kernel");
    EXPECT_EQ(product.c_bytes(), before) << row.word;
  }
}

TEST_F(Errors, NullCIsRefused) {
  const DeviceCase product(small());
  skgemm_gemm_t call = product.call();
  call.c = nullptr;
  EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_INVALID_VALUE);
}

TEST_F(Errors, TypesThatAreNotBuilt) {
  for (const auto& [in, out] : {std::pair{SKGEMM_R_32F, SKGEMM_R_16F}, std::pair{SKGEMM_R_64F, SKGEMM_R_32F},
                                std::pair{SKGEMM_R_16F, SKGEMM_R_16BF}, std::pair{SKGEMM_R_16BF, SKGEMM_R_64F}}) {
    const DeviceCase product(small());
    skgemm_gemm_t call = product.call();
    call.a_type = call.b_type = in, call.c_type = out;
    EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_NOT_SUPPORTED) << in << " to " << out;
    EXPECT_STRNE(skgemm_last_error(), "");
  }
}

TEST_F(Errors, NullHandle) {
  const DeviceCase product(small());
  const skgemm_gemm_t call = product.call();
  EXPECT_EQ(skgemm_gemm_ex(nullptr, &call), SKGEMM_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(skgemm_destroy(nullptr), SKGEMM_STATUS_NOT_INITIALIZED);
}

// Ordinary host memory where device memory is wanted: words, not a fault in the kernel.
TEST_F(Errors, HostPointersAreRefusedInWords) {
  int device = 0, reads_host_memory = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&reads_host_memory, cudaDevAttrPageableMemoryAccess, device), "cudaDeviceGetAttribute");
  if (reads_host_memory) GTEST_SKIP() << "this device reads ordinary host memory, so nothing is to be refused";
  const DeviceCase product(small());
  std::vector<float> host(1000, 3.0F);
  const auto put_host = [&](const void* skgemm_gemm_t::*field) {
    skgemm_gemm_t call = product.call();
    call.*field = host.data();
    return skgemm_gemm_ex(handle(), &call);
  };
  skgemm_gemm_t host_c = product.call();
  host_c.c = host.data();
  EXPECT_EQ(put_host(&skgemm_gemm_t::a), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_NE(std::string(skgemm_last_error()).find("host"), std::string::npos) << skgemm_last_error();
  EXPECT_EQ(put_host(&skgemm_gemm_t::b), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_gemm_ex(handle(), &host_c), SKGEMM_STATUS_INVALID_VALUE);
  check(cudaDeviceSynchronize(), "no kernel");
  EXPECT_EQ(host, std::vector<float>(1000, 3.0F));
}

TEST_F(Errors, OperandsBetweenElementsAreRefused) {
  const DeviceCase product(small());
  skgemm_gemm_t call = product.call();
  call.a = static_cast<const std::byte*>(call.a) + 1;
  EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_STRNE(skgemm_last_error(), "");
}

TEST_F(Errors, SmLimits) {
  EXPECT_EQ(skgemm_set_sm_limit(handle(), -1), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_set_sm_limit(handle(), sm_count() + 1), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_set_sm_limit(handle(), sm_count()), SKGEMM_STATUS_SUCCESS);
  int sms = 0;
  EXPECT_EQ(skgemm_get_sm_limit(handle(), &sms), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(sms, sm_count());
}

TEST_F(Errors, ModesAreReadBack) {
  skgemm_pointer_mode_t mode{};
  EXPECT_EQ(skgemm_set_pointer_mode(handle(), SKGEMM_POINTER_MODE_DEVICE), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_set_pointer_mode(handle(), static_cast<skgemm_pointer_mode_t>(5)), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(skgemm_get_pointer_mode(handle(), &mode), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(mode, SKGEMM_POINTER_MODE_DEVICE);
  const Stream stream;
  skgemm_stream_t read = nullptr;
  EXPECT_EQ(skgemm_set_stream(handle(), stream), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(skgemm_get_stream(handle(), &read), SKGEMM_STATUS_SUCCESS);
  EXPECT_EQ(read, static_cast<cudaStream_t>(stream));
  EXPECT_EQ(skgemm_set_stream(handle(), nullptr), SKGEMM_STATUS_SUCCESS);
}

TEST_F(Errors, ARefusalLeavesTheHandleUsable) {
  const DeviceCase product(small());
  skgemm_gemm_t call = product.call();
  call.lda = 1;
  EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(passes(handle(), small()));
}

TEST_F(Errors, ProductsTooLargeToCount) {
  skgemm_gemm_t call{};
  call.m = call.n = call.lda = call.ldc = int64_t{1} << 40;
  call.k = call.ldb = 1;
  skgemm_plan_t plan{};
  size_t bytes = 0;
  EXPECT_EQ(skgemm_gemm_plan(handle(), &call, &plan), SKGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_NE(std::string(skgemm_last_error()).find("too large"), std::string::npos) << skgemm_last_error();
  EXPECT_EQ(skgemm_gemm_workspace(handle(), &call, &bytes), SKGEMM_STATUS_NOT_SUPPORTED);
}

// Memory of another GPU would fault in the kernel unless peer access to it is on.
TEST_F(Errors, MemoryOfAnotherDevice) {
  set_deadline(std::chrono::seconds(30));
  int devices = 0, possible = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices < 2) GTEST_SKIP() << "there is one GPU";
  const DeviceCase product(small());
  skgemm_gemm_t call = product.call();
  const size_t bytes = static_cast<size_t>(call.lda * (call.k - 1) + call.m) * sizeof(float);
  void* there = nullptr;
  check(cudaSetDevice(1), "cudaSetDevice");
  check(cudaMalloc(&there, bytes), "cudaMalloc");
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaMemcpy(there, call.a, bytes, cudaMemcpyDefault), "copy A");
  call.a = there;
  EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_NE(std::string(skgemm_last_error()).find("another device"), std::string::npos) << skgemm_last_error();
  check(cudaDeviceCanAccessPeer(&possible, 0, 1), "cudaDeviceCanAccessPeer");
  if (possible) {
    check(cudaDeviceEnablePeerAccess(1, 0), "cudaDeviceEnablePeerAccess");
    EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_SUCCESS) << skgemm_last_error();
    check(cudaDeviceSynchronize(), "the kernel");
    EXPECT_TRUE(product.judge());
    check(cudaDeviceDisablePeerAccess(1), "cudaDeviceDisablePeerAccess");
    EXPECT_EQ(skgemm_gemm_ex(handle(), &call), SKGEMM_STATUS_INVALID_VALUE);
  }
  check(cudaFree(there), "cudaFree");
}

// A fault ends the process's CUDA context, and CUDA can no longer say where a pointer lives. BLAS calls on host memory
// go on; those on device memory say what happened instead of crashing a CPU BLAS.
[[noreturn]] void lose_the_context(skgemm_handle_t handle) {
  const DeviceBuffer buffer(sizeof(float));
  auto* device = reinterpret_cast<float*>(buffer.data());
  const float one = 1, zero = 0;
  const int64_t far = 1 << 16;  // 16 GiB from where 4 bytes are
  check(skgemm_sgemm(handle, SKGEMM_OP_N, SKGEMM_OP_N, far, far, 1, &one, device, far, device, 1, &zero, device, far),
        "sgemm");
  const bool lost = cudaDeviceSynchronize() != cudaSuccess;
  const int n = 2;
  const float a[] = {1, 2, 3, 4};
  float c[] = {9, 9, 9, 9};
  sgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  constexpr float kSquared[] = {7, 10, 15, 22};
  const bool host_is_right = std::equal(c, c + 4, kSquared);
  sgemm_("N", "N", &n, &n, &n, &one, device, &n, device, &n, &zero, device, &n);
  _exit(lost && host_is_right ? 0 : 1);
}

TEST_F(Errors, ALostContextIsSaidInWords) {
  set_deadline(std::chrono::seconds(60));
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process: CUDA does not survive a fork
  EXPECT_EXIT(lose_the_context(handle()), testing::ExitedWithCode(0), "sgemm_: .*memory.*C is unchanged");
}

// Managed memory is device memory to the native API.
TEST_F(Errors, ManagedOperandsAreServed) {
  void* managed = nullptr;
  check(cudaMallocManaged(&managed, 3 * 64 * sizeof(float)), "cudaMallocManaged");
  auto* x = static_cast<float*>(managed);
  for (int i = 0; i < 3 * 64; ++i) x[i] = static_cast<float>(i < 128);
  const float alpha = 1, beta = 0;
  check(skgemm_sgemm(handle(), SKGEMM_OP_N, SKGEMM_OP_N, 8, 8, 8, &alpha, x, 8, x + 64, 8, &beta, x + 128, 8), "sgemm");
  check(cudaDeviceSynchronize(), "the kernel");
  EXPECT_EQ(std::vector<float>(x + 128, x + 192), std::vector<float>(64, 8.0F));
  check(cudaFree(managed), "cudaFree");
}

}  // namespace
}  // namespace skgemm::test
