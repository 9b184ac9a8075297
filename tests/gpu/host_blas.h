// The fixture of the BLAS names' tests on a GPU: a case through any of them, and who served it, from the library's own
// log in the file that SKGEMM_LOG names.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/abi/entry_points.h"
#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {

enum class Interface { fortran, cblas_column, cblas_row };
inline std::string name_of(Interface i) {
  return i == Interface::fortran ? "Fortran" : i == Interface::cblas_column ? "CBLAS column-major" : "CBLAS row-major";
}

inline void call_any(Interface how, const GemmCase& c, const Places& at) {
  for (const EntryPoint& entry : kEntryPoints) {
    if (entry.type != c.in || entry.wide || entry.cblas != (how != Interface::fortran)) continue;
    return entry.call(arguments_of(c, at, how == Interface::cblas_row));
  }
  throw std::logic_error("no BLAS name multiplies " + to_string(c));
}

// The lines of the library's log, one for each call.
inline std::vector<std::string> decisions() {
  std::ifstream file(std::getenv("SKGEMM_LOG"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.find(" on=") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

// Managed memory that a test fills on the host.
class Managed {
 public:
  explicit Managed(const std::vector<std::byte>& from) : bytes_(from.size()) {
    check(cudaMallocManaged(&data_, bytes_), "cudaMallocManaged");
    std::copy(from.begin(), from.end(), data());
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  ~Managed() { cudaFree(data_); }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::vector<std::byte> bytes() const { return {data(), data() + bytes_}; }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

class HostBlas : public GpuTest, public testing::WithParamInterface<TypePair> {
 protected:
  GemmCase base() const {
    GemmCase c;
    c.in = c.out = GetParam().in;
    return c;
  }
  // Of all calls after the first `before`, and there are `count`.
  static void expect_on_gpu(size_t before, size_t count) {
    const std::vector<std::string> lines = decisions();
    ASSERT_EQ(lines.size(), before + count);
    for (size_t i = before; i < lines.size(); ++i) {
      EXPECT_NE(lines[i].find(" on=gpu "), std::string::npos) << "the log says: " << lines[i];
    }
  }
  static void expect_on_gpu() { expect_on_gpu(decisions().size() - 1, 1); }
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

}  // namespace skgemm::test
