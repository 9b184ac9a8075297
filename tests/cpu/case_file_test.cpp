// Case files and logged calls: what is read, and that every complaint names its line.
#include <gtest/gtest.h>

#include <sstream>

#include "src/cli/bench_case.h"
#include "src/cli/bench_report.h"
#include "src/cli/command.h"

namespace skgemm::cli {
namespace {

std::vector<BenchCase> cases_of(const std::string& text) {
  std::istringstream file(text);
  return read_cases(file, "cases.csv");
}

std::vector<BenchCase> replay_of(const std::string& text) {
  std::istringstream file(text);
  return read_replay(file, "calls.log").cases;
}

std::string complaint(std::vector<BenchCase> (*read)(const std::string&), const std::string& text) {
  try {
    read(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(CaseFile, reads_columns_by_name) {
  const auto cases = cases_of(
      "# a comment\n"
      "k,op,type,m,n,note,lda,batch,alpha,beta,out\n"
      "5,TN,h,3,4,words,7,2,-1.5,0.5,s\n"
      "\n"
      " 30 , NT , f64 , 10 , 20 \r\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0], (BenchCase{.type = DataType::f16,
                                 .out = DataType::f32,
                                 .ops = {true, false},
                                 .m = 3,
                                 .n = 4,
                                 .k = 5,
                                 .lda = 7,
                                 .ldb = 5,
                                 .ldc = 3,
                                 .batch = 2,
                                 .alpha = -1.5,
                                 .beta = 0.5}));
  EXPECT_EQ(cases[1], (BenchCase{.type = DataType::f64,
                                 .out = DataType::f64,
                                 .ops = {false, true},
                                 .m = 10,
                                 .n = 20,
                                 .k = 30,
                                 .lda = 10,
                                 .ldb = 20,
                                 .ldc = 10,
                                 .batch = 1,
                                 .alpha = 1,
                                 .beta = 0}));
}

TEST(CaseFile, complaints_name_the_line) {
  const std::string head = "type,op,m,n,k,lda,out\n";
  EXPECT_EQ(complaint(cases_of, head + "s,NN,1,2\n"), "cases.csv:2: no k");
  EXPECT_EQ(complaint(cases_of, head + "s,NN,1,2,3\nq,NN,1,2,3\n"), "cases.csv:3: unknown type 'q' (s, d, h, bf)");
  EXPECT_EQ(complaint(cases_of, head + "s,NX,1,2,3\n"), "cases.csv:2: unknown op 'NX' (NN, NT, TN, TT)");
  EXPECT_EQ(complaint(cases_of, head + "s,NN,1x,2,3\n"), "cases.csv:2: m is '1x', not a whole number");
  EXPECT_EQ(complaint(cases_of, head + "s,NN,0,2,3\n"), "cases.csv:2: m is 0, but must be at least 1");
  EXPECT_EQ(complaint(cases_of, head + "s,TN,10,2,3,2\n"), "cases.csv:2: lda is 2, but must be at least 3");
  EXPECT_EQ(complaint(cases_of, head + "s,NN,1,2,3,,h\n"), "cases.csv:2: out h is not served for type s");
  EXPECT_EQ(complaint(cases_of, head + "s,NN,1,2,3,,,9\n"), "cases.csv:2: 8 values for 7 columns");
  EXPECT_EQ(complaint(cases_of, head + "s,NN,1,2,4294967296\n"),
            "cases.csv:2: k is 4294967296, but bench goes up to 2^31-1");
  EXPECT_NE(complaint(cases_of, head).find("no cases"), std::string::npos);
}

TEST(CaseFile, a_table_of_results_is_a_case_file) {
  std::vector<Result> results(2);
  results[0].c = packed_case(DataType::bf16, {true, true}, 17, 33, 65);
  results[0].c.alpha = 1.0 / 3;  // not short decimals in binary
  results[0].c.beta = 0.1 + 1e-15;
  results[1].c = packed_case(DataType::f32, {false, false}, 128, 256, 512);
  results[1].c.ldc = 200;
  results[1].c.batch = 3;
  results[1].c.given_stride_b = 0;
  results[1].c.given_stride_c = 200 * 256 + 8;
  results[1].ours.failed = "words, with a comma";
  const auto cases = cases_of(to_csv({{"part", "none"}}, results));
  ASSERT_EQ(cases.size(), 2u);
  for (size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(cases[i], results[i].c);
}

TEST(Replay, reads_the_log_format) {
  const auto cases = replay_of(
      "program's own output\n"
      "skgemm: device 0 found\n"
      "skgemm: call=dgemm_ type=f64 out=f64 op=NT m=4 n=5 k=6 lda=9 ldb=8 ldc=7 batch=1 alpha=1 beta=0 on=cpu us=12.3 "
      "why=\"small: m=1 n=1\"\n"
      "rank 3: skgemm: call=skgemm_gemm_ex type=f16 out=f32 op=TN m=64 n=32 k=16 lda=16 ldb=16 ldc=64 batch=3 "
      "alpha=device "
      "beta=device on=gpu us=4.5 why=\"f16_mma\"\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0], (BenchCase{.type = DataType::f64,
                                 .out = DataType::f64,
                                 .ops = {false, true},
                                 .m = 4,
                                 .n = 5,
                                 .k = 6,
                                 .lda = 9,
                                 .ldb = 8,
                                 .ldc = 7,
                                 .batch = 1,
                                 .alpha = 1,
                                 .beta = 0}));
  EXPECT_EQ(cases[1], (BenchCase{.type = DataType::f16,
                                 .out = DataType::f32,
                                 .ops = {true, false},
                                 .m = 64,
                                 .n = 32,
                                 .k = 16,
                                 .lda = 16,
                                 .ldb = 16,
                                 .ldc = 64,
                                 .batch = 3,
                                 .alpha = 1,
                                 .beta = 0}));
}

TEST(Replay, leaves_out_products_with_nothing_to_compute) {
  const std::string empty =
      "skgemm: call=sgemm_ type=f32 out=f32 op=NN m=0 n=5 k=6 lda=1 ldb=6 ldc=1 batch=1 alpha=1 beta=0\n";
  const std::string full =
      "skgemm: call=sgemm_ type=f32 out=f32 op=NN m=2 n=5 k=6 lda=2 ldb=6 ldc=2 batch=1 alpha=1 beta=0\n";
  EXPECT_EQ(replay_of(empty + full).size(), 1u);
  EXPECT_NE(complaint(replay_of, empty).find("no calls"), std::string::npos);
}

TEST(Replay, leaves_out_and_counts_illegal_calls) {
  std::istringstream log(
      "skgemm: call=dgemm_ type=f64 out=f64 op=NN m=-1 n=5 k=6 lda=1 ldb=6 ldc=1 batch=1 alpha=1 beta=0 on=forwarded "
      "us=0.0 why=\"an argument is illegal\"\n"
      "skgemm: call=dgemm_ type=f64 out=f64 op=TN m=4 n=5 k=6 lda=5 ldb=6 ldc=4 batch=1 alpha=1 beta=0 on=forwarded "
      "us=0.0 why=\"an argument is illegal\"\n"
      "skgemm: call=dgemm_ type=f64 out=f64 op=TN m=4 n=5 k=6 lda=6 ldb=6 ldc=4 batch=1 alpha=1 beta=0 on=cpu us=0.1 "
      "why=\"small\"\n");
  const Replay replay = read_replay(log, "calls.log");
  EXPECT_EQ(replay.illegal, 2);
  ASSERT_EQ(replay.cases.size(), 1u);
  EXPECT_EQ(replay.cases[0].lda, 6);
}

TEST(Replay, reads_the_distances_of_a_batch) {
  const std::string head = "skgemm: call=skgemm_sgemm_strided_batched type=f32 out=f32 op=NT m=4 n=5 k=6 lda=8 ldb=5 ";
  const std::string tail = " alpha=1 beta=0 on=gpu us=4.5 why=\"f32_simt\"\n";
  const BenchCase far = replay_of(head + "ldc=4 batch=3 stride_a=100 stride_b=0 stride_c=77" + tail).at(0);
  EXPECT_EQ(far.stride_a(), 100);
  EXPECT_EQ(far.stride_b(), 0);
  EXPECT_EQ(far.stride_c(), 77);
  EXPECT_EQ(far.a_extent(), 2 * 100 + 8 * 6);
  EXPECT_EQ(far.b_extent(), 5 * 6);
  EXPECT_EQ(to_string(far), "s NT 4x5x6 lda 8 batch 3 stride_a 100 stride_b 0 stride_c 77");
  const BenchCase packed = replay_of(head + "ldc=4 batch=3 stride_a=48 stride_b=30 stride_c=20" + tail).at(0);
  EXPECT_EQ(packed, replay_of(head + "ldc=4 batch=3" + tail).at(0));
  // Side by side in one matrix of 12 rows is no overlap; closer is.
  EXPECT_EQ(replay_of(head + "ldc=12 batch=3 stride_a=48 stride_b=30 stride_c=4" + tail).at(0).stride_c(), 4);
  EXPECT_EQ(complaint(replay_of, head + "ldc=12 batch=3 stride_a=48 stride_b=30 stride_c=3" + tail),
            "calls.log:1: stride_c is 3, so that entries of C overlap");
  EXPECT_EQ(complaint(replay_of, head + "ldc=4 batch=3 stride_a=-1 stride_b=30 stride_c=20" + tail),
            "calls.log:1: stride_a is -1, but must be at least 0");
}

TEST(Replay, complaints_name_the_line) {
  EXPECT_EQ(complaint(replay_of, "words\nskgemm: call=sgemm_ type=f32 op=NN m=2 n=5\n"), "calls.log:2: no k");
}

TEST(Words, tiles) {
  EXPECT_EQ(tile_of_word("128x64x4"), (std::array<int64_t, 3>{128, 64, 4}));
  for (const char* bad : {"", "128", "128x64", "128x64x", "128x64x4x2", "128x0x4", "ax64x4", "128x64x4 "}) {
    EXPECT_FALSE(tile_of_word(bad)) << bad;
  }
}

TEST(Words, what_a_product_can_be_stored_as) {
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32, DataType::f64}) {
    EXPECT_NO_THROW(check_out(type, type, "here"));
  }
  EXPECT_NO_THROW(check_out(DataType::f16, DataType::f32, "here"));
  EXPECT_NO_THROW(check_out(DataType::bf16, DataType::f32, "here"));
  EXPECT_THROW(check_out(DataType::f32, DataType::f64, "here"), UsageError);
  EXPECT_THROW(check_out(DataType::f64, DataType::f32, "here"), UsageError);
  EXPECT_THROW(check_out(DataType::f16, DataType::bf16, "here"), UsageError);
}

TEST(Words, types_ops_schedules_and_orientations) {
  for (const DataType type : {DataType::f16, DataType::bf16, DataType::f32, DataType::f64}) {
    EXPECT_EQ(type_of_word(word_of(type)), type);
    EXPECT_EQ(type_of_word(name_of(type)), type);
  }
  EXPECT_EQ(ops_of_word("nc"), (OpPair{false, true}));
  EXPECT_EQ(word_of(OpPair{true, false}), "TN");
  EXPECT_FALSE(ops_of_word("N"));
  EXPECT_EQ(schedule_of_word("streamk"), ScheduleKind::stream_k);
  EXPECT_EQ(schedule_of_word("stream-k"), ScheduleKind::stream_k);
  EXPECT_EQ(schedule_of_word("auto"), ScheduleKind{});
  EXPECT_FALSE(schedule_of_word("stream"));
  EXPECT_EQ(orientation_of_word("auto"), Orientation::automatic);
  EXPECT_EQ(orientation_of_word("straight"), Orientation::straight);
  EXPECT_EQ(orientation_of_word("swapped"), Orientation::swapped);
  EXPECT_FALSE(orientation_of_word("Swapped"));
}

}  // namespace
}  // namespace skgemm::cli
