// Device code of the tests: data too large to make and check on the host, and kernels that keep SMs busy.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/types.h"

namespace skgemm::test {

// Element i gets (i / period) mod 8 + 1: exact in every type, and another value for each batch entry.
void fill_by_entry(DataType type, void* data, int64_t count, int64_t period);
// How many of `count` elements are not exactly factor * ((i / period) mod 8 + 1). NaN counts. `factor` <= 32, so that
// every expected value is exact in bf16.
int64_t count_wrong(DataType type, const void* data, int64_t count, int64_t period, double factor);
// Occupies `blocks` SMs (one block takes a whole one) for about `milliseconds`.
void occupy_sms(cudaStream_t stream, int blocks, int milliseconds);

}  // namespace skgemm::test
