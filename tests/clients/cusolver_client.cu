// A program that solves systems by cuSOLVER, which multiplies by cuBLAS: LU (getrf, getrs) and Cholesky (potrf, potrs)
// of fp64 matrices whose elements are a function of their place, so that the residual is summed from the matrix itself
// by a kernel of this program. cusolver_client [n [lu|cholesky]]: both if not said. Exits with 1 where a residual is 16
// or more, 77 without a GPU.
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

template <class Status>
void check(Status status, const char* what) {
  if (static_cast<int>(status) == 0) return;
  std::printf("%s failed: %d\n", what, static_cast<int>(status));
  std::exit(1);
}

enum class Kind { general, positive_definite };

// Between -0.5 and 0.5: the finaliser of MurmurHash3 on the place.
__host__ __device__ double uniform(uint64_t row, uint64_t column) {
  uint64_t h = row << 32 | column;
  for (const uint64_t factor : {0xff51afd7ed558ccdull, 0xc4ceb9fe1a85ec53ull}) h = (h ^ h >> 33) * factor;
  return static_cast<double>((h ^ h >> 33) >> 11) * 0x1p-53 - 0.5;
}

// A symmetric matrix of such elements has no eigenvalue beyond about 0.58 sqrt(n), so 2 sqrt(n) on its diagonal makes
// it positive definite without hiding the others.
__device__ double element(Kind kind, int n, int row, int column) {
  if (kind == Kind::general) return uniform(row, column);
  const double value = uniform(max(row, column), min(row, column));
  return row == column ? value + 2 * sqrt(static_cast<double>(n)) : value;
}

__global__ void fill(Kind kind, int n, double* a, double* b) {
  const int64_t size = static_cast<int64_t>(n) * n, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    a[i] = element(kind, n, static_cast<int>(i % n), static_cast<int>(i / n));
    if (i < n) b[i] = uniform(i, n);
  }
}

constexpr int kThreads = 256;

// Of a row a block: |A x - b|, and the sum of the row's |a|.
__global__ void residual(Kind kind, int n, const double* x, double* distance, double* weight) {
  __shared__ double products[kThreads], sizes[kThreads];
  const int row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  double product = 0, size = 0;
  for (int column = thread; column < n; column += kThreads) {
    const double a = element(kind, n, row, column);
    product += a * x[column];
    size += fabs(a);
  }
  products[thread] = product;
  sizes[thread] = size;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    products[thread] += products[thread + half];
    sizes[thread] += sizes[thread + half];
  }
  if (thread > 0) return;
  distance[row] = fabs(products[0] - uniform(row, n));
  weight[row] = sizes[0];
}

template <class T>
struct Device {
  explicit Device(int64_t count) {
    check(cudaMalloc(&data, static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T)), "cudaMalloc");
  }
  ~Device() { cudaFree(data); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  T* data = nullptr;
};

double largest(const double* device, int n) {
  std::vector<double> values(static_cast<size_t>(n));
  check(cudaMemcpy(values.data(), device, values.size() * sizeof(double), cudaMemcpyDeviceToHost), "cudaMemcpy");
  double most = 0;
  for (const double value : values) {
    if (std::isnan(value)) return value;
    most = std::max(most, std::abs(value));
  }
  return most;
}

struct System {
  Kind kind;
  int n;
  Device<double> a{int64_t{n} * n}, b{n}, distance{n}, weight{n};
  Device<int> pivots{n}, info{1};

  void make() { fill<<<4096, kThreads>>>(kind, n, a.data, b.data); }

  // max|A x - b| / (max row sum of A * max|x| * n * eps), with x in b.
  double scaled_residual() {
    residual<<<static_cast<unsigned>(n), kThreads>>>(kind, n, b.data, distance.data, weight.data);
    check(cudaDeviceSynchronize(), "the residual");
    return largest(distance.data, n) / (largest(weight.data, n) * largest(b.data, n) * n * (DBL_EPSILON / 2));
  }
};

int workspace(cusolverDnHandle_t handle, System& s) {
  int elements = 0;
  if (s.kind == Kind::general) {
    check(cusolverDnDgetrf_bufferSize(handle, s.n, s.n, s.a.data, s.n, &elements), "getrf_bufferSize");
  } else {
    check(cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, s.n, s.a.data, s.n, &elements),
          "potrf_bufferSize");
  }
  return elements;
}

double seconds_to_factorise(cusolverDnHandle_t handle, System& s, double* work, int elements) {
  check(cudaDeviceSynchronize(), "making the system");
  const auto begin = std::chrono::steady_clock::now();
  if (s.kind == Kind::general) {
    check(cusolverDnDgetrf(handle, s.n, s.n, s.a.data, s.n, work, s.pivots.data, s.info.data), "getrf");
  } else {
    check(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, s.n, s.a.data, s.n, work, elements, s.info.data), "potrf");
  }
  check(cudaDeviceSynchronize(), "factorising");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void solve(cusolverDnHandle_t handle, System& s) {
  if (s.kind == Kind::general) {
    check(cusolverDnDgetrs(handle, CUBLAS_OP_N, s.n, 1, s.a.data, s.n, s.pivots.data, s.b.data, s.n, s.info.data),
          "getrs");
  } else {
    check(cusolverDnDpotrs(handle, CUBLAS_FILL_MODE_LOWER, s.n, 1, s.a.data, s.n, s.b.data, s.n, s.info.data), "potrs");
  }
}

bool run(cusolverDnHandle_t handle, Kind kind, int n) {
  System s{kind, n};
  const int elements = workspace(handle, s);
  const Device<double> work(elements);
  double seconds = 0;
  // The first time loads kernels; the second is reported.
  for (int i = 0; i < 2; ++i) {
    s.make();
    seconds = seconds_to_factorise(handle, s, work.data, elements);
  }
  int info = 0;
  check(cudaMemcpy(&info, s.info.data, sizeof info, cudaMemcpyDeviceToHost), "cudaMemcpy");
  solve(handle, s);
  const double error = s.scaled_residual(), cube = static_cast<double>(n) * n * n;
  const double flops = kind == Kind::general ? 2 * cube / 3 : cube / 3;
  const bool good = info == 0 && error < 16;
  std::printf("%-8s n=%d seconds=%.4f gflops=%.0f residual=%.3g info=%d %s\n",
              kind == Kind::general ? "lu" : "cholesky", n, seconds, flops / seconds * 1e-9, error, info,
              good ? "passed" : "FAILED");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 8192;
  const char* only = argc > 2 ? argv[2] : "";
  const bool no_cholesky = std::strcmp(only, "lu") == 0, no_lu = std::strcmp(only, "cholesky") == 0;
  if (n < 1 || argc > 3 || (argc == 3 && !no_lu && !no_cholesky)) {
    std::puts("usage: cusolver_client [n [lu|cholesky]]");
    return 2;
  }
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device: %s\n", cudaGetErrorString(error));
    return 77;
  }
  cusolverDnHandle_t handle = nullptr;
  check(cusolverDnCreate(&handle), "cusolverDnCreate");
  const bool lu = no_lu || run(handle, Kind::general, n);
  const bool cholesky = no_cholesky || run(handle, Kind::positive_definite, n);
  check(cusolverDnDestroy(handle), "cusolverDnDestroy");
  return lu && cholesky ? 0 : 1;
}
