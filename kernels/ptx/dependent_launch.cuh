// Programmatic dependent launch. PTX ISA 9.7.13.13, "griddepcontrol" (sm_90; before, grids follow each other whole).
#pragma once

namespace skgemm::ptx {

// Until all grids that this one was launched after are complete and their writes are visible.
__device__ __forceinline__ void wait_for_grids_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The grid launched after this one may start, up to its own wait, once every CTA has said so or is gone.
__device__ __forceinline__ void let_next_grid_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace skgemm::ptx
