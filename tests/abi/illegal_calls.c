/* One illegal call, through whatever library serves the name in this process, so that two libraries can be compared.
 * illegal_calls ENTRY VARIANT   makes the call, then says whether C is as it was
 * illegal_calls ENTRY longjmp   an illegal call whose handler does not return, then a legal one (needs OWN_XERBLA)
 * illegal_calls ENTRY legal     one legal call
 * illegal_calls ENTRY count     the number of variants
 * With OWN_XERBLA the program brings its own error handler, as R, Octave and the BLAS testers do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CBLAS reads the first three, Fortran the two letters. */
struct call {
  int layout, op_a, op_b;
  char letter_a, letter_b;
  int64_t m, n, k, lda, ldb, ldc;
};

static const struct call fortran_calls[] = {
    {0, 0, 0, 'X', 'N', 3, 4, 5, 3, 5, 3},   {0, 0, 0, 'N', 'X', 3, 4, 5, 3, 5, 3},
    {0, 0, 0, 'N', 'N', -1, 4, 5, 3, 5, 3},  {0, 0, 0, 'N', 'N', 3, -4, 5, 3, 5, 3},
    {0, 0, 0, 'N', 'N', 3, 4, -5, 3, 5, 3},  {0, 0, 0, 'N', 'N', 3, 4, 5, 2, 5, 3},
    {0, 0, 0, 'T', 'N', 3, 4, 5, 4, 5, 3},   {0, 0, 0, 'N', 'N', 3, 4, 5, 3, 4, 3},
    {0, 0, 0, 'N', 'T', 3, 4, 5, 3, 3, 3},   {0, 0, 0, 'N', 'N', 3, 4, 5, 3, 5, 2},
    {0, 0, 0, 'C', 'C', 3, 4, 5, 5, 4, 0},   {0, 0, 0, 'X', 'X', -1, -1, -1, 0, 0, 0},
    {0, 0, 0, 'N', 'N', 3, -4, -5, 0, 0, 0}, {0, 0, 0, 'N', 'N', 0, 4, 5, 0, 5, 1},
    {0, 0, 0, 'R', 'N', 3, 4, 5, 5, 5, 3},
};
static const struct call cblas_calls[] = {
    {99, 111, 111, 0, 0, 3, 4, 5, 9, 9, 9},   {101, 7, 111, 0, 0, 3, 4, 5, 9, 9, 9},
    {102, 7, 111, 0, 0, 3, 4, 5, 9, 9, 9},    {101, 111, 7, 0, 0, 3, 4, 5, 9, 9, 9},
    {102, 111, 7, 0, 0, 3, 4, 5, 9, 9, 9},    {101, 111, 111, 0, 0, -1, 4, 5, 9, 9, 9},
    {102, 111, 111, 0, 0, -1, 4, 5, 9, 9, 9}, {101, 111, 111, 0, 0, 3, -1, 5, 9, 9, 9},
    {102, 111, 111, 0, 0, 3, -1, 5, 9, 9, 9}, {101, 111, 111, 0, 0, 3, 4, -1, 9, 9, 9},
    {102, 111, 111, 0, 0, 3, 4, -1, 9, 9, 9}, {101, 111, 111, 0, 0, 3, 4, 5, 4, 9, 9},
    {102, 111, 111, 0, 0, 3, 4, 5, 2, 9, 9},  {101, 112, 111, 0, 0, 3, 4, 5, 2, 9, 9},
    {101, 111, 111, 0, 0, 3, 4, 5, 9, 3, 9},  {102, 111, 112, 0, 0, 3, 4, 5, 9, 3, 9},
    {101, 111, 111, 0, 0, 3, 4, 5, 9, 9, 3},  {102, 111, 111, 0, 0, 3, 4, 5, 9, 9, 2},
    {101, 114, 111, 0, 0, 3, 4, 5, 9, 9, 9},
};

static int is_cblas(const char* name) { return strncmp(name, "cblas_", 6) == 0; }
static int is_wide(const char* name) { return strstr(name, "64") != NULL; }
static char type_of(const char* name) { return is_cblas(name) ? name[6] : name[0]; }

