/* A C99 program on the public header alone, linked with -lskgemm: no C++ and no CUDA. */
#include <skgemm.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  skgemm_handle_t handle = NULL;
  const int expected = SKGEMM_VERSION_MAJOR * 10000 + SKGEMM_VERSION_MINOR * 100 + SKGEMM_VERSION_PATCH;
  if (skgemm_version() != expected) {
    printf("skgemm_version() is %d, the header says %d\n", skgemm_version(), expected);
    return 1;
  }
  if (strlen(skgemm_status_string(SKGEMM_STATUS_INVALID_VALUE)) == 0 || skgemm_last_error() == NULL) return 1;
  if (skgemm_destroy(NULL) != SKGEMM_STATUS_NOT_INITIALIZED) {
    printf("destroying no handle must say so\n");
    return 1;
  }
  if (skgemm_create(&handle) == SKGEMM_STATUS_SUCCESS) {
    return skgemm_destroy(handle) == SKGEMM_STATUS_SUCCESS ? 0 : 1;
  }
  printf("no device: %s\n", skgemm_last_error());
  return strlen(skgemm_last_error()) > 0 ? 0 : 1;
}
