// What a launch hands to the gemm kernel, and how the launch finds the kernel of a type and layout.
#pragma once
#include "kernels/launch.h"

namespace skgemm {

struct OperandCopy {
  int64_t pitch;       // bytes from line to line
  int64_t piece_step;  // bytes from a thread's piece of a whole step (WholeShare) to its next
  bool aligned;        // lines start where those pieces may
};

struct GemmParams {
  ShortSchedule schedule;
  GemmArgs args;
  OperandCopy a, b;
  bool c_vector;  // every column of C starts at a multiple of 16 bytes
};

// The address of the kernel's instantiation, as cudaLaunchKernel wants it. One .cu file per type defines it.
template <DataType kIn>
const void* gemm_function(bool a_k_major, bool b_k_major);
template <>
const void* gemm_function<DataType::f16>(bool a_k_major, bool b_k_major);
template <>
const void* gemm_function<DataType::bf16>(bool a_k_major, bool b_k_major);
template <>
const void* gemm_function<DataType::f32>(bool a_k_major, bool b_k_major);

}  // namespace skgemm
