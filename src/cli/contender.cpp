#include "src/cli/contender.h"

#include <fmt/format.h>

#include <stdexcept>

namespace skgemm::cli {
namespace {

std::string words_of(skgemm_status_t status) {
  const std::string_view detail = skgemm_last_error();
  return fmt::format("{}{}{}", skgemm_status_string(status), detail.empty() ? "" : ": ", detail);
}

void must(skgemm_status_t status, std::string_view doing) {
  if (status != SKGEMM_STATUS_SUCCESS) throw std::runtime_error(fmt::format("{}: {}", doing, words_of(status)));
}

skgemm_op_t api_op(bool transposed) { return transposed ? SKGEMM_OP_T : SKGEMM_OP_N; }

// The scalars live as long as the call, in the type that it wants.
struct ApiCall {
  float alpha32, beta32;
  skgemm_gemm_t gemm;

  ApiCall(const BenchCase& c, const CallOperands& x)
      : alpha32(static_cast<float>(c.alpha)), beta32(static_cast<float>(c.beta)), gemm{} {
    const bool wide = c.type == DataType::f64;
    gemm.op_a = api_op(c.ops.a_transposed);
    gemm.op_b = api_op(c.ops.b_transposed);
    gemm.m = c.m;
    gemm.n = c.n;
    gemm.k = c.k;
    gemm.a_type = gemm.b_type = api_type(c.type);
    gemm.c_type = api_type(c.out);
    gemm.alpha = wide ? static_cast<const void*>(&c.alpha) : &alpha32;
    gemm.beta = wide ? static_cast<const void*>(&c.beta) : &beta32;
    gemm.a = x.a;
    gemm.b = x.b;
    gemm.c = x.c;
    gemm.lda = c.lda;
    gemm.ldb = c.ldb;
    gemm.ldc = c.ldc;
    gemm.stride_a = c.stride_a();
    gemm.stride_b = c.stride_b();
    gemm.stride_c = c.stride_c();
    gemm.batch = c.batch;
  }
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;
};

}  // namespace

OurContender::OurContender(CUstream_st* stream) {
  must(skgemm_create(&handle_), "skgemm_create");
  must(skgemm_set_stream(handle_, stream), "skgemm_set_stream");
}

OurContender::~OurContender() { skgemm_destroy(handle_); }

void OurContender::force(ScheduleKind schedule, int64_t parameter) {
  must(skgemm_set_schedule(handle_, static_cast<skgemm_schedule_t>(schedule), parameter), "skgemm_set_schedule");
}

void OurContender::force_tile(int32_t width, skgemm_orientation_t orientation) {
  must(skgemm_set_tile(handle_, width, orientation), "skgemm_set_tile");
}

void OurContender::force_cluster(const ClusterShape& cluster) {
  must(skgemm_set_cluster(handle_, cluster.m, cluster.n), "skgemm_set_cluster");
}

std::string OurContender::multiply(const BenchCase& c, const CallOperands& operands) {
  const ApiCall call(c, operands);
  const skgemm_status_t status = skgemm_gemm_ex(handle_, &call.gemm);
  return status == SKGEMM_STATUS_SUCCESS ? "" : words_of(status);
}

skgemm_plan_t OurContender::plan(const BenchCase& c, const CallOperands& operands) {
  const ApiCall call(c, operands);
  skgemm_plan_t plan{};
  if (skgemm_gemm_plan(handle_, &call.gemm, &plan) != SKGEMM_STATUS_SUCCESS) return {};
  return plan;
}

}  // namespace skgemm::cli
