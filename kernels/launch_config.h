// How kernels that wait for the grids before them are launched: each may start before the one before it has ended
// (CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization"; sm_90).
#pragma once
#include <cuda_runtime.h>

namespace skgemm {

// `attributes`: room for two.
inline cudaLaunchConfig_t config_of(int64_t ctas, int threads, size_t smem, cudaStream_t stream,
                                    cudaLaunchAttribute* attributes, int cluster = 1) {
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  return {.gridDim = dim3(static_cast<unsigned>(ctas)), .blockDim = dim3(static_cast<unsigned>(threads)),
          .dynamicSmemBytes = smem, .stream = stream, .attrs = attributes, .numAttrs = cluster > 1 ? 2u : 1u};
}

}  // namespace skgemm
