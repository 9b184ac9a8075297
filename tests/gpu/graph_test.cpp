// CUDA graphs: capture at any moment, replay, several graphs from one stream, graphs that die before their work is
// done.
#include <array>
#include <cstring>
#include <thread>

#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

GemmCase split_case(const TypePair& types, int64_t seed = 1) {
  GemmCase c;
  c.in = types.in, c.out = types.out;
  c.op = "TN", c.m = 40, c.n = 600, c.k = 4000, c.seed = seed;
  return c;
}

// Runs alone in its process (see CMakeLists.txt): the library's first launch of all happens inside the capture.
class GraphFirst : public GpuTest {};

TEST_F(GraphFirst, FirstCallInsideCapture) {
  DeviceCase product(split_case(kTypePairs[2]));
  const Stream stream;
  const Handle fresh;
  check(skgemm_set_stream(fresh, stream), "skgemm_set_stream");
  const Graph graph(stream, [&] { check(product.run(fresh), "gemm in capture"); });
  graph.launch(stream);
  stream.wait();
  EXPECT_TRUE(product.judge());
}

class Graphs : public GpuTest, public testing::WithParamInterface<TypePair> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    stream_ = std::make_unique<Stream>();
    check(skgemm_set_stream(handle(), *stream_), "skgemm_set_stream");
  }
  void TearDown() override {
    if (stream_) check(skgemm_set_stream(handle(), nullptr), "skgemm_set_stream");
    stream_.reset();
    GpuTest::TearDown();
  }
  const Stream& stream() { return *stream_; }
  std::vector<std::byte> eager_bits(DeviceCase& product) {
    product.reset_c();
    check(product.run(handle()), "gemm");
    stream().wait();
    return product.c_bytes();
  }

 private:
  std::unique_ptr<Stream> stream_;
};

TEST_P(Graphs, HundredReplaysGiveTheSameBits) {
  DeviceCase product(split_case(GetParam()));
  const Graph graph(stream(), [&] { check(product.run(handle()), "gemm in capture"); });
  std::vector<std::byte> first;
  for (int replay = 0; replay < 100; ++replay) {
    product.reset_c();
    graph.launch(stream());
    stream().wait();
    if (replay == 0) {
      first = product.c_bytes();
      ASSERT_TRUE(product.judge());
    }
    ASSERT_EQ(product.c_bytes(), first) << "replay " << replay;
  }
}

