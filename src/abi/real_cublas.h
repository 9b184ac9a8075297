// The cuBLAS that the program itself uses, found at run time (design D18): never a linked dependency, never ourselves.
#pragma once
#include <cublas_v2.h>

#include <atomic>
#include <optional>

namespace skgemm::real_cublas {

// A function of it: what stands behind us in the program, or in a cuBLAS that was loaded out of the program's sight
// (RTLD_LOCAL, as Python does). nullptr where there is none.
void* find(const char* name);

// One function, looked up once. While there is none it is looked up again: cuBLAS may be loaded later. First calls may
// be concurrent, and nobody waits.
template <class Function>
class Entry {
 public:
  constexpr explicit Entry(const char* name) : name_(name) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  Function get() {
    void* function = function_.load(std::memory_order_acquire);
    if (function == nullptr) {
      function = find(name_);
      function_.store(function, std::memory_order_release);
    }
    return reinterpret_cast<Function>(function);
  }

 private:
  const char* name_;
  std::atomic<void*> function_{nullptr};
};

// What a handle is set to. Asked of cuBLAS for every call, so that nothing is kept here by handle: after cublasDestroy
// its address may become another's.
struct HandleState {
  cudaStream_t stream;
  cublasPointerMode_t scalars;
  cublasMath_t math;
  int sms;  // 0: all
};
// Nothing when cuBLAS doesn't answer, as for a handle that it doesn't know.
std::optional<HandleState> state_of(cublasHandle_t handle);

}  // namespace skgemm::real_cublas
