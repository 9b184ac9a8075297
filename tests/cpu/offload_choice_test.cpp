// Where host_gemm sends a product, on a stand-in for the GPU. SKGEMM_OFFLOAD is read once in a process, so CTest runs
// this program once for each value (CMakeLists.txt here).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/gpu.h"
#include "src/host/host_gemm.h"
#include "src/host/offload.h"

namespace skgemm {
namespace {

struct FakeGpu {
  bool usable = true, initialized = false, fails = false, dirty = false;
  double gpu_us = 1, link_gbs = 1e6;
  int asked = 0, staged = 0;        // questions to the driver, products
  std::vector<const void*> device, managed, unknown;  // pointers into such memory
};
FakeGpu fake;

}  // namespace

namespace gpu {

Availability availability() { return ++fake.asked, Availability{fake.usable, fake.usable ? "" : "there is no GPU"}; }
bool initialized() { return fake.initialized; }
Memory memory_of(const void* pointer) {
  const auto has = [pointer](const auto& pointers) { return std::ranges::count(pointers, pointer) > 0; };
  return has(fake.device)    ? Memory::device
         : has(fake.managed) ? Memory::managed
         : has(fake.unknown) ? Memory::unknown
                             : Memory::host;
}
Status plan(const GemmCall&, const LaunchContext&, Plan* out) {
  return out->predicted_us = fake.gpu_us, Status::success();
}
std::optional<LinkModel> link_model() { return LinkModel{fake.link_gbs, fake.link_gbs, 0}; }
Status gemm_staged(const GemmCall&, bool* c_dirty) {
  ++fake.staged;
  *c_dirty = fake.dirty;
  return fake.fails ? Status{SKGEMM_STATUS_EXECUTION_FAILED, "it broke"} : Status::success();
}

}  // namespace gpu

namespace {

enum class Setting { automatic, always, never };
Setting setting() {
  const char* text = std::getenv("SKGEMM_OFFLOAD");
  const std::string word = text == nullptr ? "auto" : text;
  return word == "always" ? Setting::always : word == "never" ? Setting::never : Setting::automatic;
}

struct Served {
  bool cpu;
  std::string said;
};

// A product of n^3 whose CPU side only notes that it was asked.
Served serve(int64_t n, double alpha = 1, const double* c = nullptr) {
  const double beta = 0.5;
  bool cpu = false;
  static double there[2];
  static std::vector<double> room(4'000'000);  // where C is really scaled
  auto* c_data = const_cast<double*>(c == nullptr ? room.data() : c);
  const GemmCall call{.op_a = Op::n,
                      .op_b = Op::n,
                      .m = n,
                      .n = n,
                      .k = n,
                      .in = DataType::f64,
                      .out = DataType::f64,
                      .scalar_type = DataType::f64,
                      .scalars = PointerMode::host,
                      .alpha = &alpha,
                      .beta = &beta,
                      .a = {&there[0], n, 0},
                      .b = {&there[1], n, 0},
                      .c = {c_data, n, 0},
                      .batch = 1,
                      .name = "dgemm_"};
  testing::internal::CaptureStderr();
  host_gemm(call, {[](const void* flag) { return *static_cast<bool*>(const_cast<void*>(flag)) = true; }, &cpu});
  return {cpu, testing::internal::GetCapturedStderr()};
}

class OffloadChoice : public testing::Test {
 protected:
  void SetUp() override { fake = {}; }
};

constexpr int64_t kLarge = 2000, kSmall = 100;

TEST_F(OffloadChoice, SmallProductsDoNotTouchTheDriver) {
  const Served served = serve(kSmall);
  EXPECT_EQ(served.cpu, setting() != Setting::always);
  EXPECT_TRUE(setting() == Setting::always || fake.asked == 0);
}

TEST_F(OffloadChoice, LargeProductsGoWhereTheModelSays) {
  EXPECT_EQ(serve(kLarge).cpu, setting() == Setting::never);
  fake.link_gbs = 1e-6;
  EXPECT_EQ(serve(kLarge).cpu, setting() != Setting::always);
  fake.link_gbs = 1e6;
  fake.gpu_us = 1e12;
  EXPECT_EQ(serve(kLarge).cpu, setting() != Setting::always);
}

TEST_F(OffloadChoice, NoGpuMeansTheCpu) {
  fake.usable = false;
  const Served served = serve(kLarge);
  EXPECT_TRUE(served.cpu);
  EXPECT_EQ(fake.staged, 0);
  EXPECT_NE(served.said.find(setting() == Setting::never ? "SKGEMM_OFFLOAD=never" : "there is no GPU"),
            std::string::npos)
      << served.said;
}

TEST_F(OffloadChoice, ScalingAloneStaysOnTheCpu) {
  for (const Served& served : {serve(kLarge, 0), serve(0)}) {
    EXPECT_NE(served.said.find(" on=cpu "), std::string::npos) << served.said;
    EXPECT_FALSE(served.cpu);  // our own loops do it: not every CPU BLAS keeps to BLAS's rules there
  }
  EXPECT_EQ(fake.staged, 0);
}

TEST_F(OffloadChoice, AFailureFallsBackAndIsSaid) {
  fake.fails = true;
  const Served served = serve(kLarge);
  EXPECT_TRUE(served.cpu);
  EXPECT_NE(served.said.find(" on=cpu "), std::string::npos) << served.said;
  if (setting() != Setting::never) {
    EXPECT_NE(served.said.find("it broke"), std::string::npos) << served.said;
  }
}

TEST_F(OffloadChoice, HalfWrittenResultsAreNotScaledAgain) {
  fake.fails = fake.dirty = true;
  const Served served = serve(kLarge);
  EXPECT_EQ(served.cpu, setting() == Setting::never);
  if (setting() != Setting::never) {
    EXPECT_NE(served.said.find("C is wrong"), std::string::npos) << served.said;
  }
}

TEST_F(OffloadChoice, DeviceOperandsNeverReachTheCpu) {
  double on_device = 0;
  fake.initialized = true;
  fake.device = {&on_device};
  EXPECT_FALSE(serve(kSmall, 1, &on_device).cpu);
  EXPECT_FALSE(serve(kSmall, 0, &on_device).cpu);  // C = beta*C, there
  EXPECT_EQ(fake.staged, 2);
  fake.fails = true;
  const Served served = serve(kSmall, 1, &on_device);
  EXPECT_FALSE(served.cpu);
  EXPECT_NE(served.said.find("device or managed memory"), std::string::npos) << served.said;
  fake.staged = 0;
  serve(0, 1, &on_device);  // nothing to read or write
  EXPECT_EQ(fake.staged, 0);
}

// A kernel of the program's may still be writing it, and only work on the device waits for that.
TEST_F(OffloadChoice, ManagedOperandsNeverReachTheCpu) {
  double managed = 0;
  fake.initialized = true;
  fake.managed = {&managed};
  const Served served = serve(kSmall, 1, &managed);
  EXPECT_FALSE(served.cpu);
  EXPECT_EQ(fake.staged, 1);
  EXPECT_NE(served.said.find(" on=gpu "), std::string::npos) << served.said;
}

// CUDA can't say where it is: refused in words, not handed to a CPU BLAS that would fault.
TEST_F(OffloadChoice, UnknownMemoryNeverReachesTheCpu) {
  double unknown = 0;
  fake.initialized = fake.fails = true;
  fake.unknown = {&unknown};
  const Served served = serve(kSmall, 1, &unknown);
  EXPECT_FALSE(served.cpu);
  EXPECT_NE(served.said.find("it broke"), std::string::npos) << served.said;
}

TEST_F(OffloadChoice, OneLineForEachCall) {
  for (const int64_t n : {kSmall, kLarge}) {
    const std::string said = serve(n).said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_NE(said.find("why=\""), std::string::npos);
    EXPECT_EQ(said.find("why=\"\""), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace skgemm
