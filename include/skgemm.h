/* skgemm.h - the native C API of libskgemm: matrix products on NVIDIA GPUs by one Stream-K kernel per precision.
 *
 * Conventions. Matrices are column-major; element (i, j) of X is X[i + j*ldx]. Extents, leading dimensions and strides
 * count elements, not bytes. Every product is C = alpha*op(A)*op(B) + beta*C with op(A) m x k, op(B) k x n, C m x n,
 * where op(X) is X (N) or its transpose (T; C means the same for real types). A, B and C are device (or managed)
 * pointers; calls are asynchronous on the handle's stream. For host pointers use the BLAS names (sgemm_, cblas_dgemm,
 * ...).
 *
 * Rules. beta == 0 never reads C, alpha == 0 never reads A or B, k == 0 gives beta*C. Nothing outside the m x n
 * elements of C is written. C is unchanged when a call returns an argument error. A product that runs by the same plan
 * (skgemm_gemm_plan) on the same device repeats bit for bit.
 *
 * Threads. A handle may be used by one thread at a time; different handles are independent, on one stream too. A call
 * may wait for another thread's call on the same device to get into its stream, and that one for room in a full stream:
 * a host function in a stream (cudaLaunchHostFunc) must not wait for a thread that makes calls.
 *
 * Graphs. Calls may be captured; a captured call's workspace lives as long as the graph and what was made from it:
 * clones, executables, and executables updated from it (cudaGraphExecUpdate), also when the graph itself is destroyed.
 * All of these share it. So two executables of one captured graph must not run at the same time, and one captured graph
 * that is put into another twice, as child graphs, must not be in branches that may run at the same time. */
