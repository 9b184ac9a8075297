// Products that read what the launch before them wrote, or write what it reads. Kernels of sm_90 start before the one
// before has ended, and must wait for it.
#include <utility>

#include "tests/gpu/known_product.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

constexpr int kRounds = 50;

enum class Between { nothing, poison, scale };

// A*B of a chain, for the two A that take turns.
GemmCase inner_case(DataType type, int64_t seed) {
  GemmCase c;
  c.in = c.out = type;
  c.op = "TN", c.m = 260, c.n = 200, c.k = 2048, c.seed = seed, c.fill = Fill::integer;
  return c;
}
using Inner = std::array<Reference, 2>;

// D += (A*B)*E with one of two A by turns, so that a stale or half-written A*B shows in the sum: A*B is long, on few
// multiprocessors, and *E short, so that there is room to start it at once.
class Chain {
 public:
  Chain(DataType type, const Placement& where, const Modes& modes)
      : modes_(modes),
        first_{DeviceCase(placed(inner_case(type, 1), where)), DeviceCase(placed(inner_case(type, 2), where))},
        second_(outer_case(where, first_[0].gemm_case())) {}

  // All rounds, on the handle's stream.
  void run(skgemm_handle_t handle, cudaStream_t stream, Between between) const {
    const skgemm_gemm_t target = first_[0].call();
    const size_t bytes =
        static_cast<size_t>((target.ldc * (target.n - 1) + target.m) * size_of(first_[0].gemm_case().out));
    for (int round = 0; round < kRounds; ++round) {
      if (between == Between::poison) check(cudaMemsetAsync(target.c, 0xFF, bytes, stream), "poison A*B");
      skgemm_gemm_t call = first_[static_cast<size_t>(round % 2)].call();
      call.c = target.c;
      check(skgemm_set_schedule(handle, static_cast<skgemm_schedule_t>(modes_.schedule), modes_.parameter), "schedule");
      check(skgemm_gemm_ex(handle, &call), "A*B");
      if (between == Between::scale) {
        const float two = 2;
        call.k = 0, call.beta = &two;
        check(skgemm_gemm_ex(handle, &call), "2*(A*B)");
      }
      call = second_.call();
      call.a = target.c;
      check(skgemm_gemm_ex(handle, &call), "(A*B)*E");
    }
    check(skgemm_set_schedule(handle, SKGEMM_SCHEDULE_AUTO, 0), "schedule");
  }

  // What all rounds make of D: integers, so exactly.
  Reference expected(const Inner& inner, Between between) {
    GemmCase c = second_.gemm_case();
    c.alpha = kRounds / 2 * (between == Between::scale ? 2 : 1);
    Operands operands = second_.operands();
    Reference total{};
    for (const Reference& product : inner) {
      size_t at = 0;
      for (int64_t j = 0; j < product.n; ++j) {
        for (int64_t i = 0; i < product.m; ++i) operands.a.set(i, j, product.value[at++]);
      }
      Reference part = reference_gemm(c, operands);
      if (total.value.empty()) {
        total = std::move(part);
      } else {
        for (size_t i = 0; i < total.value.size(); ++i) total.value[i] += part.value[i];
      }
      c.beta = 0;  // D itself is in the first part
    }
    return total;
  }

  DeviceCase& last() { return second_; }

 private:
  static GemmCase outer_case(const Placement& where, const GemmCase& first) {
    GemmCase c;
    c.in = first.out, c.out = DataType::f32;
    c.op = "NT", c.m = first.m, c.n = 72, c.k = first.n, c.beta = 1, c.fill = Fill::integer;
    c = placed(c, where);
    c.lda = first.ldc;
    return c;
  }

  Modes modes_;
  std::array<DeviceCase, 2> first_;
  DeviceCase second_;
};

class Dependent : public GpuTest, public testing::WithParamInterface<DataType> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    set_deadline(std::chrono::seconds(30));
    for (size_t i = 0; i < inner_.size(); ++i) {
      inner_[i] = reference_of(inner_case(GetParam(), static_cast<int64_t>(i) + 1));
    }
  }
  const Inner& inner() const { return inner_; }
  template <class Body>
  void for_each_chain(Body&& body) {
    for (const Placement& where : {kAligned, kOdd}) {
      for (const Modes& modes : {Modes{.schedule = SKGEMM_SCHEDULE_DATA_PARALLEL},
                                 Modes{.schedule = SKGEMM_SCHEDULE_STREAM_K, .parameter = 30}}) {
        Chain chain(GetParam(), where, modes);
        for (const Between between : {Between::nothing, Between::poison, Between::scale}) {
          ASSERT_NO_FATAL_FAILURE(body(chain, between, chain.expected(inner_, between)));
        }
      }
    }
  }

 private:
  Inner inner_;
};

TEST_P(Dependent, EagerLaunches) {
  const Stream stream;
  check(skgemm_set_stream(handle(), stream), "skgemm_set_stream");
  for_each_chain([&](Chain& chain, Between between, const Reference& expected) {
    chain.last().reset_c();
    chain.run(handle(), stream, between);
    stream.wait();
    ASSERT_TRUE(chain.last().judge(expected)) << "with " << static_cast<int>(between) << " between";
  });
}

TEST_P(Dependent, CapturedLaunches) {
  const Stream stream;
  check(skgemm_set_stream(handle(), stream), "skgemm_set_stream");
  for_each_chain([&](Chain& chain, Between between, const Reference& expected) {
    const Graph graph(stream, [&] { chain.run(handle(), stream, between); });
    for (int replay = 0; replay < 2; ++replay) {
      chain.last().reset_c();
      graph.launch(stream);
      stream.wait();
      ASSERT_TRUE(chain.last().judge(expected)) << "with " << static_cast<int>(between) << " between";
    }
  });
}

// One graph after another, and eager launches behind a graph: the last kernel of one and the first of the next.
TEST_P(Dependent, GraphsAndEagerLaunchesInTurn) {
  const Stream stream;
  check(skgemm_set_stream(handle(), stream), "skgemm_set_stream");
  Chain chain(GetParam(), kAligned, {.schedule = SKGEMM_SCHEDULE_DATA_PARALLEL});
  Reference expected = chain.expected(inner(), Between::nothing);
  const GuardedMatrix& start = chain.last().operands().c;
  size_t at = 0;
  for (int64_t j = 0; j < expected.n; ++j) {
    for (int64_t i = 0; i < expected.m; ++i, ++at) {
      expected.value[at] = start.get(i, j) + 4 * (expected.value[at] - start.get(i, j));
    }
  }
  const Graph graph(stream, [&] { chain.run(handle(), stream, Between::nothing); });
  chain.last().reset_c();
  graph.launch(stream);
  graph.launch(stream);
  chain.run(handle(), stream, Between::nothing);
  graph.launch(stream);
  stream.wait();
  EXPECT_TRUE(chain.last().judge(expected));
}

INSTANTIATE_TEST_SUITE_P(All, Dependent, testing::Values(DataType::f16, DataType::bf16, DataType::f32),
                         [](const testing::TestParamInfo<DataType>& chosen) {
                           return std::string(name_of(chosen.param));
                         });

}  // namespace
}  // namespace skgemm::test
