// Running a case through the public API and judging what came back.
#include "tests/gpu/gpu_test.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <type_traits>

namespace skgemm::test {
namespace {

constexpr std::chrono::seconds kDeadline{10};

// SKGEMM_DEADLINE_S raises every deadline, for runs under a sanitizer.
std::chrono::seconds at_least_the_environments(std::chrono::seconds limit) {
  const char* raised = std::getenv("SKGEMM_DEADLINE_S");
  return raised == nullptr ? limit : std::max(limit, std::chrono::seconds(std::atol(raised)));
}

std::string full_name() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "." + info->name();
}

skgemm_type_t public_type(DataType type) {
  constexpr skgemm_type_t types[] = {SKGEMM_R_16F, SKGEMM_R_16BF, SKGEMM_R_32F, SKGEMM_R_64F};
  return types[static_cast<int>(type)];
}

skgemm_op_t public_op(char op) { return op == 'N' ? SKGEMM_OP_N : op == 'T' ? SKGEMM_OP_T : SKGEMM_OP_C; }

void store_scalar(const GemmCase& c, double value, void* at) {
  if (c.in == DataType::f64) {
    std::memcpy(at, &value, sizeof value);
  } else {
    const float narrow = static_cast<float>(value);
    std::memcpy(at, &narrow, sizeof narrow);
  }
}

// One typed entry point for a single product, its strided form for a batch.
template <class T, class Single, class Batched>
skgemm_status_t typed(skgemm_handle_t h, const skgemm_gemm_t& g, Single single, Batched batched) {
  using Scalar = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto* alpha = static_cast<const Scalar*>(g.alpha);
  const auto* beta = static_cast<const Scalar*>(g.beta);
  const auto *a = static_cast<const T*>(g.a), *b = static_cast<const T*>(g.b);
  auto* c = static_cast<T*>(g.c);
  if (g.batch == 1) return single(h, g.op_a, g.op_b, g.m, g.n, g.k, alpha, a, g.lda, b, g.ldb, beta, c, g.ldc);
  return batched(h, g.op_a, g.op_b, g.m, g.n, g.k, alpha, a, g.lda, g.stride_a, b, g.ldb, g.stride_b, beta, c, g.ldc,
                 g.stride_c, g.batch);
}

// A machine that shows a GPU must be able to use it, unless the user hides it; SKGEMM_REQUIRE_GPU insists in any case.
const char* why_a_gpu_is_expected() {
  if (std::getenv("SKGEMM_REQUIRE_GPU") != nullptr) return "SKGEMM_REQUIRE_GPU is set";
  std::error_code ignored;
  const bool shown = std::filesystem::exists("/dev/nvidia0", ignored);
  return shown && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr ? "/dev/nvidia0 is there" : nullptr;
}

testing::AssertionResult complain(const GemmCase& c, const std::string& what) {
  return testing::AssertionFailure() << what << "\n  repeat: " << repeat_command(c);
}

}  // namespace

HandleModes::HandleModes(skgemm_handle_t handle, const GemmCase& c)
    : handle_(handle), lent_(c.workspace > 0 ? static_cast<size_t>(c.workspace + c.workspace_offset) : 0) {
  check(skgemm_set_schedule(handle, static_cast<skgemm_schedule_t>(c.schedule), c.parameter), "skgemm_set_schedule");
  check(skgemm_set_tile(handle, static_cast<int32_t>(c.width), static_cast<skgemm_orientation_t>(c.orientation)),
        "skgemm_set_tile");
  check(skgemm_set_cluster(handle, static_cast<int32_t>(c.cluster_m), static_cast<int32_t>(c.cluster_n)),
        "skgemm_set_cluster");
  check(skgemm_set_sm_limit(handle, static_cast<int>(c.sms)), "skgemm_set_sm_limit");
  if (c.workspace > 0) {
    check(skgemm_set_workspace(handle, lent_.data() + c.workspace_offset, static_cast<size_t>(c.workspace)),
          "skgemm_set_workspace");
  }
}

HandleModes::~HandleModes() {
  skgemm_set_schedule(handle_, SKGEMM_SCHEDULE_AUTO, 0);
  skgemm_set_tile(handle_, 0, SKGEMM_ORIENTATION_AUTO);
  skgemm_set_cluster(handle_, 0, 0);
  skgemm_set_sm_limit(handle_, 0);
  skgemm_set_workspace(handle_, nullptr, 0);
}

void GpuTest::SetUp() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    const char* why = error == cudaSuccess ? "the driver lists none" : cudaGetErrorString(error);
    if (const char* expected = why_a_gpu_is_expected()) FAIL() << expected << ", but CUDA has no device: " << why;
    GTEST_SKIP() << "no CUDA device: " << why;
  }
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "cudaDeviceGetAttribute");
  if (major < 8) GTEST_SKIP() << "the GPU is older than sm_80";
  set_deadline(kDeadline);
  handle_ = std::make_unique<Handle>();
}

void GpuTest::TearDown() {
  if (handle_) skgemm_set_stream(*handle_, nullptr);  // the test's own streams are gone
  handle_.reset();
  if (watchdog_) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "a kernel of this test failed";
  }
  watchdog_.reset();
}

void GpuTest::set_deadline(std::chrono::seconds limit) {
  watchdog_.reset();
  watchdog_ = std::make_unique<Watchdog>(full_name(), at_least_the_environments(limit));
}

