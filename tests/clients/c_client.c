/* A C program that uses BLAS and knows nothing of libskgemm: cblas_?gemm in both layouts and ?gemm_, for s, d and h,
 * random leading dimensions, a C full of NaN when beta is 0, and memory that must not change around every matrix.
 * Reference: plain loops in double; integers must come out exactly. h has no CPU BLAS, so its names are looked up. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113 };
enum { kFront = 64, kGapByte = 0xff }; /* bytes of 0xff are a NaN in every type */

typedef enum Type { kS, kD, kH } Type;
static const size_t kSize[] = {4, 8, 2};
static const double kUnit[] = {0x1p-24, 0x1p-53, 0x1p-11};      /* of the output */
static const double kSumUnit[] = {0x1p-24, 0x1p-53, 0x1p-24};   /* of the sum */
static const double kTiny[] = {0x1p-149, 0x1p-1074, 0x1p-24};   /* distance of the smallest numbers */

void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*, size_t, size_t);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*, size_t, size_t);
typedef void (*CblasHgemm)(int, int, int, int, int, int, uint16_t, const void*, int, const void*, int, uint16_t, void*,
                           int);
typedef void (*FortranHgemm)(const char*, const char*, const int*, const int*, const int*, const uint16_t*, const void*,
                             const int*, const void*, const int*, const uint16_t*, void*, const int*, size_t, size_t);
static CblasHgemm cblas_hgemm_found;
static FortranHgemm hgemm_found;

typedef struct Case {
  Type type;
  int fortran; /* 1: ?gemm_, 0: cblas_?gemm */
  int layout, trans_a, trans_b;
  int m, n, k, pad_a, pad_b, pad_c;
  double alpha, beta;
  int integers; /* small ones: the product is exact in every type */
} Case;

static uint64_t seed = 88172645463325252u;
static uint32_t random_bits(void) { /* xorshift64 */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 32);
}
static double random_value(int integers) {
  return integers ? (double)(random_bits() % 5) - 2.0 : random_bits() * 0x1p-31 - 1.0;
}

static void store(Type t, void* p, int64_t i, double v) {
  if (t == kS) ((float*)p)[i] = (float)v;
  if (t == kD) ((double*)p)[i] = v;
  if (t == kH) ((_Float16*)p)[i] = (_Float16)v;
}
static double load(Type t, const void* p, int64_t i) {
  return t == kS ? ((const float*)p)[i] : t == kD ? ((const double*)p)[i] : (double)((const _Float16*)p)[i];
}
static uint16_t half_bits(double v) {
  const _Float16 h = (_Float16)v;
  uint16_t bits;
  memcpy(&bits, &h, sizeof bits);
  return bits;
}

/* `lines` runs of `length` elements at distance ld; after the last element comes memory that can't be touched. */
typedef struct Matrix {
  int lines, length, ld;
  char* map;
  size_t mapped, used; /* used: kFront bytes, then the elements */
  char* data;
  char* before;        /* copy made before the call */
} Matrix;

