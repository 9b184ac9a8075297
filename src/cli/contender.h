// The ways of computing a case that a benchmark compares.
#pragma once
#include <memory>
#include <string>

#include "kernels/catalogue.h"
#include "skgemm.h"
#include "src/cli/cublas.h"

namespace skgemm::cli {

class Contender {
 public:
  virtual ~Contender() = default;
  // Enqueues the product. "" or what went wrong.
  virtual std::string multiply(const BenchCase& c, const CallOperands& operands) = 0;
};

// The library through its C API, by the model's choice or what is forced. Its workspace is its own, as in a user's
// program: a lent one costs a memset per call.
class OurContender : public Contender {
 public:
  explicit OurContender(CUstream_st* stream);
  ~OurContender() override;
  OurContender(const OurContender&) = delete;
  OurContender& operator=(const OurContender&) = delete;

  std::string multiply(const BenchCase& c, const CallOperands& operands) override;
  // For the calls from now on; ScheduleKind{} and 0 leave the choice to the model.
  void force(ScheduleKind schedule, int64_t parameter);
  // The tile's width and on which side of C it lies, where the kernel has a choice.
  void force_tile(int32_t width, skgemm_orientation_t orientation);
  // CTAs that share their loads, likewise; {0, 0} leaves it to the model.
  void force_cluster(const ClusterShape& cluster);
  // What multiply would run; a plan with an empty kernel name when the library gives none.
  skgemm_plan_t plan(const BenchCase& c, const CallOperands& operands);

 private:
  skgemm_handle_t handle_ = nullptr;
};

// The stream of a contender and the memory that it is lent.
struct Workplace {
  CUstream_st* stream;
  void* workspace;
  size_t workspace_bytes;
};

class CublasContender : public Contender {
 public:
  CublasContender(const Workplace& place, std::unique_ptr<Cublas> cublas) : cublas_(std::move(cublas)) {
    cublas_->prepare(place.stream, place.workspace, place.workspace_bytes);
  }
  std::string multiply(const BenchCase& c, const CallOperands& operands) override {
    return cublas_->multiply(c, operands);
  }
  std::string version() const { return cublas_->version(); }

 private:
  std::unique_ptr<Cublas> cublas_;
};

}  // namespace skgemm::cli
