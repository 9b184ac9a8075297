// The native C API (include/skgemm.h). Every entry point runs behind guard() and leaves its failure's words for
// skgemm_last_error().
#include <cstring>

#include "src/abi/device_product.h"
#include "src/abi/guard.h"
#include "src/abi/native_modes.h"
#include "src/abi/native_product.h"
#include "src/context.h"
#include "src/gpu.h"
#include "src/log.h"

namespace skgemm {
namespace {

std::string& last_error() {
  thread_local std::string words;
  return words;
}

template <class Body>
skgemm_status_t answer(Body&& body) noexcept {
  Status status = guard(std::forward<Body>(body));
  if (!status.ok()) last_error() = std::move(status.words);
  return status.code;
}

Status live(const skgemm_context* handle) {
  if (is_live(handle)) return Status::success();
  return {SKGEMM_STATUS_NOT_INITIALIZED,
          handle == nullptr ? "the handle is NULL: make one with skgemm_create" : "the handle was destroyed"};
}

// Runs `body` on a live handle.
template <class Body>
skgemm_status_t with(skgemm_handle_t handle, Body&& body) noexcept {
  return answer([&] {
    Status status = live(handle);
    return status.ok() ? body(*handle) : status;
  });
}

template <class T>
skgemm_status_t get(skgemm_handle_t handle, T* out, T (*value)(const skgemm_context&)) noexcept {
  return with(handle, [&](const skgemm_context& c) {
    if (out == nullptr) return Status::invalid("the pointer that takes the answer is NULL");
    *out = value(c);
    return Status::success();
  });
}

Status multiply(skgemm_context& c, const Product& p) {
  if (Status s = check(p); !s.ok()) return s;
  const GemmCall call = call_of(p, c.scalars);
  if (call.m == 0 || call.n == 0 || call.batch == 0) {
    log::call(call, "gpu", 0, "C is empty");
    return Status::success();
  }
  if (Status s = gpu::ready(c.device); !s.ok()) return s;
  const gpu::DeviceScope device(c.device);
  if (Status s = check_pointers(call); !s.ok()) return s;
  const Ran ran = run(call, c.launch);
  log::call(call, "gpu", ran.us, ran.how);
  return ran.status;
}

skgemm_plan_t answer_of(const Plan& plan) {
  const Schedule& s = plan.schedule;
  skgemm_plan_t out{.kernel = {}, .tile_m = plan.tile.m, .tile_n = plan.tile.n, .tile_k = plan.kernel->tile_k,
                    .cluster_m = plan.tile.cluster.m, .cluster_n = plan.tile.cluster.n,
                    .swapped = plan.tile.swapped ? 1 : 0, .schedule = static_cast<skgemm_schedule_t>(s.kind),
                    .ctas = s.ctas, .split = s.split, .sk_tiles = s.sk_tiles, .tiles = s.tiles(),
                    .steps_per_tile = s.space.steps, .workspace_bytes = plan.workspace_bytes,
                    .predicted_us = plan.predicted_us};
  std::strncpy(out.kernel, plan.kernel->name, sizeof out.kernel - 1);
  return out;
}

// skgemm_gemm_plan and skgemm_gemm_workspace. With `ample`, as if the workspace were the library's own.
Status query(skgemm_context& c, const skgemm_gemm_t* gemm, bool ample, skgemm_plan_t* out) {
  if (gemm == nullptr) return Status::invalid("the product is NULL");
  const Product p{"skgemm_gemm_plan", *gemm, gemm->batch == 0 ? 1 : gemm->batch};
  if (Status s = check(p); !s.ok()) return s;
  const bool empty = gemm->m == 0 || gemm->n == 0;
  if (empty || gemm->k == 0) {
    *out = {};
    std::strcpy(out->kernel, empty ? "none" : "scale");
    return Status::success();
  }
  if (Status s = gpu::ready(c.device); !s.ok()) return s;
  const gpu::DeviceScope device(c.device);
  gpu::LaunchContext launch = c.launch;
  if (ample) launch.workspace = nullptr;
  Plan plan{};
  Status status = gpu::plan(call_of(p, c.scalars), launch, &plan);
  if (status.ok()) *out = answer_of(plan);
  return status;
}

}  // namespace
}  // namespace skgemm

using namespace skgemm;

int skgemm_version(void) {
  return SKGEMM_VERSION_MAJOR * 10000 + SKGEMM_VERSION_MINOR * 100 + SKGEMM_VERSION_PATCH;
}

