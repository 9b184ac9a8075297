// cuBLAS, loaded at run time for comparison only. Its types are written out, so that neither building nor running needs
// it.
#pragma once
#include <memory>
#include <string>

#include "src/cli/bench_case.h"

struct CUstream_st;

namespace skgemm::cli {

// One call's operands in device memory, scalars in host memory.
struct CallOperands {
  const void *a, *b;
  void* c;
};

class Cublas {
 public:
  // From `path`, or where the loader finds libcublas.so.13 or .12. Throws std::runtime_error in words.
  static std::unique_ptr<Cublas> load(const std::string& path);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // "13.1.0"
  std::string version() const;
  // The handle's stream and workspace. Throws.
  void prepare(CUstream_st* stream, void* workspace, size_t workspace_bytes);
  // "" or what went wrong.
  std::string multiply(const BenchCase& c, const CallOperands& operands);

 private:
  struct Entry;
  explicit Cublas(std::unique_ptr<Entry> entry);

  std::unique_ptr<Entry> entry_;
  void* handle_ = nullptr;
};

}  // namespace skgemm::cli
