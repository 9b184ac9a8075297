#include "src/cli/bench_case.h"

#include <fmt/format.h>

#include <map>

#include "src/cli/command.h"
#include "src/validate.h"

namespace skgemm::cli {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> split_commas(std::string_view line) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    parts.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

// key=value pairs up to a quoted one, which holds free text.
Fields split_pairs(std::string_view line) {
  Fields fields;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      if (word.substr(equals + 1).starts_with('"')) break;
      fields[std::string(word.substr(0, equals))] = std::string(word.substr(equals + 1));
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

// Reads fields of one line; every complaint names the place.
class LineReader {
 public:
  LineReader(const Fields& fields, std::string where) : fields_(fields), where_(std::move(where)) {}

  const std::string& where() const { return where_; }

  const std::string* find(std::string_view key) const {
    const auto at = fields_.find(key);
    return at == fields_.end() || at->second.empty() ? nullptr : &at->second;
  }
  const std::string& required(std::string_view key) const {
    if (const std::string* text = find(key)) return *text;
    throw UsageError(fmt::format("{}: no {}", where_, key));
  }
  int64_t integer(std::string_view key) const { return integer_of(key, required(key)); }
  int64_t integer_or(std::string_view key, int64_t otherwise) const {
    const std::string* text = find(key);
    return text == nullptr ? otherwise : integer_of(key, *text);
  }
  // A scalar that lived in device memory has no value in the log: `otherwise` stands for it.
  double number_or(std::string_view key, double otherwise) const {
    const std::string* text = find(key);
    if (text == nullptr || *text == "device" || *text == "null") return otherwise;
    if (const auto value = number_of_word(*text)) return *value;
    throw UsageError(fmt::format("{}: {} is '{}', not a number", where_, key, *text));
  }

  BenchCase read() const {
    const auto type = type_of_word(required("type"));
    if (!type) throw UsageError(fmt::format("{}: unknown type '{}' (s, d, h, bf)", where_, required("type")));
    const auto ops = ops_of_word(required("op"));
    if (!ops) throw UsageError(fmt::format("{}: unknown op '{}' (NN, NT, TN, TT)", where_, required("op")));
    BenchCase c = packed_case(*type, *ops, integer("m"), integer("n"), integer("k"));
    c.lda = integer_or("lda", c.lda);
    c.ldb = integer_or("ldb", c.ldb);
    c.ldc = integer_or("ldc", c.ldc);
    c.batch = integer_or("batch", 1);
    c.given_stride_a = stride_or_packed("stride_a", c.batch, c.stride_a());
    c.given_stride_b = stride_or_packed("stride_b", c.batch, c.stride_b());
    c.given_stride_c = stride_or_packed("stride_c", c.batch, c.stride_c());
    c.alpha = number_or("alpha", 1);
    c.beta = number_or("beta", 0);
    if (const std::string* out = find("out")) {
      const auto out_type = type_of_word(*out);
      if (!out_type) throw UsageError(fmt::format("{}: unknown out '{}' (s, d, h, bf)", where_, *out));
      c.out = *out_type;
    }
    return c;
  }

 private:
  // A single product has no distance, and the packed one needs no mention: equal cases compare equal.
  int64_t stride_or_packed(std::string_view key, int64_t batch, int64_t packed) const {
    const int64_t stride = integer_or(key, packed);
    if (stride < 0) throw UsageError(fmt::format("{}: {} is {}, but must be at least 0", where_, key, stride));
    return batch <= 1 || stride == packed ? BenchCase::kPacked : stride;
  }
  int64_t integer_of(std::string_view key, const std::string& text) const {
    if (const auto value = integer_of_word(text)) return *value;
    throw UsageError(fmt::format("{}: {} is '{}', not a whole number", where_, key, text));
  }

  const Fields& fields_;
  std::string where_;
};

bool is_illegal(const BenchCase& c) {
  return c.batch < 0 || first_bad_argument({.op_a_valid = true,
                                            .op_b_valid = true,
                                            .a_transposed = c.ops.a_transposed,
                                            .b_transposed = c.ops.b_transposed,
                                            .m = c.m,
                                            .n = c.n,
                                            .k = c.k,
                                            .lda = c.lda,
                                            .ldb = c.ldb,
                                            .ldc = c.ldc}) != 0;
}

// Entries of C lie one after the other or row blocks of one matrix side by side; anything else may overlap.
bool entries_of_c_are_apart(const BenchCase& c) {
  const int64_t one = c.ldc * (c.n - 1) + c.m;
  return c.batch == 1 || c.stride_c() >= one || (c.stride_c() >= c.m && c.ldc >= (c.batch - 1) * c.stride_c() + c.m);
}

}  // namespace

std::string to_string(const BenchCase& c) {
  std::string text = fmt::format("{} {} {}x{}x{}", word_of(c.type), word_of(c.ops), c.m, c.n, c.k);
  const BenchCase packed = packed_case(c.type, c.ops, c.m, c.n, c.k);
  if (c.out != packed.out) text += fmt::format(" out {}", word_of(c.out));
  if (c.lda != packed.lda) text += fmt::format(" lda {}", c.lda);
  if (c.ldb != packed.ldb) text += fmt::format(" ldb {}", c.ldb);
  if (c.ldc != packed.ldc) text += fmt::format(" ldc {}", c.ldc);
  if (c.batch != 1) text += fmt::format(" batch {}", c.batch);
  if (c.given_stride_a != BenchCase::kPacked) text += fmt::format(" stride_a {}", c.given_stride_a);
  if (c.given_stride_b != BenchCase::kPacked) text += fmt::format(" stride_b {}", c.given_stride_b);
  if (c.given_stride_c != BenchCase::kPacked) text += fmt::format(" stride_c {}", c.given_stride_c);
  if (c.alpha != 1) text += fmt::format(" alpha {:g}", c.alpha);
  if (c.beta != 0) text += fmt::format(" beta {:g}", c.beta);
  return text;
}

BenchCase packed_case(DataType type, OpPair ops, int64_t m, int64_t n, int64_t k) {
  BenchCase c{.type = type,
              .out = type,
              .ops = ops,
              .m = m,
              .n = n,
              .k = k,
              .lda = 0,
              .ldb = 0,
              .ldc = m,
              .batch = 1,
              .alpha = 1,
              .beta = 0};
  c.lda = c.a_rows();
  c.ldb = c.b_rows();
  return c;
}

void check_case(const BenchCase& c, const std::string& where) {
  const struct {
    const char* name;
    int64_t value, least;
  } rules[] = {{"m", c.m, 1},
               {"n", c.n, 1},
               {"k", c.k, 1},
               {"batch", c.batch, 1},
               {"lda", c.lda, c.a_rows()},
               {"ldb", c.ldb, c.b_rows()},
               {"ldc", c.ldc, c.m}};
  for (const auto& rule : rules) {
    if (rule.value < rule.least)
      throw UsageError(fmt::format("{}: {} is {}, but must be at least {}", where, rule.name, rule.value, rule.least));
    if (rule.value > INT32_MAX)
      throw UsageError(fmt::format("{}: {} is {}, but bench goes up to 2^31-1", where, rule.name, rule.value));
  }
  for (const int64_t stride : {c.given_stride_a, c.given_stride_b, c.given_stride_c}) {
    if (stride > INT32_MAX)
      throw UsageError(fmt::format("{}: a stride is {}, but bench goes up to 2^31-1", where, stride));
  }
  if (!entries_of_c_are_apart(c))
    throw UsageError(fmt::format("{}: stride_c is {}, so that entries of C overlap", where, c.stride_c()));
  check_out(c.type, c.out, where);
}

std::vector<BenchCase> read_cases(std::istream& file, const std::string& name) {
  std::vector<BenchCase> cases;
  std::vector<std::string> columns;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.starts_with('#') || trimmed(line).empty()) continue;
    std::vector<std::string> values = split_commas(line);
    if (columns.empty()) {
      columns = std::move(values);
      continue;
    }
    const std::string where = fmt::format("{}:{}", name, number);
    if (values.size() > columns.size())
      throw UsageError(fmt::format("{}: {} values for {} columns", where, values.size(), columns.size()));
    Fields fields;
    for (size_t i = 0; i < values.size(); ++i) fields[columns[i]] = values[i];
    cases.push_back(LineReader(fields, where).read());
    check_case(cases.back(), where);
  }
  if (cases.empty())
    throw UsageError(fmt::format("{}: no cases (the first line names the columns: type,op,m,n,k,...)", name));
  return cases;
}

Replay read_replay(std::istream& file, const std::string& name) {
  Replay replay;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const size_t at = line.find("skgemm: call=");
    if (at == std::string::npos) continue;
    const Fields fields = split_pairs(std::string_view(line).substr(at));
    const std::string where = fmt::format("{}:{}", name, number);
    const BenchCase c = LineReader(fields, where).read();
    if (is_illegal(c)) {
      ++replay.illegal;
      continue;
    }
    if (c.m == 0 || c.n == 0 || c.k == 0 || c.batch == 0) continue;
    check_case(c, where);
    replay.cases.push_back(c);
  }
  if (replay.cases.empty())
    throw UsageError(fmt::format(
        "{}: no calls that compute something (record them with SKGEMM_VERBOSE=1 SKGEMM_LOG={})", name, name));
  return replay;
}

}  // namespace skgemm::cli