const char* skgemm_status_string(skgemm_status_t status) {
  switch (status) {
    case SKGEMM_STATUS_SUCCESS: return "success";
    case SKGEMM_STATUS_NOT_INITIALIZED: return "the handle is NULL or was destroyed";
    case SKGEMM_STATUS_ALLOC_FAILED: return "memory ran out";
    case SKGEMM_STATUS_INVALID_VALUE: return "an argument is out of range";
    case SKGEMM_STATUS_ARCH_MISMATCH: return "the device is older than sm_80";
    case SKGEMM_STATUS_EXECUTION_FAILED: return "a launch or an earlier kernel failed";
    case SKGEMM_STATUS_INTERNAL_ERROR: return "internal error";
    case SKGEMM_STATUS_NOT_SUPPORTED: return "not supported";
    case SKGEMM_STATUS_NO_DEVICE: return "no usable GPU";
  }
  return "unknown status";
}

const char* skgemm_last_error(void) { return last_error().c_str(); }

skgemm_status_t skgemm_create(skgemm_handle_t* handle) {
  return answer([&]() -> Status {
    if (handle == nullptr) return Status::invalid("skgemm_create: the pointer that takes the handle is NULL");
    const gpu::Availability gpu = gpu::availability();
    if (!gpu.usable) return Status::no_device(gpu.why_not);
    const int device = gpu::current_device();
    Status status = gpu::ready(device);
    if (status.ok()) *handle = make_context(device);
    return status;
  });
}

skgemm_status_t skgemm_destroy(skgemm_handle_t handle) {
  return with(handle, [](skgemm_context& c) {
    (void)discard_context(&c);
    return Status::success();
  });
}

skgemm_status_t skgemm_set_stream(skgemm_handle_t handle, skgemm_stream_t stream) {
  return with(handle, [&](skgemm_context& c) {
    c.launch.stream = stream;
    return Status::success();
  });
}

skgemm_status_t skgemm_get_stream(skgemm_handle_t handle, skgemm_stream_t* stream) {
  return get<skgemm_stream_t>(handle, stream, [](const skgemm_context& c) { return c.launch.stream; });
}

skgemm_status_t skgemm_set_pointer_mode(skgemm_handle_t handle, skgemm_pointer_mode_t mode) {
  return with(handle, [&](skgemm_context& c) {
    if (mode != SKGEMM_POINTER_MODE_HOST && mode != SKGEMM_POINTER_MODE_DEVICE) {
      return Status::invalid("pointer mode is " + std::to_string(mode) + ", it must be HOST (0) or DEVICE (1)");
    }
    c.scalars = mode == SKGEMM_POINTER_MODE_HOST ? PointerMode::host : PointerMode::device;
    return Status::success();
  });
}

skgemm_status_t skgemm_get_pointer_mode(skgemm_handle_t handle, skgemm_pointer_mode_t* mode) {
  return get<skgemm_pointer_mode_t>(handle, mode, [](const skgemm_context& c) {
    return c.scalars == PointerMode::host ? SKGEMM_POINTER_MODE_HOST : SKGEMM_POINTER_MODE_DEVICE;
  });
}

skgemm_status_t skgemm_set_math_mode(skgemm_handle_t handle, skgemm_math_mode_t mode) {
  return with(handle, [&](skgemm_context& c) {
    if (mode != SKGEMM_MATH_DEFAULT && mode != SKGEMM_MATH_PEDANTIC) {
      return Status::invalid("math mode is " + std::to_string(mode) + ", it must be DEFAULT (0) or PEDANTIC (2)");
    }
    c.math = mode;
    return Status::success();
  });
}

skgemm_status_t skgemm_get_math_mode(skgemm_handle_t handle, skgemm_math_mode_t* mode) {
  return get<skgemm_math_mode_t>(handle, mode, [](const skgemm_context& c) { return c.math; });
}

skgemm_status_t skgemm_set_sm_limit(skgemm_handle_t handle, int sms) {
  return with(handle, [&](skgemm_context& c) {
    if (sms > 0) {
      if (Status s = gpu::ready(c.device); !s.ok()) return s;
    }
    if (sms < 0 || (sms > 0 && sms > gpu::device_model(c.device).sms)) {
      return Status::invalid("the SM limit is " + std::to_string(sms) +
                             ", it must be between 0 (all) and the number of the device's multiprocessors");
    }
    c.launch.limits.sms = sms;
    return Status::success();
  });
}

skgemm_status_t skgemm_get_sm_limit(skgemm_handle_t handle, int* sms) {
  return get<int>(handle, sms, [](const skgemm_context& c) { return c.launch.limits.sms; });
}

