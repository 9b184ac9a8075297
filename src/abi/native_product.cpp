// The checks of the native API's products, in the documented order.
#include "src/abi/native_product.h"

#include <algorithm>

#include "src/degenerate.h"
#include "src/gpu.h"
#include "src/validate.h"

namespace skgemm {
namespace {

bool valid(skgemm_op_t op) { return op == SKGEMM_OP_N || op == SKGEMM_OP_T || op == SKGEMM_OP_C; }

Status check_types(const skgemm_gemm_t& g) {
  if (g.a_type == g.b_type) {
    const bool same = g.c_type == g.a_type, half = g.a_type == SKGEMM_R_16F || g.a_type == SKGEMM_R_16BF;
    if (same && (half || g.a_type == SKGEMM_R_32F || g.a_type == SKGEMM_R_64F)) return Status::success();
    if (half && g.c_type == SKGEMM_R_32F) return Status::success();
  }
  return Status::not_supported("types (A " + std::to_string(g.a_type) + ", B " + std::to_string(g.b_type) + ", C " +
                               std::to_string(g.c_type) +
                               ") are not built: A and B of one type f32, f64, f16 or bf16, C of "
                               "that type, or f32 for f16 and bf16");
}

DataType type_of(skgemm_type_t type) {
  switch (type) {
    case SKGEMM_R_64F: return DataType::f64;
    case SKGEMM_R_16F: return DataType::f16;
    case SKGEMM_R_16BF: return DataType::bf16;
    case SKGEMM_R_32F: break;
  }
  return DataType::f32;
}

// The first bad argument in words; `position` is Fortran's (validate.h).
std::string bad_argument(int position, const skgemm_gemm_t& g) {
  const auto extent = [](const char* name, int64_t value) {
    return std::string(name) + " is " + std::to_string(value) + ", it must be at least 0";
  };
  const auto pitch = [](const char* name, int64_t value, const char* rows, int64_t least) {
    return std::string(name) + " is " + std::to_string(value) + ", it must be at least max(1, " + rows +
           ") = " + std::to_string(std::max<int64_t>(least, 1));
  };
  const auto op = [](const char* name, int value) {
    return std::string(name) + " is " + std::to_string(value) + ", it must be SKGEMM_OP_N (0), _T (1) or _C (2)";
  };
  const bool a_n = g.op_a == SKGEMM_OP_N, b_n = g.op_b == SKGEMM_OP_N;
  switch (position) {
    case 1: return op("op_a", g.op_a);
    case 2: return op("op_b", g.op_b);
    case 3: return extent("m", g.m);
    case 4: return extent("n", g.n);
    case 5: return extent("k", g.k);
    case 8: return pitch("lda", g.lda, a_n ? "m" : "k", a_n ? g.m : g.k);
    case 10: return pitch("ldb", g.ldb, b_n ? "k" : "n", b_n ? g.k : g.n);
    default: return pitch("ldc", g.ldc, "m", g.m);
  }
}

Status check_extents(const Product& p) {
  const skgemm_gemm_t& g = p.gemm;
  const int position = first_bad_argument({.op_a_valid = valid(g.op_a), .op_b_valid = valid(g.op_b),
                                           .a_transposed = g.op_a != SKGEMM_OP_N, .b_transposed = g.op_b != SKGEMM_OP_N,
                                           .m = g.m, .n = g.n, .k = g.k, .lda = g.lda, .ldb = g.ldb, .ldc = g.ldc});
  if (position != 0) return Status::invalid(std::string(p.name) + ": " + bad_argument(position, g));
  if (p.batch < 0) {
    return Status::invalid(std::string(p.name) + ": batch is " + std::to_string(p.batch) + ", it must be at least 0");
  }
  return Status::success();
}

// A kernel that reads there would fault.
bool misplaced(const void* data, DataType type) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size_of(type)) != 0;
}

}  // namespace

Status check(const Product& product) {
  Status status = check_types(product.gemm);
  return status.ok() ? check_extents(product) : status;
}

GemmCall call_of(const Product& p, PointerMode scalars) {
  const skgemm_gemm_t& g = p.gemm;
  return {.op_a = g.op_a == SKGEMM_OP_N ? Op::n : Op::t, .op_b = g.op_b == SKGEMM_OP_N ? Op::n : Op::t,
          .m = g.m, .n = g.n, .k = g.k, .in = type_of(g.a_type), .out = type_of(g.c_type),
          .scalar_type = accumulator_of(type_of(g.a_type)), .scalars = scalars, .alpha = g.alpha, .beta = g.beta,
          .a = {const_cast<void*>(g.a), g.lda, g.stride_a}, .b = {const_cast<void*>(g.b), g.ldb, g.stride_b},
          .c = {g.c, g.ldc, g.stride_c}, .batch = p.batch, .name = p.name};
}

Status check_pointers(const GemmCall& call) {
  const auto invalid = [&](const char* argument, const char* words) {
    return Status::invalid(std::string(call.name) + ": " + argument + words);
  };
  const bool on_device = call.scalars == PointerMode::device;
  for (const auto& [scalar, argument] : {std::pair{call.alpha, "alpha"}, {call.beta, "beta"}}) {
    if (scalar == nullptr) return invalid(argument, " is NULL");
    if (!on_device) continue;
    if (!gpu::reachable(scalar)) {
      return invalid(argument, " is a host pointer or another device's, but the handle's pointer mode is DEVICE: call "
                               "skgemm_set_pointer_mode(handle, SKGEMM_POINTER_MODE_HOST) or pass device memory");
    }
    if (misplaced(scalar, call.scalar_type)) return invalid(argument, " is not at a multiple of its size");
  }
  const Degenerate kind = degenerate(call);
  const bool writes = kind != Degenerate::nothing;
  // NULL for A or B says that alpha is 0, which only the device knows where it lives there.
  const auto reads = [&](const Matrix& x) { return kind == Degenerate::no && !(on_device && x.data == nullptr); };
  struct Needed {
    bool needed;
    const void* data;
    DataType type;
    const char* argument;
  };
  for (const auto& [needed, data, type, argument] : {Needed{reads(call.a), call.a.data, call.in, "A"},
                                                     {reads(call.b), call.b.data, call.in, "B"},
                                                     {writes, call.c.data, call.out, "C"}}) {
    if (!needed) continue;
    if (data == nullptr) return invalid(argument, " is NULL");
    if (!gpu::reachable(data)) {
      return invalid(argument, " is a host pointer or another device's, which this device can't read: copy the matrix "
                               "to it, or call sgemm_, dgemm_ or their cblas forms, which take any pointers");
    }
    if (misplaced(data, type)) return invalid(argument, " is not at a multiple of its elements' size");
  }
  return Status::success();
}

}  // namespace skgemm
