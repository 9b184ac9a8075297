#include "src/cli/words.h"

#include <fmt/format.h>

#include <charconv>

#include "src/cli/command.h"

namespace skgemm::cli {
namespace {

struct TypeWords {
  DataType type;
  const char* word;
  skgemm_type_t api;
};
constexpr TypeWords kTypes[] = {
    {DataType::f16, "h", SKGEMM_R_16F},
    {DataType::bf16, "bf", SKGEMM_R_16BF},
    {DataType::f32, "s", SKGEMM_R_32F},
    {DataType::f64, "d", SKGEMM_R_64F},
};

const TypeWords& words_of(DataType type) {
  for (const TypeWords& row : kTypes) {
    if (row.type == type) return row;
  }
  throw std::logic_error("a data type without words");
}

constexpr struct {
  const char* word;
  ScheduleKind kind;
} kSchedules[] = {
    {"auto", ScheduleKind{}},
    {"dp", ScheduleKind::data_parallel},
    {"split", ScheduleKind::fixed_split},
    {"streamk", ScheduleKind::stream_k},
    {"one-tile", ScheduleKind::one_tile},
    {"two-tile", ScheduleKind::two_tile},
};

constexpr struct {
  const char* word;
  Orientation orientation;
} kOrientations[] = {
    {"auto", Orientation::automatic},
    {"straight", Orientation::straight},
    {"swapped", Orientation::swapped},
};

template <class Number>
std::optional<Number> whole_number(std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<DataType> type_of_word(std::string_view word) {
  for (const TypeWords& row : kTypes) {
    if (word == row.word || word == name_of(row.type)) return row.type;
  }
  return std::nullopt;
}

const char* word_of(DataType type) { return words_of(type).word; }
skgemm_type_t api_type(DataType type) { return words_of(type).api; }

std::optional<OpPair> ops_of_word(std::string_view word) {
  if (word.size() != 2 || word.find_first_not_of("NTCntc") != std::string_view::npos) return std::nullopt;
  auto transposed = [](char c) { return c != 'N' && c != 'n'; };
  return OpPair{transposed(word[0]), transposed(word[1])};
}

std::string word_of(OpPair ops) { return {ops.a_transposed ? 'T' : 'N', ops.b_transposed ? 'T' : 'N'}; }

std::optional<ScheduleKind> schedule_of_word(std::string_view word) {
  for (const auto& row : kSchedules) {
    if (word == row.word || word == name_of(row.kind)) return row.kind;
  }
  return std::nullopt;
}

std::optional<Orientation> orientation_of_word(std::string_view word) {
  for (const auto& row : kOrientations) {
    if (word == row.word) return row.orientation;
  }
  return std::nullopt;
}

std::optional<ClusterShape> cluster_of_word(std::string_view word) {
  if (word == "auto") return ClusterShape{0, 0};
  for (const ClusterShape& cluster : kClusterShapes) {
    if (word == word_of(cluster)) return cluster;
  }
  return std::nullopt;
}

std::string word_of(const ClusterShape& cluster) { return fmt::format("{}x{}", cluster.m, cluster.n); }

std::optional<std::array<int64_t, 3>> tile_of_word(std::string_view word) {
  std::array<int64_t, 3> tile{};
  for (size_t i = 0; i < tile.size(); ++i) {
    const size_t end = i + 1 < tile.size() ? word.find('x') : word.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto extent = integer_of_word(word.substr(0, end));
    if (!extent || *extent < 1) return std::nullopt;
    tile[i] = *extent;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return tile;
}

std::optional<int64_t> integer_of_word(std::string_view word) { return whole_number<int64_t>(word); }
std::optional<double> number_of_word(std::string_view word) { return whole_number<double>(word); }

DataType parse_type(const std::string& word) {
  if (const auto type = type_of_word(word)) return *type;
  throw UsageError(fmt::format("unknown type '{}': use s, d, h or bf", word));
}

OpPair parse_ops(const std::string& word) {
  if (const auto ops = ops_of_word(word)) return *ops;
  throw UsageError(fmt::format("unknown op '{}': use NN, NT, TN or TT (first letter A, second B)", word));
}

ScheduleKind parse_schedule(const std::string& word) {
  if (const auto kind = schedule_of_word(word)) return *kind;
  throw UsageError(fmt::format("unknown schedule '{}': use auto, dp, split, streamk, one-tile or two-tile", word));
}

Orientation parse_orientation(const std::string& word) {
  if (const auto orientation = orientation_of_word(word)) return *orientation;
  throw UsageError(fmt::format("unknown orientation '{}': use auto, straight or swapped", word));
}

ClusterShape parse_cluster(const std::string& word) {
  if (const auto cluster = cluster_of_word(word)) return *cluster;
  throw UsageError(
      fmt::format("unknown cluster '{}': use auto, or 1, 2 or 4 CTAs along m and n, at most 8, as 2x1", word));
}

void check_out(DataType type, DataType out, const std::string& where) {
  if (type == out || (out == DataType::f32 && size_of(type) == 2)) return;
  throw UsageError(fmt::format("{}: out {} is not served for type {}", where, word_of(out), word_of(type)));
}

}  // namespace skgemm::cli
