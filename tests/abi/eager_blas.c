/* A BLAS with one routine, whose constructor already multiplies: through the process's dgemm_, as a library that
   measures itself while it is loaded does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef void Gemm(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                  const int *, const double *, const int *, const double *, double *, const int *);

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc) {
  for (int j = 0; j < *n; ++j) {
    for (int i = 0; i < *m; ++i) {
      double sum = 0;
      for (int p = 0; p < *k; ++p) {
        const double from_a = *transa == 'N' ? a[i + p * *lda] : a[p + i * *lda];
        sum += from_a * (*transb == 'N' ? b[p + j * *ldb] : b[j + p * *ldb]);
      }
      c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
    }
  }
}

__attribute__((constructor)) static void multiply(void) {
  Gemm *gemm = (Gemm *)dlsym(RTLD_DEFAULT, "dgemm_");
  const int one = 1;
  const double alpha = 1, a = 2, b = 3, beta = 0;
  double c = -1;
  if (gemm != NULL) gemm("N", "N", &one, &one, &one, &alpha, &a, &one, &b, &one, &beta, &c, &one);
  printf("multiplied %g while it was loaded\n", c);
}
