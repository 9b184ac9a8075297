// The same call gives the same bits, whatever else runs: repeats beside a busy stream, several streams on one handle,
// several threads, chains of dependent products, an occupied device.
#include <array>
#include <thread>

#include "tests/gpu/device_kernels.h"
#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

GemmCase split_case(const TypePair& types) {
  GemmCase c;
  c.in = types.in, c.out = types.out;
  c.op = "TN", c.m = 16, c.n = 1000, c.k = 5000;
  return c;
}

class Bits : public GpuTest, public testing::WithParamInterface<TypePair> {};

TEST_P(Bits, ThousandRepeatsBesideABusyStream) {
  set_deadline(std::chrono::seconds(60));
  DeviceCase product(split_case(GetParam()));
  check(product.run(handle()), "gemm");
  check(cudaDeviceSynchronize(), "the kernel");
  ASSERT_TRUE(product.judge());
  const std::vector<std::byte> first = product.c_bytes();
  const Stream busy, mine;
  const skgemm_gemm_t call = product.call();
  check(skgemm_set_stream(handle(), mine), "skgemm_set_stream");
  for (int repeat = 0; repeat < 1000; ++repeat) {
    // Another number of free multiprocessors each time: another order of arrival at the counters.
    if (repeat % 4 == 0) occupy_sms(busy, 1 + repeat * 37 % sm_count(), 1);
    check(cudaMemsetAsync(call.c, 0xFF, static_cast<size_t>(size_of(GetParam().out)), mine), "spoil C");
    check(product.run(handle()), "gemm");
    mine.wait();
    ASSERT_EQ(product.c_bytes(), first) << "repeat " << repeat;
  }
}

TEST_P(Bits, EveryScheduleRepeats) {
  for (int64_t schedule = SKGEMM_SCHEDULE_DATA_PARALLEL; schedule <= SKGEMM_SCHEDULE_TWO_TILE; ++schedule) {
    check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(schedule), 0), "skgemm_set_schedule");
    GemmCase c = split_case(GetParam());
    c.m = 300, c.n = 500, c.k = 1100;
    DeviceCase product(c);
    check(product.run(handle()), "gemm");
    const std::vector<std::byte> first = product.c_bytes();
    for (int repeat = 0; repeat < 50; ++repeat) {
      product.reset_c();
      check(product.run(handle()), "gemm");
      ASSERT_EQ(product.c_bytes(), first) << "schedule " << schedule << ", repeat " << repeat;
    }
  }
}

// A stage that is given back before it has been read shows as another k-step's elements, seldom. So many deep products
// add up, under every schedule, as one wrong among them changes the sum.
TEST_P(Bits, SumsOfDeepProductsRepeat) {
  set_deadline(std::chrono::seconds(120));
  constexpr int kRounds = 400;
  for (const char* op : {"NN", "TN"}) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().in == DataType::f64 ? DataType::f64 : DataType::f32;
    c.op = op, c.m = 1504, c.n = 392, c.k = 2000, c.beta = 1;
    DeviceCase product(c);
    for (int64_t schedule = SKGEMM_SCHEDULE_AUTO; schedule <= SKGEMM_SCHEDULE_TWO_TILE; ++schedule) {
      check(skgemm_set_schedule(handle(), static_cast<skgemm_schedule_t>(schedule), 0), "skgemm_set_schedule");
      std::vector<std::byte> first;
      for (int sequence = 0; sequence < 3; ++sequence) {
        product.reset_c();
        for (int round = 0; round < kRounds; ++round) check(product.run(handle()), "gemm");
        const std::vector<std::byte> bits = product.c_bytes();
        if (sequence == 0) first = bits;
        ASSERT_EQ(bits, first) << op << ", schedule " << schedule;
      }
    }
  }
}

// One handle switched between two streams with no synchronisation: the launches share neither counters nor slots.
// C accumulates integers, so one wrong launch among them shows at the end.
TEST_P(Bits, TwoStreamsOneHandle) {
  set_deadline(std::chrono::seconds(30));
  constexpr int kRounds = 400;
  GemmCase c;
  c.in = GetParam().in, c.out = GetParam().in == DataType::f64 ? DataType::f64 : DataType::f32;
  c.m = 64, c.n = 130, c.k = 3000, c.beta = 1, c.fill = Fill::integer;
  GemmCase other = c;
  other.m = 200, other.seed = 2;
  std::array<DeviceCase, 2> products{DeviceCase(c), DeviceCase(other)};
  const Stream streams[2];
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < 2; ++i) {
      check(skgemm_set_stream(handle(), streams[i]), "skgemm_set_stream");
      check(products[i].run(handle()), "gemm");
    }
  }
  check(cudaDeviceSynchronize(), "the kernels");
  for (DeviceCase& product : products) {
    // rounds * product: the reference of one product with alpha = rounds, all integers below 2^24.
    GemmCase total = product.gemm_case();
    total.alpha = kRounds;
    EXPECT_TRUE(product.judge(reference_gemm(total, product.operands())));
  }
}

