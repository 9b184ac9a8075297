// The fp64 kernels: one instantiation for each pair of operand layouts.
#include "kernels/mainloop_f64_dmma.cuh"

namespace skgemm {

template <>
const void* gemm_function<DataType::f64>(bool a_k_major, bool b_k_major) {
  return gemm_of_layout<DataType::f64>(a_k_major, b_k_major);
}

}  // namespace skgemm
