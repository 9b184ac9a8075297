// A program that is linked with cuBLAS, the stub: makes calls and prints how each was answered and what cuBLAS saw,
// which must be the same with and without a library preloaded. cublas_client calls|null|emulate|reenter
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/abi/stub_cublas.h"

namespace {

// Addresses that nobody may read: an illegal call's scalars too.
template <class T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}
constexpr auto kN = CUBLAS_OP_N, kT = CUBLAS_OP_T;
const double alpha = 2, beta = 3;

// Addresses of our own differ from run to run.
std::string name_of(const double* scalar) {
  if (scalar == &alpha || scalar == &beta) return scalar == &alpha ? "alpha" : "beta";
  return std::to_string(reinterpret_cast<uintptr_t>(scalar));
}

void print(cublasStatus_t status) {
  const StubCall& x = stub_cublas()->last;
  std::printf("status %d, cuBLAS called %d times", static_cast<int>(status), stub_cublas()->called);
  if (stub_cublas()->called > 0) {
    std::printf(", last %s(%p, %d, %d, %lld, %lld, %lld, %s, %p, %lld, %p, %lld, %s, %p, %lld)", x.name,
                static_cast<void*>(x.handle), x.op_a, x.op_b, static_cast<long long>(x.m), static_cast<long long>(x.n),
                static_cast<long long>(x.k), name_of(x.alpha).c_str(), static_cast<const void*>(x.a),
                static_cast<long long>(x.lda), static_cast<const void*>(x.b), static_cast<long long>(x.ldb),
                name_of(x.beta).c_str(), static_cast<void*>(x.c), static_cast<long long>(x.ldc));
  }
  std::puts("");
}

template <class Int, class Gemm>
void illegal(Gemm gemm, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, Int lda, Int ldb,
             Int ldc) {
  stub_cublas()->products = CUBLAS_STATUS_INVALID_VALUE;
  print(gemm(at<cublasContext>(0x10), op_a, op_b, m, n, k, at<double>(0x20), at<double>(0x30), lda, at<double>(0x40),
             ldb, at<double>(0x50), at<double>(0x60), ldc));
}

template <class Int, class Gemm>
void legal(Gemm gemm, Int m, Int lda) {
  print(gemm(at<cublasContext>(0x10), kT, kN, m, Int{5}, Int{6}, &alpha, at<double>(0x30), lda, at<double>(0x40),
             Int{8}, &beta, at<double>(0x60), lda));
}

template <class Int, class Gemm>
void calls(Gemm gemm) {
  legal<Int>(gemm, 4, 7);
  stub_cublas()->products = CUBLAS_STATUS_EXECUTION_FAILED;
  legal<Int>(gemm, 4, 7);
  const auto conjugated = static_cast<cublasOperation_t>(3);
  illegal<Int>(gemm, conjugated, kN, 3, 4, 5, 3, 5, 3);
  illegal<Int>(gemm, kN, conjugated, 3, 4, 5, 3, 5, 3);
  illegal<Int>(gemm, kN, kN, -1, 4, 5, 3, 5, 3);
  illegal<Int>(gemm, kN, kN, 3, -1, 5, 3, 5, 3);
  illegal<Int>(gemm, kN, kN, 3, 4, -1, 3, 5, 3);
  illegal<Int>(gemm, kN, kN, 3, 4, 5, 2, 5, 3);
  illegal<Int>(gemm, kT, kN, 3, 4, 5, 4, 5, 3);
  illegal<Int>(gemm, kN, kN, 3, 4, 5, 3, 4, 3);
  illegal<Int>(gemm, kN, kT, 3, 4, 5, 3, 3, 3);
  illegal<Int>(gemm, kN, kN, 3, 4, 5, 3, 5, 2);
  illegal<Int>(gemm, kN, kN, 0, 4, 5, 0, 5, 1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "calls") == 0) {
    calls<int>(&cublasDgemm_v2);
    calls<int64_t>(&cublasDgemm_v2_64);
    // Beyond 32 bits, where cutting an extent would leave a legal call.
    legal<int64_t>(&cublasDgemm_v2_64, (int64_t{1} << 32) + 4, (int64_t{1} << 33) + 7);
    illegal<int64_t>(&cublasDgemm_v2_64, kN, kN, (int64_t{1} << 32) + 1, 1, 1, 1, 1, 1);
  } else if (std::strcmp(what, "null") == 0) {
    print(cublasDgemm_v2(nullptr, kN, kN, -1, 1, 1, &alpha, nullptr, 1, nullptr, 1, &beta, nullptr, 1));
    print(
        cublasDgemm_v2_64(nullptr, kN, kN, 1, 1, 1, at<double>(8), nullptr, 1, nullptr, 1, at<double>(8), nullptr, 1));
  } else if (std::strcmp(what, "emulate") == 0) {
    stub_cublas()->math = static_cast<cublasMath_t>(8);
    legal<int>(&cublasDgemm_v2, 4, 7);
  } else if (std::strcmp(what, "reenter") == 0) {
    stub_cublas()->reenters = true;
    legal<int>(&cublasDgemm_v2, 4, 7);
  } else {
    return 2;
  }
  return 0;
}
