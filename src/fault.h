// Faults on purpose, to see which tests notice them (design D19). Only a build with SKGEMM_FAULT_INJECTION=ON has them;
// in any other the macro is nothing. SKGEMM_FAULT picks one: nan, tail, row, trans, beta0, pad, eps, big-tail;
// SKGEMM_FAULT_MIN=X applies it only where m*n*k >= X (big-tail is tail from 1e6 on). tests/README.md describes them.
#pragma once

#ifdef SKGEMM_FAULT_INJECTION
#include <memory>

#include "src/gemm_call.h"

struct CUstream_st;

namespace skgemm::fault {

// Lives around the service of one call: remembers C before it, damages C after it. The outermost one of a thread acts.
class Injection {
 public:
  Injection(const GemmCall& call, CUstream_st* stream);
  ~Injection();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

 private:
  struct Damage;
  std::unique_ptr<Damage> damage_;
};

}  // namespace skgemm::fault

#define SKGEMM_INJECT_FAULT(call, stream) const ::skgemm::fault::Injection injected_fault((call), (stream))
#else
#define SKGEMM_INJECT_FAULT(call, stream) static_cast<void>(0)
#endif
