// Lent workspaces: any size and alignment gives a right product, and nothing outside the lent bytes is touched.
#include <algorithm>

#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

class Workspace : public GpuTest, public testing::WithParamInterface<TypePair> {
 protected:
  // Few tiles and a long k: the planner splits.
  GemmCase splitting() const {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.op = "TN", c.m = 200, c.n = 70, c.k = 6000;
    return c;
  }
};

TEST_P(Workspace, QueriedSizeGivesThePlanOfAnAmpleOne) {
  DeviceCase product(splitting());
  const skgemm_gemm_t call = product.call();
  size_t bytes = 0;
  skgemm_plan_t plan{};
  check(skgemm_gemm_workspace(handle(), &call, &bytes), "skgemm_gemm_workspace");
  check(skgemm_gemm_plan(handle(), &call, &plan), "skgemm_gemm_plan");
  EXPECT_EQ(bytes, plan.workspace_bytes);
  ASSERT_GT(bytes, 0u) << "this shape should be split between CTAs; planned " << plan.kernel;

  check(product.run(handle()), "gemm");
  const std::vector<std::byte> with_own = product.c_bytes();
  const DeviceBuffer lent(bytes);
  check(skgemm_set_workspace(handle(), lent.data(), bytes), "skgemm_set_workspace");
  product.reset_c();
  check(product.run(handle()), "gemm");
  EXPECT_EQ(product.c_bytes(), with_own) << "the same plan must give the same bits";
  EXPECT_TRUE(product.judge());
}

TEST_P(Workspace, AnySizeAndAlignmentIsRightAndStaysInside) {
  DeviceCase product(splitting());
  const Reference expected = reference_gemm(product.gemm_case(), product.operands());
  const skgemm_gemm_t call = product.call();
  size_t exact = 0;
  check(skgemm_gemm_workspace(handle(), &call, &exact), "skgemm_gemm_workspace");
  ASSERT_GT(exact, 0u);
  set_deadline(std::chrono::seconds(30));
  constexpr size_t kBand = 1024;
  const std::byte pattern{0xA5};
  using Sizes = std::initializer_list<size_t>;
  for (const size_t bytes : Sizes{1, 255, 16384, 16385, exact / 2, exact - 1, exact, 2 * exact}) {
    for (const size_t offset : Sizes{0, 1, 4, 16, 100}) {
      std::vector<std::byte> image(bytes + offset + 2 * kBand, pattern);
      const DeviceBuffer lent(image);
      check(skgemm_set_workspace(handle(), lent.data() + kBand + offset, bytes), "skgemm_set_workspace");
      for (int repeat = 0; repeat < 2; ++repeat) {
        product.reset_c();
        check(product.run(handle()), "gemm");
        check(cudaDeviceSynchronize(), "the kernel");
        ASSERT_TRUE(product.judge(expected)) << "workspace of " << bytes << " bytes at +" << offset;
      }
      image = lent.download();
      const auto intact = [&](auto from, auto to) { return std::count(from, to, pattern) == to - from; };
      const auto begin = image.begin() + static_cast<std::ptrdiff_t>(kBand + offset);
      ASSERT_TRUE(intact(image.begin(), begin)) << "written before a workspace of " << bytes << " bytes at +" << offset;
      ASSERT_TRUE(intact(begin + static_cast<std::ptrdiff_t>(bytes), image.end()))
          << "written behind a workspace of " << bytes << " bytes at +" << offset;
      check(skgemm_set_workspace(handle(), nullptr, 0), "skgemm_set_workspace");
    }
  }
}

// Between two calls the memory is its owner's, who may use it as scratch for anything.
TEST_P(Workspace, DirtiedBetweenCalls) {
  DeviceCase product(splitting());
  const skgemm_gemm_t call = product.call();
  size_t bytes = 0;
  check(skgemm_gemm_workspace(handle(), &call, &bytes), "skgemm_gemm_workspace");
  ASSERT_GT(bytes, 0u);
  DeviceBuffer lent(bytes);
  check(skgemm_set_workspace(handle(), lent.data(), bytes), "skgemm_set_workspace");
  for (const int scratch : {0x00, 0x01, 0xA5, 0xFF}) {
    lent.upload(std::vector<std::byte>(bytes, static_cast<std::byte>(scratch)));
    product.reset_c();
    check(product.run(handle()), "gemm");
    check(cudaDeviceSynchronize(), "the kernel");
    ASSERT_TRUE(product.judge()) << "over bytes " << scratch;
  }
}

// One lent workspace under a forced split of many tiles, reused by calls of other shapes and types in between.
TEST_P(Workspace, ReusedByOtherShapes) {
  set_deadline(std::chrono::seconds(30));
  const size_t bytes = size_t{64} << 20;
  const DeviceBuffer lent(bytes);
  check(skgemm_set_workspace(handle(), lent.data(), bytes), "skgemm_set_workspace");
  for (int round = 0; round < 6; ++round) {
    for (const TypePair& types : kTypePairs) {
      GemmCase c = splitting();
      c.in = types.in, c.out = types.out, c.fill = Fill::integer;
      c.m = 100 + 60 * round, c.k = 1500;
      check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(2 + round % 4), 0), "skgemm_set_schedule");
      const DeviceCase product(c);
      check(product.run(handle()), "gemm");
      check(cudaDeviceSynchronize(), "the kernel");
      ASSERT_TRUE(product.judge());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Workspace, testing::ValuesIn(kKernelTypes), param_name);

class WorkspaceRules : public GpuTest {};

TEST_F(WorkspaceRules, NullWithASizeIsRefused) {
  EXPECT_EQ(skgemm_set_workspace(handle(), nullptr, 100), SKGEMM_STATUS_INVALID_VALUE);
  EXPECT_STRNE(skgemm_last_error(), "");
  EXPECT_EQ(skgemm_set_workspace(handle(), nullptr, 0), SKGEMM_STATUS_SUCCESS);
}

}  // namespace
}  // namespace skgemm::test
