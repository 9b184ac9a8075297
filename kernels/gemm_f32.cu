// The fp32 kernels: one instantiation for each pair of operand layouts.
#include "kernels/mainloop_f32_simt.cuh"

namespace skgemm {

template <>
const void* gemm_function<DataType::f32>(bool a_k_major, bool b_k_major) {
  return gemm_of_layout<DataType::f32>(a_k_major, b_k_major);
}

}  // namespace skgemm
