// One legal product with operands anywhere (host, device, managed): decides where it runs, runs it, and returns when C
// is complete (design D17). The BLAS and CBLAS entry points end here.
#pragma once
#include "src/gemm_call.h"

namespace skgemm {

// Hands the program's call, as it was, to the same entry point of the CPU BLAS; false when that can't serve it. A null
// `run` means there is never one (h types).
struct CpuEntry {
  bool (*run)(const void* call) = nullptr;
  const void* call = nullptr;
};

// `call` is the same product in column-major terms, with host scalars of the accumulation type; m and n are at least 1.
// Nothing is thrown: without memory for tables and words the product is computed all the same.
void host_gemm(const GemmCall& call, const CpuEntry& cpu);

}  // namespace skgemm