static Matrix make_matrix(Type t, int lines, int length, int pad, int fill, int integers) {
  Matrix x = {.lines = lines, .length = length, .ld = (length > 1 ? length : 1) + pad};
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t elements = lines > 0 ? (size_t)x.ld * (size_t)(lines - 1) + (size_t)length : 0;
  x.used = kFront + elements * kSize[t];
  const size_t body = (x.used + page - 1) / page * page;
  x.mapped = body + page;
  x.map = mmap(NULL, x.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (x.map == MAP_FAILED || mprotect(x.map + body, page, PROT_NONE) != 0) {
    perror("mmap");
    exit(2);
  }
  x.data = x.map + body - elements * kSize[t];
  memset(x.data - kFront, kGapByte, x.used);
  for (int j = 0; fill && j < lines; ++j) {
    for (int i = 0; i < length; ++i) store(t, x.data, (int64_t)j * x.ld + i, random_value(integers));
  }
  x.before = malloc(x.used);
  if (x.before == NULL) exit(2);
  memcpy(x.before, x.data - kFront, x.used);
  return x;
}
static void free_matrix(Matrix* x) {
  munmap(x->map, x->mapped);
  free(x->before);
}

static void call_gemm(const Case* c, const Matrix* a, const Matrix* b, Matrix* r) {
  const char ta = c->trans_a == kNoTrans ? 'N' : c->trans_a == kTrans ? 't' : 'C';
  const char tb = c->trans_b == kNoTrans ? 'n' : c->trans_b == kTrans ? 'T' : 'c';
  const float s_alpha = (float)c->alpha, s_beta = (float)c->beta;
  const uint16_t h_alpha = half_bits(c->alpha), h_beta = half_bits(c->beta);
  if (c->fortran) {
    if (c->type == kS)
      sgemm_(&ta, &tb, &c->m, &c->n, &c->k, &s_alpha, (float*)a->data, &a->ld, (float*)b->data, &b->ld, &s_beta,
             (float*)r->data, &r->ld, 1, 1);
    if (c->type == kD)
      dgemm_(&ta, &tb, &c->m, &c->n, &c->k, &c->alpha, (double*)a->data, &a->ld, (double*)b->data, &b->ld, &c->beta,
             (double*)r->data, &r->ld, 1, 1);
    if (c->type == kH)
      hgemm_found(&ta, &tb, &c->m, &c->n, &c->k, &h_alpha, a->data, &a->ld, b->data, &b->ld, &h_beta, r->data, &r->ld,
                  1, 1);
    return;
  }
  if (c->type == kS)
    cblas_sgemm(c->layout, c->trans_a, c->trans_b, c->m, c->n, c->k, s_alpha, (float*)a->data, a->ld, (float*)b->data,
                b->ld, s_beta, (float*)r->data, r->ld);
  if (c->type == kD)
    cblas_dgemm(c->layout, c->trans_a, c->trans_b, c->m, c->n, c->k, c->alpha, (double*)a->data, a->ld,
                (double*)b->data, b->ld, c->beta, (double*)r->data, r->ld);
  if (c->type == kH)
    cblas_hgemm_found(c->layout, c->trans_a, c->trans_b, c->m, c->n, c->k, h_alpha, a->data, a->ld, b->data, b->ld,
                      h_beta, r->data, r->ld);
}

/* Element (i, j) of a matrix stored column by column, or row by row. */
static int64_t at(int by_columns, int ld, int i, int j) {
  return by_columns ? i + (int64_t)j * ld : (int64_t)i * ld + j;
}

/* op(X) or its transpose as doubles, `rows` runs of `columns`: the reference then reads both operands in order. */
static double* unpack(Type t, const Matrix* x, int by_columns, int rows, int columns) {
  double* out = malloc(sizeof(double) * ((size_t)rows * (size_t)columns + 1));
  if (out == NULL) exit(2);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) out[(int64_t)i * columns + j] = load(t, x->data, at(by_columns, x->ld, i, j));
  }
  return out;
}

/* First wrong element in words, or NULL. */
static const char* wrong_element(const Case* c, const Matrix* a, const Matrix* b, const Matrix* r) {
  static char words[160];
  const char* found = NULL;
  const int by_columns = c->layout == kColMajor;
  double* op_a = unpack(c->type, a, by_columns == (c->trans_a == kNoTrans), c->m, c->k);
  double* op_b_t = unpack(c->type, b, by_columns != (c->trans_b == kNoTrans), c->n, c->k);
  for (int i = 0; i < c->m && found == NULL; ++i) {
    for (int j = 0; j < c->n && found == NULL; ++j) {
      double sum = 0, magnitude = 0;
      for (int p = 0; p < c->k; ++p) {
        const double product = op_a[(int64_t)i * c->k + p] * op_b_t[(int64_t)j * c->k + p];
        sum += product;
        magnitude += fabs(product);
      }
      const int64_t where = at(by_columns, r->ld, i, j);
      const double old = c->beta == 0 ? 0 : c->beta * load(c->type, r->before + kFront, where);
      const double want = c->alpha * sum + old, got = load(c->type, r->data, where);
      magnitude = fabs(c->alpha) * magnitude + fabs(old);
      const double rounding = 2 * kUnit[c->type] * fabs(want) + kTiny[c->type];
      const double allowed = c->integers ? 0 : 2 * (c->k + 2) * kSumUnit[c->type] * magnitude + rounding;
      if (!(fabs(got - want) <= allowed)) { /* not >, which a NaN would pass */
        snprintf(words, sizeof words, "C(%d,%d) is %.17g, not %.17g", i, j, got, want);
        found = words;
      }
    }
  }
  free(op_a);
  free(op_b_t);
  return found;
}

/* Whether everything of x but (for C) its elements is as it was before the call. */
static int surroundings_intact(Type t, const Matrix* x, int elements_may_change) {
  const char* now = x->data - kFront;
  if (!elements_may_change) return memcmp(now, x->before, x->used) == 0;
  if (memcmp(now, x->before, kFront) != 0) return 0;
  const size_t line = (size_t)x->ld * kSize[t], body = (size_t)x->length * kSize[t];
  for (int j = 0; j + 1 < x->lines; ++j) {
    const size_t gap = kFront + (size_t)j * line + body;
    if (memcmp(now + gap, x->before + gap, line - body) != 0) return 0;
  }
  return 1;
}

