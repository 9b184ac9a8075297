// The spine: a validated call on device pointers becomes a launch.
#include "src/gpu.h"

#include "kernels/launch.h"
#include "src/degenerate.h"
#include "src/device.h"
#include "src/fault.h"
#include "src/log.h"
#include "src/plan_cache.h"
#include "src/shape_of.h"

namespace skgemm::gpu {
namespace {

Scalar scalar_of(const GemmCall& call, const void* scalar) {
  if (call.scalars == PointerMode::device) return {0, scalar, call.scalar_type};
  return {host_scalar(call.scalar_type, scalar), nullptr, call.scalar_type};
}

Operand operand_of(const Matrix& x, bool k_major) { return {x.data, x.ld, x.stride, k_major}; }

// Of a kernel beside the product: under a limit a CTA an SM, as products have (heuristics/select.h), else `free`.
int64_t most_ctas(const Device& device, const Limits& limits, int64_t free) {
  return limits.sms > 0 && limits.sms < device.model.sms ? limits.sms : free;
}

Status scale_c(const GemmCall& call, const Device& device, const LaunchContext& context) {
  if (static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.batch) >= 0x1p62) {
    return Status::not_supported("C has too many elements to count: cut the product in parts");
  }
  ScaleArgs args{.m = call.m, .n = call.n, .batch = call.batch, .c = call.c.data, .ldc = call.c.ld,
                       .c_batch_stride = call.c.stride, .type = call.out, .beta = scalar_of(call, call.beta)};
  args.most_ctas = most_ctas(device, context.limits, args.most_ctas);
  return status_of(static_cast<cudaError_t>(launch_scale(args, context.stream)), "launching C = beta*C");
}

// A plan and the workspace it needs, or the best plan for the workspace there is.
struct Planned {
  Plan plan;
  WorkspaceLease lease;
};

Status launch(const GemmCall& call, const Planned& p, const Device& device, const LaunchContext& context) {
  const Plan& plan = p.plan;
  const WorkspaceLease& lease = p.lease;
  GemmArgs args{.m = call.m, .n = call.n, .k = call.k,
                      .a = operand_of(call.a, call.op_a == Op::t), .b = operand_of(call.b, call.op_b == Op::n),
                      .c = call.c.data, .ldc = call.c.ld, .c_batch_stride = call.c.stride,
                      .in = call.in, .out = call.out,
                      .alpha = scalar_of(call, call.alpha), .beta = scalar_of(call, call.beta),
                      .counters = lease.counters(), .slots = lease.slots(),
                      .copies = plan.copy_bytes == 0 ? nullptr
                                : reinterpret_cast<char*>(lease.counters()) + plan.workspace_bytes - plan.copy_bytes};
  args.most_ctas = most_ctas(device, context.limits, args.most_ctas);
  args.sms = device.model.sms;
  const int error = launch_gemm(*plan.kernel, plan.tile, plan.schedule, args, context.stream);
  return status_of(static_cast<cudaError_t>(error), "launching the product");
}

Plan plan_within(const Device& device, const Shape& shape, const Limits& limits) {
  static PlanCache& cache = *new PlanCache;
  return cache.get({shape, limits, device.number}, [&] { return select(shape, device.model, limits); });
}

// A user's workspace. Between two calls it is the user's again, who may share it with another library, so its counters
// are cleared for every call.
Status lease_user(const LaunchContext& context, WorkspaceRegion region, WorkspaceLease* lease) {
  *lease = WorkspaceLease(region);
  return status_of(cudaMemsetAsync(region.data, 0, kCounterBytes, context.stream),
                   "clearing the workspace's counters");
}

Status plan_in_own_workspace(Device& device, const Shape& shape, const LaunchContext& context, Planned* out) {
  Limits limits = context.limits;
  out->plan = plan_within(device, shape, limits);
  if (out->plan.kernel == nullptr || out->plan.workspace_bytes == 0) return Status::success();
  StreamState stream;
  if (const cudaError_t error = state_of(context.stream, &stream); error != cudaSuccess) {
    return status_of(error, "looking at the stream");
  }
  while (out->plan.workspace_bytes > 0) {
    out->lease = device.workspaces->lease(stream, out->plan.workspace_bytes);
    if (out->lease) return Status::success();
    log::warn("device memory is short: products run with less workspace than planned, and slower; free device memory");
    limits.workspace_bytes = out->plan.workspace_bytes / 2 > kCounterBytes ? out->plan.workspace_bytes / 2 : 0;
    out->plan = plan_within(device, shape, limits);
  }
  return Status::success();
}

Status plan_in_workspace(Device& device, const Shape& shape, const LaunchContext& context, Planned* out) {
  if (context.workspace == nullptr) return plan_in_own_workspace(device, shape, context, out);
  const WorkspaceRegion region = carve(context.workspace, context.workspace_bytes);
  Limits limits = context.limits;
  limits.workspace_bytes = region.bytes;
  out->plan = plan_within(device, shape, limits);
  return out->plan.workspace_bytes == 0 ? Status::success() : lease_user(context, region, &out->lease);
}

// The current device, when products can run on it.
Status current(Device** out) {
  const Availability gpu = availability();  // first: a child after fork makes no CUDA call
  if (!gpu.usable) return Status::no_device(gpu.why_not);
  *out = &device(current_device());
  return (*out)->status;
}

Status no_plan(const GemmCall& call, const Plan& plan, const Device& device) {
  return Status::not_supported(std::string(plan.why_not) + " (" + name_of(call.in) + ", " + std::to_string(call.m) +
                               " x " + std::to_string(call.n) + " x " + std::to_string(call.k) + ", batch " +
                               std::to_string(call.batch) + ", on " + device.model.name + ")");
}

}  // namespace

Status gemm(const GemmCall& call, const LaunchContext& context, Plan* planned) {
  const Degenerate kind = degenerate(call);
  if (kind == Degenerate::nothing) return Status::success();
  Device* gpu = nullptr;
  if (Status s = current(&gpu); !s.ok()) return s;
  SKGEMM_INJECT_FAULT(call, context.stream);
  if (kind == Degenerate::scale) return scale_c(call, *gpu, context);

  Planned p;
  if (Status s = plan_in_workspace(*gpu, shape_of(call), context, &p); !s.ok()) return s;
  if (p.plan.kernel == nullptr) return no_plan(call, p.plan, *gpu);
  if (planned != nullptr) *planned = p.plan;
  return launch(call, p, *gpu, context);
}

Status plan(const GemmCall& call, const LaunchContext& context, Plan* out) {
  Device* gpu = nullptr;
  if (Status s = current(&gpu); !s.ok()) return s;
  Limits limits = context.limits;
  if (context.workspace != nullptr) limits.workspace_bytes = carve(context.workspace, context.workspace_bytes).bytes;
  *out = plan_within(*gpu, shape_of(call), limits);
  return out->kernel == nullptr ? no_plan(call, *out, *gpu) : Status::success();
}

}  // namespace skgemm::gpu
