/* The native API: makes a handle and asks what a product would run. Without a GPU it says so, in the library's words.
 */
#include <inttypes.h>
#include <stdio.h>

#include "skgemm.h"

static int failed(const char* what, skgemm_status_t status) {
  printf("%s: %s: %s\n", what, skgemm_status_string(status), skgemm_last_error());
  return status == SKGEMM_STATUS_NO_DEVICE || status == SKGEMM_STATUS_ARCH_MISMATCH ? 0 : 1;
}

int main(void) {
  const int version = skgemm_version();
  printf("libskgemm %d.%d.%d, header %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100,
         SKGEMM_VERSION_MAJOR, SKGEMM_VERSION_MINOR, SKGEMM_VERSION_PATCH);
  if (version != SKGEMM_VERSION_MAJOR * 10000 + SKGEMM_VERSION_MINOR * 100 + SKGEMM_VERSION_PATCH) return 1;

  skgemm_handle_t handle = NULL;
  skgemm_status_t status = skgemm_create(&handle);
  if (status != SKGEMM_STATUS_SUCCESS) return failed("skgemm_create", status);

  const int64_t size = 4096;
  const float one = 1, zero = 0;
  /* The pointers of a plan query count for their alignment only. */
  void* const aligned = (void*)(uintptr_t)256;
  const skgemm_gemm_t product = {.op_a = SKGEMM_OP_N,
                                 .op_b = SKGEMM_OP_T,
                                 .m = size,
                                 .n = size,
                                 .k = size,
                                 .a_type = SKGEMM_R_16F,
                                 .b_type = SKGEMM_R_16F,
                                 .c_type = SKGEMM_R_16F,
                                 .alpha = &one,
                                 .beta = &zero,
                                 .a = aligned,
                                 .b = aligned,
                                 .c = aligned,
                                 .lda = size,
                                 .ldb = size,
                                 .ldc = size};
  skgemm_plan_t plan;
  status = skgemm_gemm_plan(handle, &product, &plan);
  if (status != SKGEMM_STATUS_SUCCESS) return failed("skgemm_gemm_plan", status) | 1;
  printf("%" PRId64 "^3 in fp16 would run %s: tiles of %" PRId32 "x%" PRId32 "x%" PRId32 ", %" PRId64
         " CTAs, about %.0f us\n",
         size, plan.kernel, plan.tile_m, plan.tile_n, plan.tile_k,
         plan.ctas * plan.cluster_m * plan.cluster_n, plan.predicted_us);
  return skgemm_destroy(handle) == SKGEMM_STATUS_SUCCESS ? 0 : 1;
}
