// Programmatic dependent launch. PTX ISA 9.7.13.13, "griddepcontrol" (sm_90).
#pragma once

namespace skgemm::ptx {

// Until all grids that this one was launched after are complete and their writes are visible.
__device__ __forceinline__ void wait_for_grids_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// The grid launched after this one may start, up to its own wait, once every CTA has said so or is gone.
__device__ __forceinline__ void let_next_grid_start() { asm volatile("griddepcontrol.launch_dependents;"); }

}  // namespace skgemm::ptx