skgemm_status_t skgemm_set_workspace(skgemm_handle_t handle, void* workspace, size_t bytes) {
  return with(handle, [&](skgemm_context& c) {
    if (workspace == nullptr && bytes > 0) {
      return Status::invalid("the workspace is NULL but has " + std::to_string(bytes) + " bytes: (NULL, 0) means the "
                             "library's own");
    }
    c.launch.workspace = workspace;
    c.launch.workspace_bytes = bytes;
    return Status::success();
  });
}

skgemm_status_t skgemm_set_schedule(skgemm_handle_t handle, skgemm_schedule_t schedule, int64_t parameter) {
  return with(handle, [&](skgemm_context& c) {
    Status status = check_schedule(schedule, parameter);
    if (!status.ok()) return status;
    c.launch.limits.forced = static_cast<ScheduleKind>(schedule);
    c.launch.limits.forced_parameter = parameter;
    return status;
  });
}

skgemm_status_t skgemm_set_tile(skgemm_handle_t handle, int32_t width, skgemm_orientation_t orientation) {
  return with(handle, [&](skgemm_context& c) {
    Status status = check_tile(width, orientation);
    if (!status.ok()) return status;
    c.launch.limits.forced_width = width;
    c.launch.limits.forced_orientation = static_cast<Orientation>(orientation);
    return status;
  });
}

skgemm_status_t skgemm_set_cluster(skgemm_handle_t handle, int32_t cluster_m, int32_t cluster_n) {
  return with(handle, [&](skgemm_context& c) {
    Status status = check_cluster(cluster_m, cluster_n);
    if (status.ok()) c.launch.limits.forced_cluster = {cluster_m, cluster_n};
    return status;
  });
}

// skgemm_<x>gemm and skgemm_<x>gemm_strided_batched of one precision.
#define SKGEMM_PRECISION(x, element, scalar, type)                                                                     \
  skgemm_status_t skgemm_##x##gemm(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m, int64_t n,   \
                                   int64_t k, const scalar* alpha, const element* a, int64_t lda, const element* b,    \
                                   int64_t ldb, const scalar* beta, element* c, int64_t ldc) {                         \
    const skgemm_gemm_t g{op_a, op_b, m, n, k, type, type, type, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1};     \
    return with(handle, [&](skgemm_context& context) { return multiply(context, {"skgemm_" #x "gemm", g, 1}); });      \
  }                                                                                                                    \
  skgemm_status_t skgemm_##x##gemm_strided_batched(                                                                    \
      skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m, int64_t n, int64_t k,                     \
      const scalar* alpha, const element* a, int64_t lda, int64_t stride_a, const element* b, int64_t ldb,             \
      int64_t stride_b, const scalar* beta, element* c, int64_t ldc, int64_t stride_c, int64_t batch) {                \
    const skgemm_gemm_t g{op_a, op_b, m, n, k, type, type, type, alpha, a, lda, stride_a,                              \
                          b, ldb, stride_b, beta, c, ldc, stride_c, batch};                                            \
    return with(handle, [&](skgemm_context& context) {                                                                 \
      return multiply(context, {"skgemm_" #x "gemm_strided_batched", g, batch});                                       \
    });                                                                                                                \
  }
SKGEMM_PRECISION(s, float, float, SKGEMM_R_32F)
SKGEMM_PRECISION(d, double, double, SKGEMM_R_64F)
SKGEMM_PRECISION(h, void, float, SKGEMM_R_16F)

skgemm_status_t skgemm_gemm_ex(skgemm_handle_t handle, const skgemm_gemm_t* gemm) {
  return with(handle, [&](skgemm_context& c) {
    if (gemm == nullptr) return Status::invalid("skgemm_gemm_ex: the product is NULL");
    return multiply(c, {"skgemm_gemm_ex", *gemm, gemm->batch == 0 ? 1 : gemm->batch});
  });
}

skgemm_status_t skgemm_gemm_plan(skgemm_handle_t handle, const skgemm_gemm_t* gemm, skgemm_plan_t* plan) {
  return with(handle, [&](skgemm_context& c) {
    if (plan == nullptr) return Status::invalid("the pointer that takes the plan is NULL");
    return query(c, gemm, false, plan);
  });
}

skgemm_status_t skgemm_gemm_workspace(skgemm_handle_t handle, const skgemm_gemm_t* gemm, size_t* bytes) {
  return with(handle, [&](skgemm_context& c) {
    if (bytes == nullptr) return Status::invalid("the pointer that takes the answer is NULL");
    skgemm_plan_t plan{};
    Status status = query(c, gemm, true, &plan);
    if (status.ok()) *bytes = plan.workspace_bytes;
    return status;
  });
}
