// The BLAS names on host, device and managed pointers with SKGEMM_OFFLOAD=always: right, inside the matrix, beta once,
// and served by the GPU (the library's own log says so). Runs in its own process, because the library reads its
// environment once.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

extern "C" {
void sgemm_(const char*, const char*, const int32_t* m, const int32_t* n, const int32_t* k, const float* alpha,
            const float* a, const int32_t* lda, const float* b, const int32_t* ldb, const float* beta, float* c,
            const int32_t* ldc);
void dgemm_(const char*, const char*, const int32_t* m, const int32_t* n, const int32_t* k, const double* alpha,
            const double* a, const int32_t* lda, const double* b, const int32_t* ldb, const double* beta, double* c,
            const int32_t* ldc);
void hgemm_(const char*, const char*, const int32_t* m, const int32_t* n, const int32_t* k, const uint16_t* alpha,
            const uint16_t* a, const int32_t* lda, const uint16_t* b, const int32_t* ldb, const uint16_t* beta,
            uint16_t* c, const int32_t* ldc);
void cblas_sgemm(int layout, int, int, int32_t m, int32_t n, int32_t k, float alpha, const float* a, int32_t lda,
                 const float* b, int32_t ldb, float beta, float* c, int32_t ldc);
void cblas_dgemm(int layout, int, int, int32_t m, int32_t n, int32_t k, double alpha, const double* a, int32_t lda,
                 const double* b, int32_t ldb, double beta, double* c, int32_t ldc);
void cblas_hgemm(int layout, int, int, int32_t m, int32_t n, int32_t k, uint16_t alpha, const uint16_t* a, int32_t lda,
                 const uint16_t* b, int32_t ldb, uint16_t beta, uint16_t* c, int32_t ldc);
}

