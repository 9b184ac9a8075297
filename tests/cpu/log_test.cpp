// The log: the line's format, which can be read back, the levels, the file, and threads. Settings are read once a
// process, so every test of them runs in a child.
#include "src/log.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

namespace skgemm {
namespace {

GemmCall call_of(const double* alpha, const double* beta) {
  return {.op_a = Op::n, .op_b = Op::t, .m = 4, .n = 5, .k = 6, .in = DataType::f64, .out = DataType::f64,
          .scalar_type = DataType::f64, .scalars = PointerMode::host, .alpha = alpha, .beta = beta,
          .a = {nullptr, 7, 70}, .b = {nullptr, 8, 80}, .c = {nullptr, 9, 90}, .batch = 1, .name = "dgemm_"};
}

// key=value fields; a quoted value may hold spaces.
std::map<std::string, std::string> fields_of(const std::string& line) {
  std::map<std::string, std::string> fields;
  for (size_t at = 0; at < line.size();) {
    const size_t equals = line.find('=', at);
    if (equals == std::string::npos) break;
    const bool quoted = line[equals + 1] == '"';
    const size_t begin = equals + 1 + (quoted ? 1 : 0);
    const size_t end = std::min(line.find(quoted ? '"' : ' ', begin), line.size());
    fields[line.substr(at, equals - at)] = line.substr(begin, end - begin);
    at = end + (quoted ? 2 : 1);
  }
  return fields;
}

TEST(LogLine, IsAsDocumented) {
  const double alpha = 1, beta = 0;
  EXPECT_EQ(log::to_line(call_of(&alpha, &beta), "cpu", 12.34, "small"),
            "call=dgemm_ type=f64 out=f64 op=NT m=4 n=5 k=6 lda=7 ldb=8 ldc=9 batch=1 alpha=1 beta=0 on=cpu us=12.3 "
            "why=\"small\"");
}

TEST(LogLine, ReadsBackToTheSameCall) {
  const double alpha = 0.1, beta = -1.0 / 3;
  GemmCall call = call_of(&alpha, &beta);
  call.batch = 3;
  call.c.stride = -90;
  auto fields = fields_of(log::to_line(call, "gpu", 1, "f64_dmma two-tile g=264"));
  EXPECT_EQ(fields["type"], "f64");
  EXPECT_EQ(fields["batch"], "3");
  EXPECT_EQ(fields["stride_a"], "70");
  EXPECT_EQ(fields["stride_b"], "80");
  EXPECT_EQ(fields["stride_c"], "-90");
  EXPECT_EQ(std::strtod(fields["alpha"].c_str(), nullptr), alpha);
  EXPECT_EQ(std::strtod(fields["beta"].c_str(), nullptr), beta);
  EXPECT_EQ(fields["why"], "f64_dmma two-tile g=264");
}

TEST(LogLine, FloatScalarsReadBackToo) {
  const float alpha = 0.1f, beta = 16777217.0f;
  GemmCall call = call_of(nullptr, nullptr);
  call.scalar_type = DataType::f32;
  call.alpha = &alpha;
  call.beta = &beta;
  auto fields = fields_of(log::to_line(call, "gpu", 1, ""));
  EXPECT_EQ(std::strtof(fields["alpha"].c_str(), nullptr), alpha);
  EXPECT_EQ(std::strtof(fields["beta"].c_str(), nullptr), beta);
}

TEST(LogLine, DeviceAndMissingScalarsAreNotRead) {
  GemmCall call = call_of(reinterpret_cast<const double*>(uintptr_t{0x10}), nullptr);
  call.scalars = PointerMode::device;
  auto fields = fields_of(log::to_line(call, "gpu", 1, ""));
  EXPECT_EQ(fields["alpha"], "device");
  EXPECT_EQ(fields["beta"], "null");
}

TEST(LogLine, WordsCantBreakTheLine) {
  const double one = 1;
  const std::string line = log::to_line(call_of(&one, &one), "cpu", 1, "a \"quoted\"\nreason");
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(fields_of(line)["why"], "a 'quoted' reason");
}

class LogFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("skgemm_log_test." + std::to_string(getpid()) + ".log");
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // What `body` logs in a fresh process with SKGEMM_VERBOSE=level.
  template <class Body>
  std::vector<std::string> logged(const char* level, Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
      level == nullptr ? unsetenv("SKGEMM_VERBOSE") : setenv("SKGEMM_VERBOSE", level, 1);
      setenv("SKGEMM_LOG", path_.c_str(), 1);
      body();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::filesystem::path path_;
};

void one_of_each() {
  const double one = 1;
  log::call(call_of(&one, &one), "cpu", 1, "small");
  log::event("found a device");
  log::warn("memory is short");
}

TEST_F(LogFile, SilentByDefaultButForWarnings) {
  EXPECT_EQ(logged(nullptr, one_of_each), std::vector<std::string>{"skgemm: warning: memory is short"});
}

TEST_F(LogFile, LevelOneHasCalls) {
  const auto lines = logged("1", one_of_each);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("skgemm: call=dgemm_ "));
  EXPECT_TRUE(lines[1].starts_with("skgemm: warning: "));
}

TEST_F(LogFile, LevelTwoHasEvents) {
  const auto lines = logged("2", one_of_each);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "skgemm: found a device");
}

