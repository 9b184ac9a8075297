// The ways of computing a case that a benchmark compares.
#pragma once
#include <memory>
#include <string>

#include "skgemm.h"
#include "src/cli/cublas.h"

namespace skgemm::cli {

class Contender {
 public:
  virtual ~Contender() = default;
  // Enqueues the product. "" or what went wrong.
  virtual std::string multiply(const BenchCase& c, const CallOperands& operands) = 0;
};

// Where contenders work: one stream, and for each its own lent memory.
struct Workplace {
  CUstream_st* stream;
  void* workspace;
  size_t workspace_bytes;
};

// The library through its C API, by the model's choice or a forced schedule.
class OurContender : public Contender {
 public:
  OurContender(const Workplace& place, ScheduleKind forced);
  ~OurContender() override;
  OurContender(const OurContender&) = delete;
  OurContender& operator=(const OurContender&) = delete;

  std::string multiply(const BenchCase& c, const CallOperands& operands) override;
  // What multiply would run; a plan with an empty kernel name when the library gives none.
  skgemm_plan_t plan(const BenchCase& c, const CallOperands& operands);

 private:
  skgemm_handle_t handle_ = nullptr;
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