namespace skgemm::test {
namespace {

constexpr int kRowMajor = 101, kColMajor = 102;  // CBLAS_LAYOUT
int cblas_op(char op) { return op == 'N' ? 111 : op == 'T' ? 112 : 113; }

enum class Interface { fortran, cblas_column, cblas_row };
std::string name_of(Interface i) {
  return i == Interface::fortran ? "Fortran" : i == Interface::cblas_column ? "CBLAS column-major" : "CBLAS row-major";
}

template <class T>
struct Blas {
  void (*fortran)(const char*, const char*, const int32_t*, const int32_t*, const int32_t*, const T*, const T*,
                  const int32_t*, const T*, const int32_t*, const T*, T*, const int32_t*);
  void (*cblas)(int, int, int, int32_t, int32_t, int32_t, T, const T*, int32_t, const T*, int32_t, T, T*, int32_t);
};

// A, B and C of a column-major case, anywhere in memory.
struct Places {
  const std::byte *a, *b;
  std::byte* c;
};

// The row-major reading of the same memory: C^T = op(B)^T * op(A)^T, so operands and extents swap.
template <class T>
void call_blas(const Blas<T>& blas, Interface how, const GemmCase& c, const Places& at) {
  std::byte scalars[16];
  store_element(c.in, scalars, c.alpha);
  store_element(c.in, scalars + 8, c.beta);
  const T &alpha = *reinterpret_cast<const T*>(scalars), &beta = *reinterpret_cast<const T*>(scalars + 8);
  const T *a = reinterpret_cast<const T*>(at.a), *b = reinterpret_cast<const T*>(at.b);
  T* to = reinterpret_cast<T*>(at.c);
  const auto m = static_cast<int32_t>(c.m), n = static_cast<int32_t>(c.n), k = static_cast<int32_t>(c.k);
  const auto lda = static_cast<int32_t>(c.lda), ldb = static_cast<int32_t>(c.ldb), ldc = static_cast<int32_t>(c.ldc);
  const int op_a = cblas_op(c.op[0]), op_b = cblas_op(c.op[1]);
  switch (how) {
    case Interface::fortran:
      return blas.fortran(&c.op[0], &c.op[1], &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, to, &ldc);
    case Interface::cblas_column:
      return blas.cblas(kColMajor, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, to, ldc);
    case Interface::cblas_row:
      return blas.cblas(kRowMajor, op_b, op_a, n, m, k, alpha, b, ldb, a, lda, beta, to, ldc);
  }
}

void call_any(Interface how, const GemmCase& c, const Places& at) {
  switch (c.in) {
    case DataType::f64:
      return call_blas<double>({dgemm_, cblas_dgemm}, how, c, at);
    case DataType::f32:
      return call_blas<float>({sgemm_, cblas_sgemm}, how, c, at);
    default:
      return call_blas<uint16_t>({hgemm_, cblas_hgemm}, how, c, at);
  }
}

std::filesystem::path log_file() { return std::getenv("SKGEMM_LOG"); }

// The last line of the library's log.
std::string last_decision() {
  std::ifstream file(log_file());
  std::string line, last;
  while (std::getline(file, line)) last = line;
  return last;
}

class HostBlas : public GpuTest, public testing::WithParamInterface<TypePair> {
 protected:
  GemmCase base() const {
    GemmCase c;
    c.in = c.out = GetParam().in;
    return c;
  }
  static void expect_on_gpu() {
    EXPECT_NE(last_decision().find(" on=gpu "), std::string::npos) << "the log says: " << last_decision();
  }
  // Runs a case on host memory and judges it.
  static void expect_right(Interface how, const GemmCase& gemm_case) {
    const GemmCase c = completed(gemm_case);
    Operands o = make_operands(c);
    const Operands before = o;
    call_any(how, c,
             {o.a.frame().data() + o.a.origin_bytes(), o.b.frame().data() + o.b.origin_bytes(),
              o.c.frame().data() + o.c.origin_bytes()});
    EXPECT_EQ(mismatch(o.c, reference_gemm(c, before)), "") << name_of(how) << ": " << to_string(c);
    EXPECT_EQ(o.c.damage(), "") << name_of(how) << ": " << to_string(c);
    EXPECT_EQ(o.a.frame(), before.a.frame()) << "A was written: " << to_string(c);
    EXPECT_EQ(o.b.frame(), before.b.frame()) << "B was written: " << to_string(c);
  }
};

TEST_P(HostBlas, EveryInterfaceAndLayout) {
  set_deadline(std::chrono::seconds(60));
  for (const Interface how : {Interface::fortran, Interface::cblas_column, Interface::cblas_row}) {
    for (const char* op : {"NN", "NT", "TN", "TT", "CN"}) {
      for (const double beta : {0.0, 2.5}) {
        GemmCase c = base();
        c.op = op, c.m = 63, c.n = 130, c.k = 77, c.alpha = -1, c.beta = beta, c.fill = Fill::integer;
        const GemmCase tight = completed(c);
        c.lda = tight.lda + 3, c.ldb = tight.ldb + 1, c.ldc = tight.ldc + 5;
        c.offset_a = 1, c.offset_c = 3, c.tight_end = 1;
        expect_right(how, c);
        expect_on_gpu();
      }
    }
  }
}

TEST_P(HostBlas, Sizes) {
  set_deadline(std::chrono::seconds(60));
  constexpr int64_t extents[] = {1, 2, 7, 16, 33, 64, 129, 500};
  for (const int64_t m : extents) {
    for (const int64_t n : {int64_t{1}, int64_t{15}, int64_t{128}, 501 - m}) {
      GemmCase c = base();
      c.m = m, c.n = n, c.k = 1 + (m * n) % 200, c.ldc = m + 1, c.beta = m % 2 ? 1 : 0;
      expect_right(Interface::fortran, c);
      expect_on_gpu();
    }
  }
}

// Rules that need no product: whoever answers, the answer is the same.
TEST_P(HostBlas, DegenerateCalls) {
  for (const double beta : {0.0, 1.0, 2.5}) {
    GemmCase c = base();
    c.m = 20, c.n = 30, c.k = 0, c.ldc = 23, c.beta = beta, c.fill = Fill::integer;
    expect_right(Interface::fortran, c);
    c.k = 10, c.alpha = 0;
    expect_right(Interface::cblas_row, c);
    c.m = 0;
    expect_right(Interface::cblas_column, c);
  }
}

// Several panels each way: tall, wide, deep.
TEST_P(HostBlas, Panels) {
  set_deadline(std::chrono::seconds(120));
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{5001, 200, 150}, {150, 5003, 170}, {100, 90, 20'000}, {1200, 1300, 100}}) {
    GemmCase c = base();
    c.op = "TN", c.m = m, c.n = n, c.k = k, c.ldc = m + 7, c.beta = 1, c.fill = Fill::integer;
    expect_right(Interface::fortran, c);
    expect_on_gpu();
  }
}

// Operands in device memory, all or some of them, through the BLAS name.
TEST_P(HostBlas, DevicePointers) {
  GemmCase c = base();
  c.op = "NT", c.m = 100, c.n = 70, c.k = 60, c.beta = 2.5, c.fill = Fill::integer, c.ldc = 103;
  c = completed(c);
  for (int on_device = 1; on_device < 8; ++on_device) {  // bits: A, B, C
    Operands o = make_operands(c);
    const Operands before = o;
    const DeviceBuffer a(o.a.frame()), b(o.b.frame()), to(o.c.frame());
    const auto place = [&](int bit, const DeviceBuffer& device, GuardedMatrix& host) {
      return ((on_device & bit) ? device.data() : host.frame().data()) + host.origin_bytes();
    };
    call_any(Interface::fortran, c, {place(1, a, o.a), place(2, b, o.b), place(4, to, o.c)});
    if (on_device & 4) o.c.frame() = to.download();
    EXPECT_EQ(mismatch(o.c, reference_gemm(c, before)), "") << "operands on the device: " << on_device;
    EXPECT_EQ(o.c.damage(), "") << "operands on the device: " << on_device;
    expect_on_gpu();
  }
}

TEST_P(HostBlas, ManagedPointers) {
  GemmCase c = base();
  c.m = 90, c.n = 40, c.k = 50, c.beta = -1, c.fill = Fill::integer, c.ldc = 91;
  c = completed(c);
  const Operands o = make_operands(c);
  std::vector<std::byte*> managed;
  for (const GuardedMatrix* x : {&o.a, &o.b, &o.c}) {
    void* data = nullptr;
    check(cudaMallocManaged(&data, x->frame().size()), "cudaMallocManaged");
    managed.push_back(static_cast<std::byte*>(data));
    std::copy(x->frame().begin(), x->frame().end(), managed.back());
  }
  call_any(Interface::fortran, c,
           {managed[0] + o.a.origin_bytes(), managed[1] + o.b.origin_bytes(), managed[2] + o.c.origin_bytes()});
  GuardedMatrix result = o.c;
  std::copy_n(managed[2], result.frame().size(), result.frame().begin());
  EXPECT_EQ(mismatch(result, reference_gemm(c, o)), "");
  EXPECT_EQ(result.damage(), "");
  expect_on_gpu();
  for (std::byte* data : managed) check(cudaFree(data), "cudaFree");
}

TEST_P(HostBlas, ThreadsWithTheirOwnData) {
  set_deadline(std::chrono::seconds(60));
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t round = 0; round < 20; ++round) {
        GemmCase c = base();
        c.m = 30 + 17 * t, c.n = 50 + round, c.k = 40 + t, c.seed = 100 * t + round, c.fill = Fill::integer, c.beta = 1;
        expect_right(Interface::fortran, c);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Takes device memory until about `rest` bytes are free.
std::vector<DeviceBuffer> fill_device(size_t rest) {
  std::vector<DeviceBuffer> taken;
  size_t free_bytes = 0, total = 0;
  for (int i = 0; i < 8; ++i) {
    check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    if (free_bytes < rest + (size_t{4} << 20)) break;
    taken.emplace_back(free_bytes - rest);
  }
  return taken;
}

// C alone is as large as all that is left on the device: in tiles, still on the GPU, every row and column is there and
// beta was applied once. Then with almost nothing left: whoever computes it, it is right.
TEST_P(HostBlas, NearlyFullDevice) {
  set_deadline(std::chrono::seconds(120));
  constexpr int64_t kLeft = int64_t{64} << 20;  // bytes
  expect_right(Interface::fortran, base());     // what the first call sets up is there
  GemmCase c = base();
  c.m = 3000, c.k = 20, c.n = kLeft / size_of(c.in) / c.m, c.ldc = 3001, c.beta = 2.5, c.fill = Fill::integer;
  {
    const std::vector<DeviceBuffer> taken = fill_device(kLeft);
    expect_right(Interface::fortran, c);
    expect_on_gpu();
  }
  const std::vector<DeviceBuffer> taken = fill_device(size_t{4} << 20);
  c.n = 300;
  expect_right(Interface::fortran, c);
}

// An illegal call leaves C alone, whoever reports it. Where no CPU BLAS is installed the library says it on stderr.
TEST_P(HostBlas, IllegalCallLeavesCAlone) {
  GemmCase c = base();
  c.m = 10, c.n = 10, c.k = 10, c.fill = Fill::integer, c.beta = 1;
  c = completed(c);
  Operands o = make_operands(c);
  const std::vector<std::byte> before = o.c.frame();
  c.ldc = 9;
  call_any(Interface::fortran, c,
           {o.a.frame().data() + o.a.origin_bytes(), o.b.frame().data() + o.b.origin_bytes(),
            o.c.frame().data() + o.c.origin_bytes()});
  EXPECT_EQ(o.c.frame(), before);
}

INSTANTIATE_TEST_SUITE_P(All, HostBlas, testing::ValuesIn(kKernelTypes), param_name);

}  // namespace
}  // namespace skgemm::test

// The environment must be there before the library reads it, however this program was started.
int main(int argc, char** argv) {
  if (std::getenv("SKGEMM_LOG") == nullptr) {
    const std::string name = "skgemm_host_test." + std::to_string(getpid()) + ".log";
    const std::string log = std::filesystem::temp_directory_path() / name;
    setenv("SKGEMM_OFFLOAD", "always", 1);
    setenv("SKGEMM_VERBOSE", "1", 1);
    setenv("SKGEMM_LOG", log.c_str(), 1);
    execv("/proc/self/exe", argv);
  }
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  std::filesystem::remove(std::getenv("SKGEMM_LOG"));
  return result;
}
