#include "kernels/tensor_map.h"

#include <cuda_runtime.h>

namespace skgemm {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// From the driver that is loaded: the library doesn't link to it. nullptr when it has none (before CUDA 12.0).
EncodeTiled encode_tiled() {
  static const EncodeTiled function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    return e == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(found) : nullptr;
  }();
  return function;
}

CUtensorMapDataType tensor_type(DataType type) {
  switch (type) {
    case DataType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DataType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DataType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    default:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  }
}

}  // namespace

bool has_tensor_maps() { return encode_tiled() != nullptr; }

bool tma_takes(const LineStarts& x) {
  return aligned(x, 16) && x.pitch < kTmaPitchEnd && x.batch_pitch < kTmaPitchEnd && x.batch_pitch >= 0;
}

int encode_map(CUtensorMap* map, DataType type, const TensorLines& x, int box_lines) {
  constexpr int kBoxBytes = 128;
  const LineStarts& starts = x.starts;
  const bool one = starts.batch_pitch == 0;
  const cuuint64_t dims[] = {static_cast<cuuint64_t>(x.along), static_cast<cuuint64_t>(x.lines),
                             static_cast<cuuint64_t>(one ? 1 : x.batch)};
  const cuuint64_t pitches[] = {static_cast<cuuint64_t>(starts.pitch),
                                static_cast<cuuint64_t>(one ? starts.pitch : starts.batch_pitch)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(kBoxBytes / size_of(type)), static_cast<cuuint32_t>(box_lines), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult result = encode_tiled()(map, tensor_type(type), 3, const_cast<void*>(starts.data), dims, pitches, box,
                                         steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                         CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace skgemm
