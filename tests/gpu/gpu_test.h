// The fixture of every GPU test (skip without a device, deadline, handle) and the one way a case is run and judged.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "tests/support/device_buffer.h"
#include "tests/support/gemm_case.h"
#include "tests/support/reference.h"
#include "tests/support/watchdog.h"

namespace skgemm::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  // For tests that need longer than 10 s.
  void set_deadline(std::chrono::seconds limit);
  // Skips the test when the device has not this much memory free.
  bool has_memory(size_t bytes) const;
  Handle& handle() { return *handle_; }
  static int sm_count();

 private:
  std::unique_ptr<Watchdog> watchdog_;
  std::unique_ptr<Handle> handle_;
};

// What a case forces on the handle, besides a workspace.
struct Modes {
  int64_t width = 0, orientation = 0, cluster_m = 0, cluster_n = 0, schedule = 0, parameter = 0, sms = 0;
};

// Puts a handle's modes as a case asks, and back to the defaults.
class HandleModes {
 public:
  HandleModes(skgemm_handle_t handle, const GemmCase& c);
  HandleModes(const HandleModes&) = delete;
  HandleModes& operator=(const HandleModes&) = delete;
  ~HandleModes();

 private:
  skgemm_handle_t handle_;
  DeviceBuffer lent_;
};

// A case on the device: operands uploaded, ready to be run any number of times.
class DeviceCase {
 public:
  explicit DeviceCase(const GemmCase& gemm_case);

  const GemmCase& gemm_case() const { return case_; }
  skgemm_gemm_t call() const;
  // The case is another one from now on, as failures print it; HandleModes puts it on the handle.
  void force(const Modes& modes);
  // Puts the product on the handle's stream.
  skgemm_status_t run(skgemm_handle_t handle) const;
  void reset_c() { c_.upload(operands_.c.frame()); }
  std::vector<std::byte> c_bytes() const { return c_.download(); }
  Operands& operands() { return operands_; }
  // Uploads A, B and C again after a test changed them.
  void refresh();
  const DeviceBuffer& scalars() const { return scalars_; }

  // After a synchronisation: C right, guards intact, A and B unchanged.
  testing::AssertionResult judge() const;
  testing::AssertionResult judge(const Reference& expected) const;

 private:
  GemmCase case_;
  Operands operands_;
  DeviceBuffer a_, b_, c_, scalars_;
  double host_scalars_[2];  // alpha, beta in the call's scalar type
};

// Runs the case on the handle (schedule, SM limit, workspace as it says; the handle is put back) and judges it.
testing::AssertionResult passes(skgemm_handle_t handle, const GemmCase& gemm_case);
// How the handle would run the case.
skgemm_plan_t plan_of(skgemm_handle_t handle, const GemmCase& c);

// main() of a program of GPU tests: 0 when tests passed and none failed, 77 when all were skipped, 1 otherwise, which
// includes a filter that matches nothing.
int run_all_tests(int argc, char** argv);

// The command that repeats a case alone.
std::string repeat_command(const GemmCase& gemm_case);

}  // namespace skgemm::test