TEST_P(Bits, FourThreadsWithTheirOwnHandles) {
  set_deadline(std::chrono::seconds(60));
  std::array<std::string, 4> failures;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < failures.size(); ++t) {
    threads.emplace_back([&, t] {
      try {
        const Stream stream;
        const Handle own;
        check(skgemm_set_stream(own, stream), "skgemm_set_stream");
        for (int64_t round = 0; round < 25; ++round) {
          GemmCase c = split_case(GetParam());
          c.m = 20 + 13 * round, c.n = 100 + 7 * static_cast<int64_t>(t), c.k = 700, c.seed = round + 1;
          c.fill = Fill::integer;
          const testing::AssertionResult result = passes(own, c);
          if (!result) failures[t] = result.message();
        }
      } catch (const std::exception& error) {
        failures[t] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

// C(i+1) = C(i) * P, P a cyclic shift of the columns: after n products C is itself again, bit for bit. A launch that
// reads before its predecessor has written breaks the chain.
TEST_P(Bits, ChainOfDependentProducts) {
  constexpr int64_t n = 130;
  GemmCase c;
  c.in = c.out = GetParam().in;
  c.m = 70, c.n = n, c.k = n;
  DeviceCase product(c);
  GuardedMatrix& shift = product.operands().b;
  shift.fill(0.0);
  for (int64_t j = 0; j < n; ++j) shift.set((j + 1) % n, j, 1.0);
  product.refresh();
  skgemm_gemm_t step = product.call();
  void* const ends[] = {const_cast<void*>(step.a), step.c};
  for (int64_t i = 0; i < 2 * n; ++i) {
    step.a = ends[i % 2];
    step.c = ends[1 - i % 2];
    check(skgemm_gemm_ex(handle(), &step), "gemm");
  }
  check(cudaDeviceSynchronize(), "the kernels");
  // 2n products, an even number: the last one wrote A's place, with A's own values.
  Reference expected{c.m, n, 1, {}, std::vector<double>(static_cast<size_t>(c.m * n), 0.0)};
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < c.m; ++i) expected.value.push_back(product.operands().a.get(i, j));
  }
  GuardedMatrix result = product.operands().a;
  check(cudaMemcpy(result.frame().data(), static_cast<std::byte*>(ends[0]) - result.origin_bytes(),
                   result.frame().size(), cudaMemcpyDeviceToHost),
        "copy A");
  EXPECT_EQ(mismatch(result, expected), "");
  EXPECT_EQ(result.damage(), "");
}

// Grids far above what can be resident while another kernel holds all multiprocessors but one: nobody may wait for a
// CTA that has not started.
TEST_P(Bits, FinishesOnAnOccupiedDevice) {
  const Stream busy, mine;
  check(skgemm_set_stream(handle(), mine), "skgemm_set_stream");
  for (const int64_t g : {int64_t{2} * sm_count(), int64_t{6} * sm_count()}) {
    GemmCase c = split_case(GetParam());
    c.fill = Fill::integer;
    const DeviceCase product(c);
    check(skgemm_set_schedule(handle(), SKGEMM_SCHEDULE_STREAM_K, g), "skgemm_set_schedule");
    occupy_sms(busy, sm_count() - 1, 200);
    check(product.run(handle()), "gemm");
    mine.wait();
    EXPECT_TRUE(product.judge());
    busy.wait();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Bits, testing::ValuesIn(kKernelTypes), param_name);

class Lifetime : public GpuTest {};

TEST_F(Lifetime, ManyHandlesLeaveNoMemoryBehind) {
  set_deadline(std::chrono::seconds(60));
  GemmCase c = split_case(kTypePairs[0]);
  const DeviceCase product(c);
  const auto use_one = [&] {
    const Handle own;
    check(product.run(own), "gemm");
  };
  use_one();
  size_t before = 0, after = 0, total = 0;
  check(cudaMemGetInfo(&before, &total), "cudaMemGetInfo");
  for (int i = 0; i < 200; ++i) use_one();
  check(cudaMemGetInfo(&after, &total), "cudaMemGetInfo");
  EXPECT_GE(after + (size_t{64} << 20), before) << "200 handles kept device memory";
}

TEST_F(Lifetime, DestroyingOneHandleLeavesTheOther) {
  auto first = std::make_unique<Handle>();
  const Handle second;
  first.reset();
  EXPECT_TRUE(passes(second, split_case(kTypePairs[0])));
}

}  // namespace
}  // namespace skgemm::test