// The shape was never seen before: nothing the planner asks may be illegal in a capture.
TEST_P(Graphs, NewShapesInsideCapture) {
  for (const auto& [m, n, k, batch] :
       {std::array<int64_t, 4>{17, 2561, 813, 1}, {513, 515, 517, 1}, {4, 4, 4, 70'000}, {3, 5, 0, 1}}) {
    GemmCase c = split_case(GetParam());
    c.m = m, c.n = n, c.k = k, c.batch = batch, c.fill = Fill::integer;
    const DeviceCase product(c);
    const Graph graph(stream(), [&] { check(product.run(handle()), "gemm in capture"); });
    graph.launch(stream());
    stream().wait();
    ASSERT_TRUE(product.judge());
  }
}

TEST_P(Graphs, SeveralCallsInOneGraph) {
  std::vector<DeviceCase> products;
  for (int64_t i = 0; i < 4; ++i) products.emplace_back(split_case(GetParam(), i + 1));
  const Graph graph(stream(), [&] {
    for (const DeviceCase& product : products) check(product.run(handle()), "gemm in capture");
  });
  for (int replay = 0; replay < 3; ++replay) graph.launch(stream());
  stream().wait();
  for (const DeviceCase& product : products) EXPECT_TRUE(product.judge());
}

// Two graphs captured on one stream, replayed at the same time on two others, beside eager calls on a third.
TEST_P(Graphs, TwoFromOneStreamReplayedTogether) {
  set_deadline(std::chrono::seconds(30));
  DeviceCase one(split_case(GetParam(), 1)), two(split_case(GetParam(), 2)), eager(split_case(GetParam(), 3));
  const std::vector<std::byte> bits_one = eager_bits(one), bits_two = eager_bits(two), bits_eager = eager_bits(eager);
  const Graph graph_one(stream(), [&] { check(one.run(handle()), "gemm in capture"); });
  const Graph graph_two(stream(), [&] { check(two.run(handle()), "gemm in capture"); });
  const Stream left, right;
  for (int round = 0; round < 30; ++round) {
    for (DeviceCase* product : {&one, &two, &eager}) product->reset_c();
    for (int launch = 0; launch < 10; ++launch) {
      graph_one.launch(left);
      graph_two.launch(right);
      check(eager.run(handle()), "gemm");
    }
    check(cudaDeviceSynchronize(), "the kernels");
    ASSERT_EQ(one.c_bytes(), bits_one) << "round " << round;
    ASSERT_EQ(two.c_bytes(), bits_two) << "round " << round;
    ASSERT_EQ(eager.c_bytes(), bits_eager) << "round " << round;
  }
}

// Capture, launch, destroy without waiting, eager call: what the graph held is reused only when it is free.
TEST_P(Graphs, DestroyedWhileInFlight) {
  set_deadline(std::chrono::seconds(60));
  DeviceCase captured(split_case(GetParam(), 1)), eager(split_case(GetParam(), 2));
  const std::vector<std::byte> bits_captured = eager_bits(captured), bits_eager = eager_bits(eager);
  size_t free_before = 0, free_after = 0, total = 0;
  for (int round = 0; round < 300; ++round) {
    if (round == 20) check(cudaMemGetInfo(&free_before, &total), "cudaMemGetInfo");
    {
      const Graph graph(stream(), [&] { check(captured.run(handle()), "gemm in capture"); });
      for (int launch = 0; launch < 3; ++launch) graph.launch(stream());
    }
    check(eager.run(handle()), "gemm");
    if (round % 10 != 0) continue;
    stream().wait();
    ASSERT_EQ(captured.c_bytes(), bits_captured) << "round " << round;
    ASSERT_EQ(eager.c_bytes(), bits_eager) << "round " << round;
    captured.reset_c();
    eager.reset_c();
  }
  check(cudaDeviceSynchronize(), "the kernels");
  check(cudaMemGetInfo(&free_after, &total), "cudaMemGetInfo");
  EXPECT_GE(free_after + (size_t{256} << 20), free_before) << "dead graphs kept their workspaces";
}

TEST_P(Graphs, OneDestroyedTheOtherStillRuns) {
  DeviceCase one(split_case(GetParam(), 1)), two(split_case(GetParam(), 2));
  const std::vector<std::byte> bits_two = eager_bits(two);
  auto graph_one = std::make_unique<Graph>(stream(), [&] { check(one.run(handle()), "gemm in capture"); });
  const Graph graph_two(stream(), [&] { check(two.run(handle()), "gemm in capture"); });
  graph_one.reset();
  two.reset_c();
  const Stream other;
  graph_two.launch(other);
  check(one.run(handle()), "gemm");
  check(cudaDeviceSynchronize(), "the kernels");
  EXPECT_EQ(two.c_bytes(), bits_two);
  EXPECT_TRUE(one.judge());
}

// Capture, update the executable, destroy the graph: the executable keeps the workspace of its new launch, although
// another capture asks for one at once.
TEST_P(Graphs, UpdatedExecutableKeepsItsWorkspace) {
  set_deadline(std::chrono::seconds(60));
  DeviceCase one(split_case(GetParam(), 1)), two(split_case(GetParam(), 2)), other(split_case(GetParam(), 3));
  const std::vector<std::byte> bits_one = eager_bits(one), bits_two = eager_bits(two), bits_other = eager_bits(other);
  const auto captured = [&](const DeviceCase& product) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    check(product.run(handle()), "gemm in capture");
    check(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture");
    return graph;
  };
  cudaGraphExec_t updated = nullptr;
  cudaGraph_t first = captured(one);
  check(cudaGraphInstantiate(&updated, first, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(first), "cudaGraphDestroy");
  const Stream left, right;
  for (int round = 0; round < 20; ++round) {
    DeviceCase& product = round % 2 == 0 ? two : one;
    cudaGraph_t next = captured(product);
    cudaGraphExecUpdateResultInfo result{};
    check(cudaGraphExecUpdate(updated, next, &result), "cudaGraphExecUpdate");
    check(cudaGraphDestroy(next), "cudaGraphDestroy");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // what dead graphs held comes back on a driver's thread
    const Graph beside(stream(), [&] { check(other.run(handle()), "gemm in capture"); });
    product.reset_c();
    other.reset_c();
    for (int launch = 0; launch < 20; ++launch) {
      check(cudaGraphLaunch(updated, left), "cudaGraphLaunch");
      beside.launch(right);
    }
    check(cudaDeviceSynchronize(), "the kernels");
    ASSERT_EQ(product.c_bytes(), round % 2 == 0 ? bits_two : bits_one) << "round " << round;
    ASSERT_EQ(other.c_bytes(), bits_other) << "round " << round;
  }
  check(cudaGraphExecDestroy(updated), "cudaGraphExecDestroy");
}

// The workspace's first use is inside the capture: its counters are zero at every replay.
TEST_P(Graphs, LentWorkspace) {
  DeviceCase product(split_case(GetParam()));
  const skgemm_gemm_t call = product.call();
  size_t bytes = 0;
  check(skgemm_gemm_workspace(handle(), &call, &bytes), "skgemm_gemm_workspace");
  const DeviceBuffer lent(std::vector<std::byte>(bytes, std::byte{0xA5}));
  check(skgemm_set_workspace(handle(), lent.data(), bytes), "skgemm_set_workspace");
  const Graph graph(stream(), [&] { check(product.run(handle()), "gemm in capture"); });
  for (int replay = 0; replay < 3; ++replay) {
    product.reset_c();
    graph.launch(stream());
    stream().wait();
    ASSERT_TRUE(product.judge()) << "replay " << replay;
  }
  check(skgemm_set_workspace(handle(), nullptr, 0), "skgemm_set_workspace");
}

TEST_P(Graphs, OutlivesTheHandle) {
  DeviceCase product(split_case(GetParam()));
  auto own = std::make_unique<Handle>();
  check(skgemm_set_stream(*own, stream()), "skgemm_set_stream");
  const Graph graph(stream(), [&] { check(product.run(*own), "gemm in capture"); });
  own.reset();
  graph.launch(stream());
  stream().wait();
  EXPECT_TRUE(product.judge());
}

// Host scalars are captured by value, device scalars are read at each replay.
TEST_P(Graphs, Scalars) {
  for (const int64_t device_scalars : {0, 1}) {
    GemmCase c = split_case(GetParam());
    c.k = 50, c.alpha = 2, c.fill = Fill::integer, c.device_scalars = device_scalars;
    DeviceCase product(c);
    skgemm_gemm_t call = product.call();
    double host_alpha = 0;  // big enough for either scalar type
    if (device_scalars == 0) {
      std::memcpy(&host_alpha, call.alpha, sizeof host_alpha);
      call.alpha = &host_alpha;
    }
    check(skgemm_set_pointer_mode(handle(), static_cast<skgemm_pointer_mode_t>(device_scalars)), "set pointer mode");
    const Graph graph(stream(), [&] { check(skgemm_gemm_ex(handle(), &call), "gemm in capture"); });
    // Now write 3 where alpha was read from.
    const float narrow = 3;
    const double wide = 3;
    const bool is_f64 = c.in == DataType::f64;
    const void* three = is_f64 ? static_cast<const void*>(&wide) : &narrow;
    const size_t size = is_f64 ? sizeof wide : sizeof narrow;
    if (device_scalars) {
      copy_to_device(product.scalars().data(), three, size);
    } else {
      std::memcpy(&host_alpha, three, size);
    }
    graph.launch(stream());
    stream().wait();
    GemmCase expected = product.gemm_case();
    expected.alpha = device_scalars ? 3 : 2;
    EXPECT_TRUE(product.judge(reference_gemm(expected, product.operands()))) << "device scalars " << device_scalars;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Graphs, testing::ValuesIn(kKernelTypes), param_name);

}  // namespace
}  // namespace skgemm::test
