// A legal product on the CPU when the program's own entry point can't serve it: h types, blocks of a larger product, no
// CPU BLAS. Column-major host operands and host scalars of the accumulation type; batch 1.
#pragma once
#include "src/gemm_call.h"

namespace skgemm {

// sgemm_ or dgemm_ of the CPU BLAS, or plain loops where there is none (or its integers are too narrow), with a
// warning.
void cpu_gemm(const GemmCall& call);

// The plain loops alone.
void builtin_gemm(const GemmCall& call);

// Set while this thread is inside one of our calls: the CPU BLAS may call back (reference and BLIS cblas_dgemm call
// dgemm_ through the PLT), and that inner call goes straight on.
class CallDepth {
 public:
  CallDepth() { ++depth(); }
  ~CallDepth() { --depth(); }
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;
  static bool nested() { return depth() > 0; }

 private:
  static int& depth() {
    // The default TLS model, not initial-exec: the CUDA runtime's 8 KB of TLS share our block, and with static TLS a
    // process that loads us late (ctypes, plug-ins) has no room for them: "cannot allocate memory in static TLS
    // block".
    static thread_local int value = 0;
    return value;
  }
};

}  // namespace skgemm
