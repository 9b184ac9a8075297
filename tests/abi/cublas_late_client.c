/* A program without cuBLAS, that calls a cuBLAS name wherever the process has it.
 * cublas_late_client [LIBRARY]   LIBRARY is loaded first, out of the process's sight, as Python loads cuBLAS */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef int gemm_64(void*, int, int, long, long, long, const double*, const double*, long, const double*, long,
                    const double*, double*, long);

int main(int argc, char** argv) {
  static double matrix[1];
  const double one = 1;
  int handle = 0;
  gemm_64* gemm = (gemm_64*)dlsym(RTLD_DEFAULT, "cublasDgemm_v2_64");
  if (argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL) return 2;
  if (gemm == NULL) {
    printf("no library here has cublasDgemm_v2_64\n");
    return 77;
  }
  for (int i = 0; i < 2; ++i) {
    printf("status %d\n", gemm(&handle, 0, 0, 1, 1, 1, &one, matrix, 1, matrix, 1, &one, matrix, 1));
  }
  return 0;
}
