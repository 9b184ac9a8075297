#include "src/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "src/degenerate.h"

namespace skgemm::log {
namespace {

// One write(2) a line, so that lines of threads and processes that share the file do not mix.
void write_line(int file, std::string_view words) {
  std::string line;
  line.reserve(words.size() + 9);
  line.append("skgemm: ").append(words).push_back('\n');
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(file, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a closed stderr or a full disk is no reason to fail a product
    done += static_cast<size_t>(n);
  }
}

struct Settings {
  int level = 0;
  int file = STDERR_FILENO;
};

// Empty when the variable is not set.
std::string_view value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string_view() : value;
}

Settings read_environment() {
  Settings s;
  const std::string_view level = value_of("SKGEMM_VERBOSE"), path = value_of("SKGEMM_LOG");
  if (!path.empty()) {
    const int file = ::open(path.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file >= 0) {
      s.file = file;
    } else {
      write_line(STDERR_FILENO, "SKGEMM_LOG=" + std::string(path) + " can't be opened (" + std::strerror(errno) +
                                    "); logging to stderr");
    }
  }
  if (level.empty()) return s;
  s.level = level == "0" ? 0 : level == "2" ? 2 : 1;
  if (s.level == 1 && level != "1") {
    write_line(s.file, "SKGEMM_VERBOSE=" + std::string(level) + " is not known; use 0, 1 or 2. Going on with 1");
  }
  return s;
}

const Settings& settings() {
  static const Settings s = read_environment();
  return s;
}

std::string scalar_text(const GemmCall& call, const void* scalar) {
  if (scalar == nullptr) return "null";
  if (call.scalars == PointerMode::device) return "device";
  char text[32];
  // Enough digits to read the same value back.
  std::snprintf(text, sizeof text, "%.*g", call.scalar_type == DataType::f64 ? 17 : 9,
                host_scalar(call.scalar_type, scalar));
  return text;
}

// Inside why="...": a quote or a line break would end the field or the line.
std::string quoted(std::string_view words) {
  std::string text(words);
  for (char& c : text) {
    if (c == '"') c = '\'';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return '"' + text + '"';
}

}  // namespace

bool calls() { return settings().level >= 1; }
bool events() { return settings().level >= 2; }

std::string to_line(const GemmCall& c, std::string_view on, double us, std::string_view why) {
  std::string line = std::string("call=") + c.name + " type=" + name_of(c.in) + " out=" + name_of(c.out) + " op=";
  for (const Op op : {c.op_a, c.op_b}) line += op == Op::n ? 'N' : 'T';
  const auto add = [&line](const char* key, const std::string& value) {
    line.append(" ").append(key).append("=").append(value);
  };
  struct Field {
    const char* key;
    int64_t value;
  };
  for (const auto& [key, value] : {Field{"m", c.m},
                                   {"n", c.n},
                                   {"k", c.k},
                                   {"lda", c.a.ld},
                                   {"ldb", c.b.ld},
                                   {"ldc", c.c.ld},
                                   {"batch", c.batch}}) {
    add(key, std::to_string(value));
  }
  if (c.batch > 1) {
    for (const auto& [key, value] :
         {Field{"stride_a", c.a.stride}, {"stride_b", c.b.stride}, {"stride_c", c.c.stride}}) {
      add(key, std::to_string(value));
    }
  }
  add("alpha", scalar_text(c, c.alpha));
  add("beta", scalar_text(c, c.beta));
  add("on", std::string(on));
  char time[32];
  std::snprintf(time, sizeof time, "%.1f", us);
  add("us", time);
  add("why", quoted(why));
  return line;
}

void call(const GemmCall& c, std::string_view on, double us, std::string_view why) {
  if (calls()) write_line(settings().file, to_line(c, on, us, why));
}

void event(std::string_view words) {
  if (events()) write_line(settings().file, words);
}

void warn(std::string_view words) {
  // Hashes of what was said. No lock: a child forked while another thread warns must be able to warn too.
  static std::array<std::atomic<size_t>, kMostWarnings> said{};
  const size_t hash = std::hash<std::string_view>{}(words) | 1;
  for (size_t i = 0; i < said.size(); ++i) {
    size_t there = 0;
    if (said[i].compare_exchange_strong(there, hash, std::memory_order_relaxed)) {
      write_line(settings().file, std::string("warning: ").append(words));
      if (i + 1 == said.size()) write_line(settings().file, "warning: no further warnings will be shown");
      return;
    }
    if (there == hash) return;
  }
}

}  // namespace skgemm::log
