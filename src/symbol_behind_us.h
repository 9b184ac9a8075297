// A symbol of another library in the process: what stands behind our own of that name (design D18).
#pragma once
#include <dlfcn.h>

namespace skgemm {

inline const void* library_base(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// dlsym(), but nullptr where it finds ourselves: in the handle of our own file, or of one that depends on it.
inline void* symbol_behind_us(void* handle, const char* name) {
  static const char anchor = 0;
  void* symbol = dlsym(handle, name);
  return symbol != nullptr && library_base(symbol) != library_base(&anchor) ? symbol : nullptr;
}

}  // namespace skgemm
