// The words of the command line, of case files and of log lines: types, layouts, schedules, orientations, clusters,
// tiles.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "heuristics/select.h"
#include "skgemm.h"

namespace skgemm::cli {

// s d h bf, or f32 f64 f16 bf16.
std::optional<DataType> type_of_word(std::string_view word);
// The short word: s d h bf.
const char* word_of(DataType type);
skgemm_type_t api_type(DataType type);

// NN NT TN TT; C counts as T (real types).
struct OpPair {
  bool a_transposed, b_transposed;

  bool operator==(const OpPair&) const = default;
};
std::optional<OpPair> ops_of_word(std::string_view word);
std::string word_of(OpPair ops);

// auto dp split streamk one-tile two-tile, and the long names that plans print. ScheduleKind{} is auto.
std::optional<ScheduleKind> schedule_of_word(std::string_view word);

// auto straight swapped
std::optional<Orientation> orientation_of_word(std::string_view word);

// auto, or one of kClusterShapes as 2x1. {0, 0} is auto.
std::optional<ClusterShape> cluster_of_word(std::string_view word);
std::string word_of(const ClusterShape& cluster);

// "128x64x16"
std::optional<std::array<int64_t, 3>> tile_of_word(std::string_view word);

// A whole decimal number and nothing else.
std::optional<int64_t> integer_of_word(std::string_view word);
std::optional<double> number_of_word(std::string_view word);

// The conversions for command lines: the same, with UsageError in words on failure.
DataType parse_type(const std::string& word);
OpPair parse_ops(const std::string& word);
ScheduleKind parse_schedule(const std::string& word);
Orientation parse_orientation(const std::string& word);
ClusterShape parse_cluster(const std::string& word);
// Throws UsageError, beginning with `where`, when products of this type can't be stored as `out`.
void check_out(DataType type, DataType out, const std::string& where);

}  // namespace skgemm::cli
