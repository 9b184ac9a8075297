// The bf16 kernels: one instantiation for each pair of operand layouts.
#include "kernels/mainloop_f16_mma.cuh"

namespace skgemm {

template <>
const void* gemm_function<DataType::bf16>(bool a_k_major, bool b_k_major) {
  return gemm_of_layout<DataType::bf16>(a_k_major, b_k_major);
}

}  // namespace skgemm
