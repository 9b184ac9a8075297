// The bf16 kernels of Hopper: one instantiation for each pair of operand layouts.
#include "kernels/gemm_wgmma.cuh"

namespace skgemm {

template <>
const void* wgmma_function<DataType::bf16>(bool x_k_major, bool y_k_major) {
  return wgmma_of_layout<DataType::bf16>(x_k_major, y_k_major);
}

}  // namespace skgemm