TEST_F(LogFile, AWarningIsSaidOnce) {
  const auto lines = logged("0", [] {
    for (int i = 0; i < 5; ++i) log::warn("memory is short");
    log::warn("the link is slow");
    log::warn("memory is short");
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"skgemm: warning: memory is short", "skgemm: warning: the link is slow"}));
}

TEST_F(LogFile, WarningsThatAreAlwaysNewEnd) {
  const auto lines = logged("0", [] {
    for (size_t i = 0; i < 10 * log::kMostWarnings; ++i) log::warn("free: " + std::to_string(i) + " MiB");
  });
  ASSERT_EQ(lines.size(), log::kMostWarnings + 1);
  EXPECT_EQ(lines.front(), "skgemm: warning: free: 0 MiB");
  EXPECT_NE(lines.back().find("no further warnings"), std::string::npos) << lines.back();
}

// Whatever the other threads do at the moment of a fork, the child can warn.
TEST_F(LogFile, AChildForkedWhileOthersWarnCanWarn) {
  std::atomic<bool> stop{false};
  const auto lines = logged("0", [&] {
    std::thread other([&] {
      while (!stop) log::warn("from the thread");
    });
    for (int i = 0; i < 200; ++i) {
      pid_t child = fork();
      while (child < 0) {  // the machine is short of processes or memory at the moment
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        child = fork();
      }
      if (child == 0) {
        alarm(10);  // a lock that nobody will release
        log::warn("from a child");
        _exit(0);
      }
      int status = 0;
      if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) _exit(1);
    }
    stop = true;
    other.join();
  });
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "skgemm: warning: from a child"), 200);
}

TEST_F(LogFile, LinesOfThreadsDoNotMix) {
  constexpr int kThreads = 8, kLines = 300;
  const auto lines = logged("1", [] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        const double alpha = t, beta = 0;
        for (int i = 0; i < kLines; ++i)
          log::call(call_of(&alpha, &beta), "cpu", i, std::string(200, static_cast<char>('a' + t)));
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_EQ(lines.size(), static_cast<size_t>(kThreads * kLines));
  std::map<std::string, int> per_thread;
  for (const std::string& line : lines) {
    ASSERT_TRUE(line.starts_with("skgemm: "));
    auto fields = fields_of(line.substr(8));
    const int t = std::atoi(fields["alpha"].c_str());
    EXPECT_EQ(fields["why"], std::string(200, static_cast<char>('a' + t)));
    ++per_thread[fields["alpha"]];
  }
  EXPECT_EQ(per_thread.size(), static_cast<size_t>(kThreads));
  for (const auto& [alpha, count] : per_thread) EXPECT_EQ(count, kLines) << "thread " << alpha;
}

TEST_F(LogFile, AppendsToWhatIsThere) {
  std::ofstream(path_) << "before\n";
  const auto lines = logged("0", [] { log::warn("after"); });
  EXPECT_EQ(lines, (std::vector<std::string>{"before", "skgemm: warning: after"}));
}

TEST(LogToStderr, AFileThatCantBeOpenedIsSaidThere) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    setenv("SKGEMM_LOG", "/nonexistent/skgemm.log", 1);
    log::warn("memory is short");
    _exit(0);
  }
  close(pipes[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(pipes[0]);
  waitpid(child, nullptr, 0);
  EXPECT_NE(text.find("SKGEMM_LOG=/nonexistent/skgemm.log can't be opened"), std::string::npos) << text;
  EXPECT_NE(text.find("skgemm: warning: memory is short\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace skgemm
