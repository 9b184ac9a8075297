#include "src/cli/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace skgemm::cli {
namespace {

// cublas_api.h and library_types.h: cublasOperation_t, cudaDataType_t (api_type has the same values),
// cublasComputeType_t, cublasGemmAlgo_t.
constexpr int kOpN = 0, kOpT = 1, kCompute32F = 68, kCompute64F = 70, kGemmDefault = -1;

void* open_library(const std::string& path) {
  std::vector<std::string> names = {"libcublas.so.13", "libcublas.so.12"};
  if (!path.empty()) {
    // libcublas needs libcublasLt; one that lies beside it may not be on the loader's path.
    const auto folder = std::filesystem::path(path).parent_path();
    for (const char* lt : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
      if (std::filesystem::exists(folder / lt)) dlopen((folder / lt).c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
    names = {path};
  }
  std::string reasons;
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
  }
  throw std::runtime_error(
      fmt::format("cuBLAS can't be loaded ({}): put its folder on LD_LIBRARY_PATH or give --cublas FILE", reasons));
}

}  // namespace

struct Cublas::Entry {
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, CUstream_st* stream);
  int (*set_workspace)(void* handle, void* workspace, size_t bytes);
  int (*get_version)(void* handle, int* version);
  const char* (*status_string)(int status);
  int (*gemm)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int a_type,
              int lda, const void* b, int b_type, int ldb, const void* beta, void* c, int c_type, int ldc, int compute,
              int algorithm);
  int (*batched)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int a_type,
                 int lda, long long stride_a, const void* b, int b_type, int ldb, long long stride_b, const void* beta,
                 void* c, int c_type, int ldc, long long stride_c, int batch, int compute, int algorithm);
};

std::unique_ptr<Cublas> Cublas::load(const std::string& path) {
  void* library = open_library(path);
  auto entry = std::make_unique<Entry>();
  auto resolve = [&](auto& function, const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) throw std::runtime_error(fmt::format("cuBLAS has no {}", name));
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  resolve(entry->create, "cublasCreate_v2");
  resolve(entry->destroy, "cublasDestroy_v2");
  resolve(entry->set_stream, "cublasSetStream_v2");
  resolve(entry->set_workspace, "cublasSetWorkspace_v2");
  resolve(entry->get_version, "cublasGetVersion_v2");
  resolve(entry->status_string, "cublasGetStatusString");
  resolve(entry->gemm, "cublasGemmEx");
  resolve(entry->batched, "cublasGemmStridedBatchedEx");
  return std::unique_ptr<Cublas>(new Cublas(std::move(entry)));
}

Cublas::Cublas(std::unique_ptr<Entry> entry) : entry_(std::move(entry)) {
  if (const int status = entry_->create(&handle_); status != 0) {
    throw std::runtime_error(fmt::format("cublasCreate: {}", entry_->status_string(status)));
  }
}

Cublas::~Cublas() { entry_->destroy(handle_); }

std::string Cublas::version() const {
  int v = 0;
  entry_->get_version(handle_, &v);
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

void Cublas::prepare(CUstream_st* stream, void* workspace, size_t workspace_bytes) {
  int status = entry_->set_stream(handle_, stream);
  if (status == 0) status = entry_->set_workspace(handle_, workspace, workspace_bytes);
  if (status != 0)
    throw std::runtime_error(fmt::format("cuBLAS takes no stream or workspace: {}", entry_->status_string(status)));
}

std::string Cublas::multiply(const BenchCase& c, const CallOperands& x) {
  const bool wide = c.type == DataType::f64;
  const float alpha32 = static_cast<float>(c.alpha), beta32 = static_cast<float>(c.beta);
  const void* alpha = wide ? static_cast<const void*>(&c.alpha) : &alpha32;
  const void* beta = wide ? static_cast<const void*>(&c.beta) : &beta32;
  const int compute = wide ? kCompute64F : kCompute32F, in = api_type(c.type), out = api_type(c.out);
  const int op_a = c.ops.a_transposed ? kOpT : kOpN, op_b = c.ops.b_transposed ? kOpT : kOpN;
  const int m = static_cast<int>(c.m), n = static_cast<int>(c.n), k = static_cast<int>(c.k);  // check_case: they fit
  const int lda = static_cast<int>(c.lda), ldb = static_cast<int>(c.ldb), ldc = static_cast<int>(c.ldc);
  const int status = c.batch == 1 ? entry_->gemm(handle_, op_a, op_b, m, n, k, alpha, x.a, in, lda, x.b, in, ldb, beta,
                                                 x.c, out, ldc, compute, kGemmDefault)
                                  : entry_->batched(handle_, op_a, op_b, m, n, k, alpha, x.a, in, lda, c.stride_a(),
                                                    x.b, in, ldb, c.stride_b(), beta, x.c, out, ldc, c.stride_c(),
                                                    static_cast<int>(c.batch), compute, kGemmDefault);
  return status == 0 ? "" : fmt::format("cuBLAS: {}", entry_->status_string(status));
}

}  // namespace skgemm::cli