#ifndef SKGEMM_H
#define SKGEMM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
/* In C++ the enumerations are as wide as in C, so that a wrong value can be passed, and is refused. */
#ifdef __cplusplus
#define SKGEMM_AS_INT : int
extern "C" {
#else
#define SKGEMM_AS_INT
#endif

#define SKGEMM_VERSION_MAJOR 0
#define SKGEMM_VERSION_MINOR 1
#define SKGEMM_VERSION_PATCH 0

/* Numbers shared with cublasStatus_t mean the same. */
typedef enum skgemm_status SKGEMM_AS_INT {
  SKGEMM_STATUS_SUCCESS = 0,
  SKGEMM_STATUS_NOT_INITIALIZED = 1,   /* the handle is NULL or was destroyed */
  SKGEMM_STATUS_ALLOC_FAILED = 3,      /* host or device memory ran out */
  SKGEMM_STATUS_INVALID_VALUE = 7,     /* an argument is out of range; skgemm_last_error() names it */
  SKGEMM_STATUS_ARCH_MISMATCH = 8,     /* the device is older than sm_80 */
  SKGEMM_STATUS_EXECUTION_FAILED = 13, /* a launch or an earlier kernel failed */
  SKGEMM_STATUS_INTERNAL_ERROR = 14,
  SKGEMM_STATUS_NOT_SUPPORTED = 15, /* a combination of types or modes that is not built */
  SKGEMM_STATUS_NO_DEVICE = 32      /* no GPU, no driver, a forked child, or a build without CUDA */
} skgemm_status_t;

/* The values of cublasOperation_t. */
typedef enum skgemm_op SKGEMM_AS_INT { SKGEMM_OP_N = 0, SKGEMM_OP_T = 1, SKGEMM_OP_C = 2 } skgemm_op_t;

/* The values of cudaDataType. */
typedef enum skgemm_type SKGEMM_AS_INT {
  SKGEMM_R_32F = 0,
  SKGEMM_R_64F = 1,
  SKGEMM_R_16F = 2,
  SKGEMM_R_16BF = 14
} skgemm_type_t;

/* Where alpha and beta live. Host scalars are read before the call returns, device scalars when the kernel runs. */
typedef enum skgemm_pointer_mode SKGEMM_AS_INT {
  SKGEMM_POINTER_MODE_HOST = 0,
  SKGEMM_POINTER_MODE_DEVICE = 1
} skgemm_pointer_mode_t;

/* DEFAULT and PEDANTIC both compute fp32 products exactly as fp32 and accumulate half types in fp32. */
typedef enum skgemm_math_mode SKGEMM_AS_INT { SKGEMM_MATH_DEFAULT = 0, SKGEMM_MATH_PEDANTIC = 2 } skgemm_math_mode_t;

/* The schedules of the Stream-K paper (Osama et al. 2023): which worker (a CTA, or a cluster of CTAs that act as one)
 * does which k-steps of which tile. */
typedef enum skgemm_schedule SKGEMM_AS_INT {
  SKGEMM_SCHEDULE_AUTO = 0,          /* the cost model chooses */
  SKGEMM_SCHEDULE_DATA_PARALLEL = 1, /* a worker does whole tiles */
  SKGEMM_SCHEDULE_FIXED_SPLIT = 2,   /* each tile's k is cut in s equal parts */
  SKGEMM_SCHEDULE_STREAM_K = 3,      /* all k-steps of all tiles are shared evenly by g workers */
  SKGEMM_SCHEDULE_ONE_TILE = 4,      /* data-parallel waves, the partial wave is shared evenly */
  SKGEMM_SCHEDULE_TWO_TILE = 5       /* the same, with one full wave more shared evenly */
} skgemm_schedule_t;

/* Which side of C a kernel with a run-time tile width lays that width along. */
typedef enum skgemm_orientation SKGEMM_AS_INT {
  SKGEMM_ORIENTATION_AUTO = 0,     /* the cost model chooses */
  SKGEMM_ORIENTATION_STRAIGHT = 1, /* along n: a CTA does 128 rows of C */
  SKGEMM_ORIENTATION_SWAPPED = 2   /* along m: computed as C^T = op(B)^T op(A)^T, a CTA does 128 columns of C */
} skgemm_orientation_t;

/* cudaStream_t, without CUDA's headers. */
typedef struct CUstream_st* skgemm_stream_t;
typedef struct skgemm_context* skgemm_handle_t;

/* One product, for skgemm_gemm_ex, _plan and _workspace. Zero-initialise it, then set fields; batch 0 means 1.
 * Types: (a_type == b_type, c_type) is (f32, f32), (f64, f64), (f16, f16|f32) or (bf16, bf16|f32).
 * alpha and beta are float (double when a_type is f64), in host or device memory by the handle's pointer mode.
 * Batch entry i uses A + i*stride_a, B + i*stride_b, C + i*stride_c; stride 0 of A or B broadcasts it. */
typedef struct skgemm_gemm {
  skgemm_op_t op_a, op_b;
  int64_t m, n, k;
  skgemm_type_t a_type, b_type, c_type;
  const void* alpha;
  const void* a;
  int64_t lda, stride_a;
  const void* b;
  int64_t ldb, stride_b;
  const void* beta;
  void* c;
  int64_t ldc, stride_c;
  int64_t batch;
} skgemm_gemm_t;

/* What a call will run: the answer of skgemm_gemm_plan. */
typedef struct skgemm_plan {
  char kernel[48];                /* name of the kernel row */
  int32_t tile_m, tile_n, tile_k; /* elements; of a worker: a CTA, or a cluster of CTAs that act as one */
  int32_t cluster_m, cluster_n;   /* CTAs of a worker, along m and along n */
  int32_t swapped;                /* 1: computed as C^T = op(B)^T op(A)^T */
  skgemm_schedule_t schedule;
  int64_t ctas;     /* workers; cluster_m * cluster_n times as many CTAs are launched */
  int64_t split;    /* parts per tile, for fixed split; otherwise 1 */
  int64_t sk_tiles; /* tiles whose k-steps are shared between workers */
  int64_t tiles;    /* all tiles, over the batch */
  int64_t steps_per_tile;
  size_t workspace_bytes; /* partial sums and copies of operands: see skgemm_set_workspace */
  double predicted_us;    /* the cost model's device time */
} skgemm_plan_t;

/* Library version as major*10000 + minor*100 + patch. */
int skgemm_version(void);
/* Static text for a status, never NULL. */
const char* skgemm_status_string(skgemm_status_t status);
/* What was wrong with this thread's last failing call, in words; "" after none. Valid until the thread's next call. */
const char* skgemm_last_error(void);

/* Makes a handle for the current CUDA device. NO_DEVICE or ARCH_MISMATCH where there is nothing to run on; a failing
 * call leaves *handle alone. */
skgemm_status_t skgemm_create(skgemm_handle_t* handle);
/* Frees the handle; launches already made go on. It waits for nothing and makes no CUDA call, so it may be called while
 * a stream is captured. NULL or a destroyed handle gives NOT_INITIALIZED, the latter until a thousand handles more have
 * been destroyed: then its memory may serve a new one. */
skgemm_status_t skgemm_destroy(skgemm_handle_t handle);

skgemm_status_t skgemm_set_stream(skgemm_handle_t handle, skgemm_stream_t stream);
skgemm_status_t skgemm_get_stream(skgemm_handle_t handle, skgemm_stream_t* stream);
skgemm_status_t skgemm_set_pointer_mode(skgemm_handle_t handle, skgemm_pointer_mode_t mode);
skgemm_status_t skgemm_get_pointer_mode(skgemm_handle_t handle, skgemm_pointer_mode_t* mode);
skgemm_status_t skgemm_set_math_mode(skgemm_handle_t handle, skgemm_math_mode_t mode);
skgemm_status_t skgemm_get_math_mode(skgemm_handle_t handle, skgemm_math_mode_t* mode);
/* Uses at most `sms` multiprocessors; 0 means all. More than the device has, or less than 0, is INVALID_VALUE. As the
 * device spreads CTAs over all multiprocessors, a limited product has at most `sms` CTAs, whatever grid is forced. */
skgemm_status_t skgemm_set_sm_limit(skgemm_handle_t handle, int sms);
skgemm_status_t skgemm_get_sm_limit(skgemm_handle_t handle, int* sms);
/* Lends device memory instead of the library's own; the caller keeps it alive, and for one stream at a time. Each call
 * that uses it clears its first 16 KiB in stream order, so between calls it may be anybody's scratch. (NULL, 0) goes
 * back to the library's own; (NULL, n > 0) is INVALID_VALUE.
 * It holds partial sums and, for fp16 and bf16 on sm_90, aligned copies of operands that TMA can't read as they lie:
 * those whose address, leading dimension or (in a batch) stride is no multiple of 16 bytes, or whose leading dimension
 * or stride is 2^40 bytes or more, or its stride negative. A copy takes 2 bytes for each element of A or B, columns
 * rounded up to 128 bytes (shorter ones than 256 bytes: to 32), each batch entry to 256; entries that share an operand,
 * by a stride of 0, share its copy. The library's own workspace for a product is 1 GiB at most.
 * Too little never fails: the schedule falls back towards data-parallel, and where the copies don't fit beside those 16
 * KiB the kernel for every part since sm_80 (f16_mma, bf16_mma) takes the operands as they lie, which can take several
 * times as long. skgemm_gemm_plan shows the kernel. */
skgemm_status_t skgemm_set_workspace(skgemm_handle_t handle, void* workspace, size_t bytes);
/* Forces a schedule. `parameter` is the split for FIXED_SPLIT and the grid size for STREAM_K; 0 lets the model choose
 * it; the others take 0. A forced schedule that the workspace can't hold, or that needs more than 4096 arrival
 * counters (one for each tile of FIXED_SPLIT, one for each worker of the others; for fp16 and bf16 on sm_90 twice as
 * many, times the CTAs of a cluster), or whose shared k-steps times workers (for FIXED_SPLIT: tiles, and k-steps of a
 * tile, times the split) reach 2^31 (2^30), runs as DATA_PARALLEL; skgemm_gemm_plan shows it. A product of 2^30 tiles
 * or more is NOT_SUPPORTED: cut it in parts. */
skgemm_status_t skgemm_set_schedule(skgemm_handle_t handle, skgemm_schedule_t schedule, int64_t parameter);
/* Forces a CTA's tile in kernels whose tile width is chosen at run time (fp64; fp16 and bf16 on sm_90); kernels with
 * a fixed tile ignore it. width 0 lets the model choose; otherwise it is a multiple of 8 up to 256, rounded up to one
 * that the kernel has: of fp16 and bf16 a multiple of 16, of fp64 16, 32, 48, 64, 96 or 128, which is its widest.
 * Every such width runs in both orientations, however the operands are aligned, while the workspace has room for
 * their copies (skgemm_set_workspace). INVALID_VALUE for others. skgemm_gemm_plan shows the tile. */
skgemm_status_t skgemm_set_tile(skgemm_handle_t handle, int32_t width, skgemm_orientation_t orientation);
/* Forces how many CTAs make a cluster, along m and along n, in kernels that can share loads within one (fp16 and bf16
 * on sm_90); the others ignore it. (0, 0) lets the model choose; otherwise each is 1, 2 or 4, and there are at most 8
 * CTAs; INVALID_VALUE for others.
 * Where such a cluster can't be, as an SM limit may leave no room, the model chooses among those that can.
 * skgemm_gemm_plan shows the cluster. */
skgemm_status_t skgemm_set_cluster(skgemm_handle_t handle, int32_t cluster_m, int32_t cluster_n);

/* C = alpha*op(A)*op(B) + beta*C in fp32, fp64, and fp16 with fp32 accumulation (alpha and beta float).
 * INVALID_VALUE, with the first bad argument named, when: op not N, T, C; m, n or k < 0; lda < max(1, op_a == N ? m :
 * k), ldb < max(1, op_b == N ? k : n), ldc < max(1, m); alpha or beta NULL; A, B or C, when it would be read or
 * written, NULL, out of the device's reach or not at a multiple of its elements' size. A or B may be NULL where alpha
 * is on the device, if it is 0 there. m == 0 or n == 0 returns at once. `half` data are IEEE binary16 bit patterns. */
skgemm_status_t skgemm_sgemm(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m, int64_t n,
                             int64_t k, const float* alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                             const float* beta, float* c, int64_t ldc);
skgemm_status_t skgemm_dgemm(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m, int64_t n,
                             int64_t k, const double* alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
                             const double* beta, double* c, int64_t ldc);
skgemm_status_t skgemm_hgemm(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m, int64_t n,
                             int64_t k, const float* alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                             const float* beta, void* c, int64_t ldc);

/* The same for `batch` products at constant distances (see skgemm_gemm_t); batch < 0 is INVALID_VALUE, 0 returns. */
skgemm_status_t skgemm_sgemm_strided_batched(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m,
                                             int64_t n, int64_t k, const float* alpha, const float* a, int64_t lda,
                                             int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b,
                                             const float* beta, float* c, int64_t ldc, int64_t stride_c, int64_t batch);
skgemm_status_t skgemm_dgemm_strided_batched(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m,
                                             int64_t n, int64_t k, const double* alpha, const double* a, int64_t lda,
                                             int64_t stride_a, const double* b, int64_t ldb, int64_t stride_b,
                                             const double* beta, double* c, int64_t ldc, int64_t stride_c,
                                             int64_t batch);
skgemm_status_t skgemm_hgemm_strided_batched(skgemm_handle_t handle, skgemm_op_t op_a, skgemm_op_t op_b, int64_t m,
                                             int64_t n, int64_t k, const float* alpha, const void* a, int64_t lda,
                                             int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b,
                                             const float* beta, void* c, int64_t ldc, int64_t stride_c, int64_t batch);

/* Any supported types and batch. NOT_SUPPORTED for other type triples. */
skgemm_status_t skgemm_gemm_ex(skgemm_handle_t handle, const skgemm_gemm_t* gemm);
/* What skgemm_gemm_ex would run, without running it; pointers count for their alignment only. The kernel is "none" when
 * m or n is 0 (batch 0 means 1) and "scale" when only k is; then everything else is 0. NOT_SUPPORTED for a product with
 * too many k-steps to count in 64 bits. */
skgemm_status_t skgemm_gemm_plan(skgemm_handle_t handle, const skgemm_gemm_t* gemm, skgemm_plan_t* plan);
/* Bytes that skgemm_set_workspace should be given (256-byte aligned) so that this product runs as planned with ample
 * workspace. */
skgemm_status_t skgemm_gemm_workspace(skgemm_handle_t handle, const skgemm_gemm_t* gemm, size_t* bytes);

#undef SKGEMM_AS_INT
#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
