// A product as the native API states it, and what can be wrong with it.
#pragma once
#include "src/gemm_call.h"
#include "src/status.h"

namespace skgemm {

// A skgemm_gemm_t, with the batch it really means (in the struct 0 stands for 1).
struct Product {
  const char* name;  // the entry point
  const skgemm_gemm_t& gemm;
  int64_t batch;
};

// Types, operations, extents, leading dimensions, batch: all that can be checked without looking at a pointer.
Status check(const Product& product);
GemmCall call_of(const Product& product, PointerMode scalars);
// A NULL, host or misplaced pointer where the device will read or write would end the process's CUDA context, so it is
// found here.
Status check_pointers(const GemmCall& call);

}  // namespace skgemm
