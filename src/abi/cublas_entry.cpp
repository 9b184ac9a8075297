#include "src/abi/cublas_entry.h"

#include <cstdlib>
#include <cstring>

#include "src/abi/device_product.h"
#include "src/abi/guard.h"
#include "src/degenerate.h"
#include "src/host/quietly.h"
#include "src/log.h"
#include "src/validate.h"

namespace skgemm::abi {
namespace {

bool valid(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }

int first_bad_position(const CublasCall& x) {
  return first_bad_argument({.op_a_valid = valid(x.op_a), .op_b_valid = valid(x.op_b),
                             .a_transposed = x.op_a != CUBLAS_OP_N, .b_transposed = x.op_b != CUBLAS_OP_N,
                             .m = x.m, .n = x.n, .k = x.k, .lda = x.lda, .ldb = x.ldb, .ldc = x.ldc});
}

// Without its scalars: they may be read once the call is known to be legal, and where they live.
GemmCall without_scalars(const CublasCall& x) {
  const auto op = [](cublasOperation_t stated) { return stated == CUBLAS_OP_N ? Op::n : Op::t; };
  return {.op_a = op(x.op_a), .op_b = op(x.op_b), .m = x.m, .n = x.n, .k = x.k, .in = x.type, .out = x.type,
          .scalar_type = x.type, .scalars = PointerMode::host, .alpha = nullptr, .beta = nullptr,
          .a = {const_cast<void*>(x.a), x.lda, 0}, .b = {const_cast<void*>(x.b), x.ldb, 0}, .c = {x.c, x.ldc, 0},
          .batch = 1, .name = x.name};
}

// Whether all that will be read or written is at an address that can be. What memory is there is not asked: cuBLAS
// doesn't either, and a stray pointer ends in the same fault.
bool has_operands(const GemmCall& call) {
  if (call.alpha == nullptr || call.beta == nullptr) return false;
  const auto placed = [](const void* data, DataType type) {
    return data != nullptr && reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size_of(type)) == 0;
  };
  if (call.scalars == PointerMode::device &&
      !(placed(call.alpha, call.scalar_type) && placed(call.beta, call.scalar_type)))
    return false;
  const Degenerate kind = degenerate(call);
  if (kind == Degenerate::nothing) return true;
  const bool reads = kind == Degenerate::no;
  return placed(call.c.data, call.out) && (!reads || (placed(call.a.data, call.in) && placed(call.b.data, call.in)));
}

// What the program asked for by the handle or the environment: fp64 from sums of integers, which only cuBLAS has.
bool wants_fp64_emulation(cublasMath_t math) {
  constexpr int kFp64Emulated = 8;  // CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH, which headers before CUDA 13 don't have
  static const bool by_environment = [] {
    const char* value = std::getenv("CUBLAS_EMULATE_DOUBLE_PRECISION");
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
  }();
  return by_environment || (static_cast<int>(math) & kFp64Emulated) != 0;
}

// The checks in cuBLAS's own order, then ours. `call` gets its scalars when they may be read.
Ran attempt(const CublasCall& x, GemmCall& call) {
  const auto state = real_cublas::state_of(x.handle);
  if (!state) return {Status::invalid("cuBLAS doesn't say what the handle is set to")};
  if (first_bad_position(x) != 0) return {Status::invalid("an argument is illegal")};
  if (x.m == 0 || x.n == 0) return {Status::success(), 0, "C is empty"};
  call.scalars = state->scalars == CUBLAS_POINTER_MODE_DEVICE ? PointerMode::device : PointerMode::host;
  call.alpha = x.alpha;
  call.beta = x.beta;
  if (!has_operands(call)) return {Status::invalid("a pointer is NULL, or not at a multiple of its element's size")};
  if (x.type == DataType::f64 && wants_fp64_emulation(state->math))
    return {Status::not_supported("fp64 emulation is asked for")};
  if (gpu::Availability gpu = gpu::availability(); !gpu.usable) return {Status::no_device(std::move(gpu.why_not))};
  if (!gpu::on_current_device(state->stream)) return {Status::invalid("the handle's stream is another device's")};
  return run(call, {.stream = state->stream, .limits = {.sms = state->sms}});
}

void log_refused(const CublasCall& x, const char* why) { log::call(without_scalars(x), "none", 0, why); }

}  // namespace

bool serve_on_gpu(const CublasCall& x) noexcept {
  GemmCall call = without_scalars(x);
  Ran ran;
  ran.status = guard([&] {
    ran = attempt(x, call);
    return std::move(ran.status);
  });
  const bool served = ran.status.ok();
  quietly([&] {
    if (log::calls()) log::call(call, served ? "gpu" : "forwarded", ran.us, served ? ran.how : ran.status.words);
  });
  return served;
}

cublasStatus_t refuse_null_handle(const CublasCall& call) noexcept {
  quietly([&] { log_refused(call, "the handle is NULL"); });
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t refuse_without_cublas(const CublasCall& call) noexcept {
  quietly([&] {
    log::warn("a cuBLAS function was called, but no cuBLAS is loaded that made the handle: link the program with "
              "libcublas, or load libcublas.so.13 or .12 before");
    log_refused(call, "no cuBLAS is loaded");
  });
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

}  // namespace skgemm::abi