static jmp_buf back;
static int jump;

#ifdef OWN_XERBLA
void xerbla_(const char* name, const int* info, size_t length);
void xerbla_(const char* name, const int* info, size_t length) {
  (void)length;
  printf("own handler: %.6s %d\n", name, *info);
  fflush(stdout);
  if (jump) longjmp(back, 1);
}
#endif

#define CALL_FORTRAN(T, Int)                                                                                        \
  do {                                                                                                              \
    const Int m = (Int)x->m, n = (Int)x->n, k = (Int)x->k, lda = (Int)x->lda, ldb = (Int)x->ldb, ldc = (Int)x->ldc; \
    const T one = (T)1;                                                                                             \
    ((void (*)(const char*, const char*, const Int*, const Int*, const Int*, const T*, const void*, const Int*,     \
               const void*, const Int*, const T*, void*, const Int*, size_t, size_t))function)(                     \
        &x->letter_a, &x->letter_b, &m, &n, &k, &one, a, &lda, b, &ldb, &one, c, &ldc, 1, 1);                       \
  } while (0)
#define CALL_CBLAS(T, Int)                                                                                         \
  ((void (*)(int, int, int, Int, Int, Int, T, const void*, Int, const void*, Int, T, void*, Int))function)(        \
      x->layout, x->op_a, x->op_b, (Int)x->m, (Int)x->n, (Int)x->k, (T)1, a, (Int)x->lda, b, (Int)x->ldb, (T)1, c, \
      (Int)x->ldc)
#define CALL(T)                          \
  do {                                   \
    if (is_cblas(name) && is_wide(name)) \
      CALL_CBLAS(T, int64_t);            \
    else if (is_cblas(name))             \
      CALL_CBLAS(T, int32_t);            \
    else if (is_wide(name))              \
      CALL_FORTRAN(T, int64_t);          \
    else                                 \
      CALL_FORTRAN(T, int32_t);          \
  } while (0)

static void make_call(const char* name, void* function, const struct call* x, const void* a, const void* b, void* c) {
  switch (type_of(name)) {
    case 'd':
      CALL(double);
      break;
    case 's':
      CALL(float);
      break;
    default:
      CALL(uint16_t);
      break;
  }
}

int main(int argc, char** argv) {
  static double a[81], b[81], c[81], before[81];
  const char *name = argc > 2 ? argv[1] : "", *variant = argc > 2 ? argv[2] : "";
  const struct call* calls = is_cblas(name) ? cblas_calls : fortran_calls;
  const int count = (int)(is_cblas(name) ? sizeof cblas_calls / sizeof *calls : sizeof fortran_calls / sizeof *calls);
  const struct call legal = {102, 111, 111, 'N', 'N', 3, 4, 5, 9, 9, 9};
  /* A row count above 32 bits whose low half would be legal: reading it as 32 bits gives a silent wrong answer. */
  const struct call high = {102, 111, 111, 'N', 'N', (INT64_C(1) << 32) + 1, 1, 1, 1, 1, 1};
  void* function = dlsym(RTLD_DEFAULT, name);
  if (argc < 3) return 2;
  if (strcmp(variant, "count") == 0) {
    printf("%d\n", count);
    return 0;
  }
  if (function == NULL) {
    printf("no library here has %s\n", name);
    return 77;
  }
  memset(c, 0x3c, sizeof c);
  memcpy(before, c, sizeof c);
  if (strcmp(variant, "longjmp") == 0) {
    jump = 1;
    if (setjmp(back) == 0) make_call(name, function, &calls[2], a, b, c);
    make_call(name, function, &legal, a, b, c);
  } else if (strcmp(variant, "legal") == 0) {
    make_call(name, function, &legal, a, b, c);
  } else {
    make_call(name, function, strcmp(variant, "high") == 0 ? &high : &calls[atoi(variant)], a, b, c);
  }
  printf("C is %s\n", memcmp(before, c, sizeof c) == 0 ? "as it was" : "changed");
  return 0;
}
