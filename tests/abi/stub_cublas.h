// A stand-in for libcublas.so.13, with its soname and its version node: answers what a handle is set to, and remembers
// the products it was asked for.
#pragma once
#include <cublas_v2.h>

#include <cstdint>

// A product's arguments, in either width.
struct StubCall {
  const char* name;
  cublasHandle_t handle;
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  const double *alpha, *a;
  int64_t lda;
  const double* b;
  int64_t ldb;
  const double* beta;
  double* c;
  int64_t ldc;
};

struct StubCublas {
  cudaStream_t stream;
  cublasPointerMode_t scalars;
  cublasMath_t math;
  int sms;
  cublasStatus_t getters, products;  // what they answer
  bool reenters;                     // cublasDgemm_v2 calls cublasDgemm_v2_64 by the process's symbol of that name
  int asked, called;                 // how often getters, and products
  StubCall last;
};

// What the process's one stub is set to and has seen.
extern "C" StubCublas* stub_cublas();
