// Text forms of test cases, and their operands.
#include "tests/support/gemm_case.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace skgemm::test {
namespace {

// Every field with its key, once: printing and parsing walk the same list.
template <class Case, class Visit>
void visit_fields(Case& c, Visit&& visit) {
  visit("type", c.in), visit("out", c.out), visit("op", c.op), visit("fill", c.fill);
  visit("m", c.m), visit("n", c.n), visit("k", c.k), visit("lda", c.lda), visit("ldb", c.ldb), visit("ldc", c.ldc);
  visit("batch", c.batch), visit("stride_a", c.stride_a), visit("stride_b", c.stride_b), visit("stride_c", c.stride_c);
  visit("offset_a", c.offset_a), visit("offset_b", c.offset_b), visit("offset_c", c.offset_c);
  visit("alpha", c.alpha), visit("beta", c.beta), visit("tight_end", c.tight_end);
  visit("device_scalars", c.device_scalars), visit("typed_call", c.typed_call), visit("schedule", c.schedule);
  visit("parameter", c.parameter), visit("width", c.width), visit("orientation", c.orientation);
  visit("cluster_m", c.cluster_m), visit("cluster_n", c.cluster_n);
  visit("sms", c.sms), visit("workspace", c.workspace);
  visit("workspace_offset", c.workspace_offset), visit("seed", c.seed);
}

struct TypeName {
  const char* word;
  DataType type;
};
constexpr TypeName kTypeNames[] = {{"f16", DataType::f16}, {"bf16", DataType::bf16}, {"f32", DataType::f32},
                                   {"f64", DataType::f64}, {"h", DataType::f16},     {"bf", DataType::bf16},
                                   {"s", DataType::f32},   {"d", DataType::f64}};
constexpr const char* kFillNames[] = {"real", "integer", "ones"};

std::string print(int64_t value) { return std::to_string(value); }
std::string print(const std::string& value) { return value; }
std::string print(DataType value) { return name_of(value); }
std::string print(Fill value) { return kFillNames[static_cast<int>(value)]; }
std::string print(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

[[noreturn]] void refuse(std::string_view key, std::string_view word) {
  throw std::invalid_argument("test case: \"" + std::string(word) + "\" is no value for " + std::string(key));
}

void parse(std::string_view key, const std::string& word, int64_t& value) {
  char* end = nullptr;
  value = std::strtoll(word.c_str(), &end, 10);
  if (end == word.c_str() || *end != '\0') refuse(key, word);
}

void parse(std::string_view key, const std::string& word, double& value) {
  char* end = nullptr;
  value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0') refuse(key, word);
}

void parse(std::string_view key, const std::string& word, std::string& value) {
  if (word.size() != 2 || word.find_first_not_of("NTC") != std::string::npos) refuse(key, word);
  value = word;
}

void parse(std::string_view key, const std::string& word, DataType& value) {
  const auto* found = std::ranges::find_if(kTypeNames, [&](const TypeName& t) { return word == t.word; });
  if (found == std::end(kTypeNames)) refuse(key, word);
  value = found->type;
}

void parse(std::string_view key, const std::string& word, Fill& value) {
  const auto* found = std::ranges::find(kFillNames, word);
  if (found == std::end(kFillNames)) refuse(key, word);
  value = static_cast<Fill>(found - kFillNames);
}

void assign(GemmCase& c, const std::string& key, const std::string& word) {
  bool known = false;
  visit_fields(c, [&](std::string_view name, auto& field) {
    if (name != key) return;
    parse(key, word, field);
    known = true;
  });
  if (!known) throw std::invalid_argument("test case: unknown key \"" + key + "\"");
  if (key == "type") c.out = c.in;
}

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, separator);) cells.push_back(cell);
  return cells;
}

}  // namespace

GemmCase completed(GemmCase c) {
  const int64_t a_rows = c.a_transposed() ? c.k : c.m, a_cols = c.a_transposed() ? c.m : c.k;
  const int64_t b_rows = c.b_transposed() ? c.n : c.k, b_cols = c.b_transposed() ? c.k : c.n;
  struct Side {
    int64_t &ld, &stride;
    int64_t rows, cols;
  };
  for (const Side& s : {Side{c.lda, c.stride_a, a_rows, a_cols}, Side{c.ldb, c.stride_b, b_rows, b_cols},
                        Side{c.ldc, c.stride_c, c.m, c.n}}) {
    if (s.ld == 0) s.ld = std::max<int64_t>(1, s.rows);
    if (s.stride == kPacked) s.stride = s.ld * s.cols;
  }
  return c;
}

std::string to_string(const GemmCase& c) {
  GemmCase standard;
  standard.in = c.in;
  standard.out = c.in;
  std::vector<std::string> defaults;
  visit_fields(standard, [&](std::string_view, const auto& field) { defaults.push_back(print(field)); });
  std::string text;
  size_t at = 0;
  visit_fields(c, [&](std::string_view key, const auto& field) {
    const std::string word = print(field);
    const bool always = key == "type" || key == "op" || key == "m" || key == "n" || key == "k";
    if (word != defaults[at++] || always) text += (text.empty() ? "" : " ") + std::string(key) + "=" + word;
  });
  return text;
}

GemmCase parse_case(std::string_view text) {
  GemmCase c;
  for (const std::string& word : split(std::string(text), ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("test case: \"" + word + "\" is not key=value");
    assign(c, word.substr(0, equals), word.substr(equals + 1));
  }
  return c;
}

std::vector<GemmCase> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("test case: cannot read " + path);
  std::vector<std::string> keys;
  std::vector<GemmCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = split(line, ',');
    if (keys.empty()) {
      keys = cells;
      continue;
    }
    if (cells.size() > keys.size()) throw std::invalid_argument("test case: more cells than columns in " + line);
    GemmCase c;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].empty()) assign(c, keys[i], cells[i]);
    }
    cases.push_back(c);
  }
  if (cases.empty()) throw std::invalid_argument("test case: no cases in " + path);
  return cases;
}

Operands make_operands(const GemmCase& c) {
  const bool ta = c.a_transposed(), tb = c.b_transposed(), tight = c.tight_end != 0;
  Operands o{
      GuardedMatrix({c.in, ta ? c.k : c.m, ta ? c.m : c.k, c.lda, c.stride_a, c.batch, c.offset_a, tight}),
      GuardedMatrix({c.in, tb ? c.n : c.k, tb ? c.k : c.n, c.ldb, c.stride_b, c.batch, c.offset_b, tight}),
      GuardedMatrix({c.out, c.m, c.n, c.ldc, c.stride_c, c.batch, c.offset_c, tight}),
  };
  Random random(static_cast<uint64_t>(c.seed));
  o.a.fill(c.fill, random);
  o.b.fill(c.fill, random);
  if (c.beta != 0) o.c.fill(c.fill, random);  // with beta 0 C is write-only: leave the poison
  return o;
}

}  // namespace skgemm::test