static int failures;
static int run_case(const Case* c) {
  const int by_columns = c->layout == kColMajor;
  const int a_swapped = c->trans_a != kNoTrans, b_swapped = c->trans_b != kNoTrans;
  const int a_lines = by_columns != a_swapped ? c->k : c->m, a_length = by_columns != a_swapped ? c->m : c->k;
  const int b_lines = by_columns != b_swapped ? c->n : c->k, b_length = by_columns != b_swapped ? c->k : c->n;
  Matrix a = make_matrix(c->type, a_lines, a_length, c->pad_a, 1, c->integers);
  Matrix b = make_matrix(c->type, b_lines, b_length, c->pad_b, 1, c->integers);
  const int c_lines = by_columns ? c->n : c->m, c_length = by_columns ? c->m : c->n;
  Matrix r = make_matrix(c->type, c_lines, c_length, c->pad_c, c->beta != 0, c->integers);
  call_gemm(c, &a, &b, &r);
  const char* why = wrong_element(c, &a, &b, &r);
  if (why == NULL && !surroundings_intact(c->type, &r, 1)) why = "memory beside C's elements was written";
  if (why == NULL && !(surroundings_intact(c->type, &a, 0) && surroundings_intact(c->type, &b, 0)))
    why = "A or B was written";
  if (why != NULL && ++failures <= 10) {
    printf("FAIL %c%s layout=%d ta=%d tb=%d m=%d n=%d k=%d lda=%d ldb=%d ldc=%d alpha=%g beta=%g integers=%d: %s\n",
           "sdh"[c->type], c->fortran ? "gemm_" : " cblas", c->layout, c->trans_a, c->trans_b, c->m, c->n, c->k, a.ld,
           b.ld, r.ld, c->alpha, c->beta, c->integers, why);
  }
  free_matrix(&a);
  free_matrix(&b);
  free_matrix(&r);
  return 1;
}

/* One extents triple in every type, entry point, layout, op pair and beta. */
static int run_extents(int m, int n, int k) {
  static const int ops[] = {kNoTrans, kTrans, kConjTrans};
  static const double betas[] = {0.0, 1.0, -0.5}, alphas[] = {1.0, -2.0, 0.0};
  int calls = 0;
  for (int pick = 0; pick < 3 * 3 * 9 * 3; ++pick) {
    Case c = {.type = (Type)(pick % 3), .m = m, .n = n, .k = k};
    const int entry = pick / 3 % 3; /* Fortran, cblas by columns, cblas by rows */
    c.fortran = entry == 0;
    c.layout = entry == 2 ? kRowMajor : kColMajor;
    c.trans_a = ops[pick / 9 % 3];
    c.trans_b = ops[pick / 27 % 3];
    c.beta = betas[pick / 81];
    c.integers = k <= 64 && random_bits() % 2; /* 64 * 2 * 2 * 2 fits fp16's 2048 */
    c.alpha = alphas[random_bits() % 8 == 0 ? 2 : random_bits() % 2];
    c.pad_a = (int)(random_bits() % 4) * (int)(random_bits() % 3);
    c.pad_b = (int)(random_bits() % 4) * (int)(random_bits() % 3);
    c.pad_c = (int)(random_bits() % 4) * (int)(random_bits() % 3);
    calls += run_case(&c);
  }
  return calls;
}

int main(void) {
  cblas_hgemm_found = (CblasHgemm)dlsym(RTLD_DEFAULT, "cblas_hgemm");
  hgemm_found = (FortranHgemm)dlsym(RTLD_DEFAULT, "hgemm_");
  if (cblas_hgemm_found == NULL || hgemm_found == NULL) {
    printf("FAIL cblas_hgemm or hgemm_ is not in this process: preload libskgemm.so\n");
    return 1;
  }
  static const int small[][3] = {{0, 3, 2}, {3, 0, 2}, {3, 4, 0}, {0, 0, 0}, {1, 1, 1}, {3, 1, 5},    {1, 9, 1},
                                 {3, 4, 2}, {2, 1, 3}, {1, 70, 1}, {5, 5, 5}, {8, 8, 8}, {17, 33, 9}, {16, 7, 64},
                                 {33, 33, 33}, {64, 64, 64}, {65, 31, 64}, {1, 130, 63}, {129, 1, 64}, {129, 67, 40}};
  int calls = 0;
  for (size_t i = 0; i < sizeof small / sizeof small[0]; ++i)
    calls += run_extents(small[i][0], small[i][1], small[i][2]);
  static const int large[][3] = {{300, 300, 300}, {257, 129, 400}, {128, 401, 37}};
  for (size_t i = 0; i < sizeof large / sizeof large[0]; ++i) {
    for (int pick = 0; pick < 3 * 2 * 4; ++pick) {
      const Case c = {.type = (Type)(pick % 3), .fortran = 0, .layout = pick / 3 % 2 ? kRowMajor : kColMajor,
                      .trans_a = pick / 6 % 2 ? kTrans : kNoTrans, .trans_b = pick / 12 ? kTrans : kNoTrans,
                      .m = large[i][0], .n = large[i][1], .k = large[i][2], .pad_a = 1, .pad_b = 5, .pad_c = 3,
                      .alpha = pick % 2 ? 1.0 : -1.0, .beta = pick / 3 % 4 == 3 ? 1.0 : 0.0};
      calls += run_case(&c);
    }
  }
  printf("c_client: %d calls, %d bad\n", calls, failures);
  return failures != 0;
}
