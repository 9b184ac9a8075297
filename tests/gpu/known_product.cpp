// Running a product under forced modes, and the placements of its operands.
#include "tests/gpu/known_product.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernels/catalogue.h"

namespace skgemm::test {

void TileTest::SetUp() {
  GpuTest::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "cudaDeviceGetAttribute");
  if (major != 9 || minor != 0) GTEST_SKIP() << "only the kernels of sm_90 have a run-time tile width";
  set_deadline(std::chrono::seconds(60));
}

GemmCase placed(GemmCase c, const Placement& where) {
  const GemmCase tight = completed(c);
  const auto past = [](int64_t ld, const Place& place) { return (ld + 7) / 8 * 8 + place.past; };
  c.lda = past(tight.lda, where.a), c.offset_a = where.a.offset;
  c.ldb = past(tight.ldb, where.b), c.offset_b = where.b.offset;
  c.ldc = past(tight.ldc, where.c), c.offset_c = where.c.offset;
  c.tight_end = 1;
  return c;
}

Reference reference_of(const GemmCase& c) {
  const GemmCase whole = completed(c);
  return reference_gemm(whole, make_operands(whole));
}

Reference constant_reference(const GemmCase& c, double value) {
  const size_t count = static_cast<size_t>(c.m * c.n * c.batch);
  return {c.m, c.n, c.batch, std::vector<double>(count, rounded(c.out, value)), std::vector<double>(count, 0.0)};
}

KnownProduct::KnownProduct(const GemmCase& c, Reference expected) : product_(c), expected_(std::move(expected)) {
  if (std::ranges::any_of(expected_.tolerance, [](double tolerance) { return tolerance > 0; })) return;
  GuardedMatrix result = product_.operands().c;
  size_t at = 0;
  for (int64_t entry = 0; entry < expected_.batch; ++entry) {
    for (int64_t j = 0; j < expected_.n; ++j) {
      for (int64_t i = 0; i < expected_.m; ++i) result.set(i, j, expected_.value[at++], entry);
    }
  }
  only_right_ = result.frame();
}

testing::AssertionResult KnownProduct::run(skgemm_handle_t handle, const Modes& modes) {
  product_.force(modes);
  const HandleModes forced(handle, product_.gemm_case());
  if (testing::AssertionResult planned = planned_as_forced(handle); !planned) return planned;
  product_.reset_c();
  const skgemm_status_t status = product_.run(handle);
  const cudaError_t error = cudaDeviceSynchronize();
  if (status != SKGEMM_STATUS_SUCCESS || error != cudaSuccess) {
    return testing::AssertionFailure() << skgemm_status_string(status) << ' ' << skgemm_last_error() << ", "
                                       << cudaGetErrorString(error)
                                       << "\n  repeat: " << repeat_command(product_.gemm_case());
  }
  bits_ = product_.c_bytes();
  return testing::AssertionSuccess();
}

testing::AssertionResult KnownProduct::right(skgemm_handle_t handle, const Modes& modes) {
  if (testing::AssertionResult ran = run(handle, modes); !ran) return ran;
  if (!only_right_.empty() && bits_ == only_right_) return testing::AssertionSuccess();
  return product_.judge(expected_);
}

testing::AssertionResult KnownProduct::planned_as_forced(skgemm_handle_t handle) const {
  const GemmCase& c = product_.gemm_case();
  const skgemm_gemm_t call = product_.call();
  skgemm_plan_t plan{};
  check(skgemm_gemm_plan(handle, &call, &plan), "skgemm_gemm_plan");
  const bool swapped = c.orientation == SKGEMM_ORIENTATION_SWAPPED;
  const KernelRow& kernel = *find_kernel(std::string_view(plan.kernel));
  const bool cluster = c.cluster_m == 0 || kernel.most_clustered == 1 ||
                       (plan.cluster_m == c.cluster_m && plan.cluster_n == c.cluster_n);
  const int64_t width = swapped ? plan.tile_m / plan.cluster_m : plan.tile_n / plan.cluster_n;
  const int64_t asked = std::min<int64_t>(kernel.whole_width(c.width), kernel.tile_n);
  const bool tile = (plan.swapped != 0) == swapped && width == asked && cluster;
  const bool schedule = c.schedule == SKGEMM_SCHEDULE_AUTO || plan.schedule == c.schedule;
  const bool split = c.schedule == SKGEMM_SCHEDULE_FIXED_SPLIT;
  const int64_t steps = split ? plan.steps_per_tile : plan.tiles * plan.steps_per_tile;  // no more can be asked for
  const bool parameter = c.parameter == 0 || (split ? plan.split : plan.ctas) == std::min(c.parameter, steps);
  if (tile && schedule && parameter) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "planned " << plan.kernel << ' ' << plan.tile_m << 'x' << plan.tile_n
                                     << " cluster " << plan.cluster_m << 'x' << plan.cluster_n
                                     << " swapped=" << plan.swapped << " schedule=" << plan.schedule
                                     << " ctas=" << plan.ctas << " split=" << plan.split
                                     << ", not what is forced: " << to_string(c);
}

}  // namespace skgemm::test
