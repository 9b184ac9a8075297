#include "src/host/cpu_blas.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/host/quietly.h"
#include "src/log.h"
#include "src/symbol_behind_us.h"

namespace skgemm::cpu_blas {
namespace {

// Tried in this order where the program itself brings no BLAS into the global scope (Python loads it RTLD_LOCAL); those
// already loaded come first, so that the program's own library and its error handler are used.
constexpr const char* kCandidates[] = {"libopenblas.so.0",  "libblas.so.3",       "libcblas.so.3",
                                       "libmkl_rt.so.2",    "libmkl_rt.so",       "libblis.so.4",
                                       "libblis.so.3",      "libblis-mt.so",      "libnvpl_blas_lp64_gomp.so.0",
                                       "libflexiblas.so.3", "libopenblas64.so.0", "libblas64.so.3"};

constexpr int kEntries = 3 * 2 * 2;  // f16, f32, f64; fortran, cblas; narrow, wide

int index_of(const EntryPoint& e) {
  const int type = e.type == DataType::f64 ? 2 : e.type == DataType::f32 ? 1 : 0;
  return (type * 2 + static_cast<int>(e.convention)) * 2 + (e.wide ? 1 : 0);
}

struct Name {
  std::string symbol;
  bool wide;  // 64-bit integers by its name
};

// The symbols that serve an entry point, best first: netlib and MKL spell cblas_dgemm_64, OpenBLAS cblas_dgemm64_.
std::vector<Name> names_of(const EntryPoint& e) {
  const std::string gemm = std::string(1, e.type == DataType::f64 ? 'd' : e.type == DataType::f32 ? 's' : 'h') + "gemm";
  const bool fortran = e.convention == Convention::fortran;
  std::vector<Name> names;
  if (e.wide && fortran) names.push_back({gemm + "_64_", true});
  if (e.wide && !fortran) names.insert(names.end(), {{"cblas_" + gemm + "_64", true}, {"cblas_" + gemm + "64_", true}});
  names.push_back({fortran ? gemm + "_" : "cblas_" + gemm, false});
  return names;
}

// A length whose low half is 3 and which is negative as a whole: a 32-bit isamax looks at three numbers, a 64-bit one
// at none (libblastrampoline's probe). The library of `function` is pinned on the way, so its address stays good.
bool has_64_bit_integers(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0) return false;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto length = static_cast<int64_t>(0xffffffff00000003ULL);
  const int64_t increment = 1;
  const float x[] = {1, 2, 1};
  using Isamax = int64_t (*)(const int64_t*, const float*, const int64_t*);
  using CblasIsamax = size_t (*)(int64_t, const float*, int64_t);
  if (void* isamax = symbol_behind_us(library, "isamax_")) {
    return static_cast<int32_t>(reinterpret_cast<Isamax>(isamax)(&length, x, &increment)) != 2;
  }
  if (void* isamax = symbol_behind_us(library, "cblas_isamax")) {
    return static_cast<int32_t>(reinterpret_cast<CblasIsamax>(isamax)(length, x, increment)) != 1;
  }
  return false;
}

Routine find_in(void* handle, const EntryPoint& entry) {
  for (const Name& name : names_of(entry)) {
    if (void* function = symbol_behind_us(handle, name.symbol.c_str()))
      return {function, name.wide || has_64_bit_integers(function)};
  }
  return {};
}

bool is_blas(void* handle) { return symbol_behind_us(handle, "dgemm_") != nullptr; }

// One BLAS is loaded at most: two in a process (of two integer widths, say) have crashed on their shared helper names,
// and unloading one while its threads run does so surely. An entry point that this one lacks stays without.
Routine find_in_candidates(const EntryPoint& entry) {
  for (const int mode : {RTLD_NOLOAD, 0}) {
    for (const char* candidate : kCandidates) {
      void* handle = dlopen(candidate, RTLD_NOW | RTLD_LOCAL | mode);
      if (handle == nullptr) continue;
      const Routine routine = find_in(handle, entry);
      if (routine.function != nullptr || (mode == 0 && is_blas(handle))) return routine;
    }
  }
  return {};
}

Routine resolve(const EntryPoint& entry) {
  const char* chosen = std::getenv("SKGEMM_CPU_BLAS");
  if (chosen != nullptr && *chosen != '\0') {
    if (const Routine routine = find_in_library(chosen, entry); routine.function != nullptr) return routine;
  }
  if (const Routine routine = find_in(RTLD_NEXT, entry); routine.function != nullptr) return routine;
  return find_in_candidates(entry);
}

struct Slot {
  enum State { empty, taken, ready };
  std::atomic<State> state{empty};
  Routine routine;
};

}  // namespace

Routine find(EntryPoint entry) {
  static constinit std::array<Slot, kEntries> slots;
  Slot& slot = slots[static_cast<size_t>(index_of(entry))];
  if (slot.state.load(std::memory_order_acquire) == Slot::ready) return slot.routine;
  Routine routine;
  bool found = false;
  quietly([&] {
    routine = resolve(entry);
    found = true;
  });
  Slot::State state = Slot::empty;
  if (!found || !slot.state.compare_exchange_strong(state, Slot::taken)) return routine;
  slot.routine = routine;
  slot.state.store(Slot::ready, std::memory_order_release);
  quietly([&] {
    if (log::events()) log::event(names_of(entry).front().symbol + " of the CPU: " + describe(entry));
  });
  return routine;
}

Routine find_in_library(const char* library, EntryPoint entry) {
  if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    const Routine routine = find_in(handle, entry);
    // Halves never count on a CPU BLAS: few have them.
    if (routine.function == nullptr && entry.type != DataType::f16) {
      log::warn(std::string("the CPU BLAS ") + library + " (SKGEMM_CPU_BLAS) has no " +
                names_of(entry).front().symbol + "; looking for another");
    }
    return routine;
  }
  const char* reason = dlerror();
  log::warn(std::string("the CPU BLAS ") + library + " (SKGEMM_CPU_BLAS) can't be loaded (" +
            (reason != nullptr ? reason : "no reason given") + "); looking for another");
  return {};
}

std::string describe(EntryPoint entry) {
  const Routine routine = find(entry);
  Dl_info info{};
  if (routine.function == nullptr || dladdr(routine.function, &info) == 0) return "none";
  return std::string(info.dli_fname) + (routine.ilp64 ? " (64-bit integers)" : " (32-bit integers)");
}

}  // namespace skgemm::cpu_blas
