#include "src/abi/real_cublas.h"

#include "src/symbol_behind_us.h"

namespace skgemm::real_cublas {

void* find(const char* name) {
  if (void* function = symbol_behind_us(RTLD_NEXT, name)) return function;
  for (const char* library : {"libcublas.so.13", "libcublas.so.12"}) {
    // Kept open: the function is called from now on.
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* function = symbol_behind_us(handle, name)) return function;
  }
  return nullptr;
}

std::optional<HandleState> state_of(cublasHandle_t handle) {
  static constinit Entry<decltype(&cublasGetStream_v2)> get_stream("cublasGetStream_v2");
  static constinit Entry<decltype(&cublasGetPointerMode_v2)> get_pointer_mode("cublasGetPointerMode_v2");
  static constinit Entry<decltype(&cublasGetMathMode)> get_math_mode("cublasGetMathMode");
  static constinit Entry<decltype(&cublasGetSmCountTarget)> get_sms("cublasGetSmCountTarget");
  HandleState state{};
  const auto answers = [handle](auto& entry, auto* value) {
    const auto function = entry.get();
    return function != nullptr && function(handle, value) == CUBLAS_STATUS_SUCCESS;
  };
  const bool known = answers(get_stream, &state.stream) && answers(get_pointer_mode, &state.scalars) &&
                     answers(get_math_mode, &state.math) && answers(get_sms, &state.sms);
  return known ? std::optional(state) : std::nullopt;
}

}  // namespace skgemm::real_cublas
