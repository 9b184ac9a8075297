/* A C program that knows BLAS and nothing else: dgemm_ on host memory, its rate, and its error against plain sums.
 * product M N K */
#define _POSIX_C_SOURCE 199309L
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double* random_matrix(size_t elements) {
  double* x = malloc(elements * sizeof *x);
  for (size_t i = 0; x && i < elements; ++i) x[i] = 2.0 * rand() / RAND_MAX - 1.0;
  return x;
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? atoi(argv[1]) : 300, n = argc > 2 ? atoi(argv[2]) : 200, k = argc > 3 ? atoi(argv[3]) : 250;
  if (m < 1 || n < 1 || k < 1) return 2;
  double* a = random_matrix((size_t)m * k);
  double* b = random_matrix((size_t)n * k); /* n x k, used transposed */
  double* c = malloc((size_t)m * n * sizeof *c);
  if (!a || !b || !c) return 2;
  const double one = 1, zero = 0;
  double best = DBL_MAX;
  for (int round = 0; round < 4; ++round) { /* the first one also starts what it needs */
    for (size_t i = 0; i < (size_t)m * n; ++i) c[i] = NAN;
    const double start = seconds();
    dgemm_("N", "T", &m, &n, &k, &one, a, &m, b, &n, &zero, c, &m);
    best = fmin(best, seconds() - start);
  }
  const int samples = 4000;
  double worst = 0;
  for (int s = 0; s < samples; ++s) {
    const size_t i = (size_t)rand() % (size_t)m, j = (size_t)rand() % (size_t)n;
    long double sum = 0, size = 0;
    for (size_t p = 0; p < (size_t)k; ++p) {
      const long double term = (long double)a[i + p * m] * b[j + p * n];
      sum += term;
      size += fabsl(term);
    }
    const double error = (double)(fabsl(c[i + j * m] - sum) / size);
    if (!(error <= worst)) worst = error; /* keeps a NaN */
    if (isnan(worst)) break;
  }
  printf("dgemm %dx%dx%d: %.1f GFLOP/s; error %.1e in %d sampled elements\n", m, n, k, 2e-9 * m * n * k / best, worst,
         samples);
  free(a);
  free(b);
  free(c);
  return worst <= (k + 2) * DBL_EPSILON ? 0 : 1;
}