bool GpuTest::has_memory(size_t bytes) const {
  size_t free_bytes = 0, total = 0;
  check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
  return free_bytes >= bytes + (size_t{1} << 30);
}

int GpuTest::sm_count() {
  int device = 0, sms = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return sms;
}

DeviceCase::DeviceCase(const GemmCase& gemm_case)
    : case_(completed(gemm_case)),
      operands_(make_operands(case_)),
      a_(operands_.a.frame()),
      b_(operands_.b.frame()),
      c_(operands_.c.frame()),
      scalars_(sizeof host_scalars_) {
  store_scalar(case_, case_.alpha, &host_scalars_[0]);
  store_scalar(case_, case_.beta, &host_scalars_[1]);
  copy_to_device(scalars_.data(), host_scalars_, sizeof host_scalars_);
}

void DeviceCase::refresh() {
  a_.upload(operands_.a.frame());
  b_.upload(operands_.b.frame());
  c_.upload(operands_.c.frame());
}

void DeviceCase::force(const Modes& modes) {
  case_.width = modes.width, case_.orientation = modes.orientation;
  case_.cluster_m = modes.cluster_m, case_.cluster_n = modes.cluster_n;
  case_.schedule = modes.schedule, case_.parameter = modes.parameter;
  case_.sms = modes.sms;
}

skgemm_gemm_t DeviceCase::call() const {
  const GemmCase& c = case_;
  const std::byte* scalars = c.device_scalars ? scalars_.data() : reinterpret_cast<const std::byte*>(host_scalars_);
  skgemm_gemm_t g{};
  g.op_a = public_op(c.op[0]), g.op_b = public_op(c.op[1]);
  g.m = c.m, g.n = c.n, g.k = c.k;
  g.a_type = g.b_type = public_type(c.in);
  g.c_type = public_type(c.out);
  g.alpha = scalars, g.beta = scalars + sizeof(double);
  g.a = a_.data() + operands_.a.origin_bytes(), g.lda = c.lda, g.stride_a = c.stride_a;
  g.b = b_.data() + operands_.b.origin_bytes(), g.ldb = c.ldb, g.stride_b = c.stride_b;
  g.c = c_.data() + operands_.c.origin_bytes(), g.ldc = c.ldc, g.stride_c = c.stride_c;
  g.batch = c.batch;
  return g;
}

skgemm_status_t DeviceCase::run(skgemm_handle_t handle) const {
  check(skgemm_set_pointer_mode(handle, case_.device_scalars ? SKGEMM_POINTER_MODE_DEVICE : SKGEMM_POINTER_MODE_HOST),
        "skgemm_set_pointer_mode");
  const skgemm_gemm_t g = call();
  if (!case_.typed_call || case_.in != case_.out || case_.in == DataType::bf16) return skgemm_gemm_ex(handle, &g);
  switch (case_.in) {
    case DataType::f64:
      return typed<double>(handle, g, skgemm_dgemm, skgemm_dgemm_strided_batched);
    case DataType::f32:
      return typed<float>(handle, g, skgemm_sgemm, skgemm_sgemm_strided_batched);
    default:
      return typed<void>(handle, g, skgemm_hgemm, skgemm_hgemm_strided_batched);
  }
}

testing::AssertionResult DeviceCase::judge() const { return judge(reference_gemm(case_, operands_)); }

testing::AssertionResult DeviceCase::judge(const Reference& expected) const {
  GuardedMatrix c = operands_.c;
  c.frame() = c_.download();
  if (const std::string wrong = mismatch(c, expected); !wrong.empty()) return complain(case_, wrong);
  if (const std::string hit = c.damage(); !hit.empty()) return complain(case_, "C: " + hit);
  if (a_.download() != operands_.a.frame()) return complain(case_, "A was written");
  if (b_.download() != operands_.b.frame()) return complain(case_, "B was written");
  return testing::AssertionSuccess();
}

testing::AssertionResult passes(skgemm_handle_t handle, const GemmCase& gemm_case) {
  const DeviceCase on_device(gemm_case);
  const HandleModes modes(handle, gemm_case);
  if (const skgemm_status_t status = on_device.run(handle); status != SKGEMM_STATUS_SUCCESS) {
    return complain(gemm_case, std::string(skgemm_status_string(status)) + ": " + skgemm_last_error());
  }
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    return complain(gemm_case, std::string("the kernel failed: ") + cudaGetErrorString(error));
  }
  return on_device.judge();
}

skgemm_plan_t plan_of(skgemm_handle_t handle, const GemmCase& c) {
  const DeviceCase product(c);
  const HandleModes modes(handle, product.gemm_case());
  const skgemm_gemm_t call = product.call();
  skgemm_plan_t plan{};
  check(skgemm_gemm_plan(handle, &call, &plan), "skgemm_gemm_plan");
  return plan;
}

int run_all_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  if (GTEST_FLAG_GET(list_tests)) return failed;
  if (failed != 0 || tests.test_to_run_count() == 0) return EXIT_FAILURE;
  constexpr int kSkipped = 77;  // CTest's SKIP_RETURN_CODE in CMakeLists.txt
  return tests.skipped_test_count() == tests.test_to_run_count() ? kSkipped : EXIT_SUCCESS;
}

std::string repeat_command(const GemmCase& gemm_case) {
  return "SKGEMM_CASE='" + to_string(gemm_case) + "' ./skgemm_gpu_tests --gtest_filter=Repeat.Case";
}

}  // namespace skgemm::test
