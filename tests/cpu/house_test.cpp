// The rules of the house, checked on the source tree itself: rooms include one way (src -> heuristics -> kernels), no
// file is a drawer for leftovers, every compiled-in constant has a reader, files and lines stay short.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Source {
  std::string path;  // from the source root
  std::string text;
};

// What a room may include, besides the system's headers and the public one. The tool (src/cli) measures, so it may use
// bench.
const std::map<std::string, std::set<std::string>> kMayInclude{
    {"include", {}},
    {"kernels", {"kernels"}},
    {"heuristics", {"heuristics", "kernels"}},
    {"src", {"src", "heuristics", "kernels"}},
    {"src/cli", {"src", "heuristics", "kernels", "bench"}},
    {"bench", {"bench", "src", "heuristics", "kernels", "tests"}},
    {"tests", {"tests", "bench", "src", "heuristics", "kernels"}},
};

std::string room_of(const std::string& path) {
  if (path.starts_with("src/cli/")) return "src/cli";
  return path.substr(0, path.find('/'));
}

std::vector<std::string> forbidden_includes(const Source& source) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re", std::regex::multiline);
  static const std::regex cuda(R"(cuda.*|cu[A-Z_].*|nv.*)");
  const std::string room = room_of(source.path);
  std::vector<std::string> bad;
  for (std::sregex_iterator it(source.text.begin(), source.text.end(), include), end; it != end; ++it) {
    const std::string target = (*it)[2];
    const bool own = (*it)[1] == "\"";
    const size_t slash =
        target.find('/');  // without one it is the public header, or a generated file of the room itself
    if (own && slash != std::string::npos && !kMayInclude.at(room).contains(target.substr(0, slash)))
      bad.push_back(target);
    // The selector is a pure host function of (shape, catalogue, device).
    if (room == "heuristics" && std::regex_match(target, cuda)) bad.push_back(target);
  }
  return bad;
}

bool is_drawer(const std::string& path) {
  static const std::regex drawer(R"((^|.*[_.-])(utils?|common|helpers?|misc)([_.-].*|$))");
  return std::regex_match(fs::path(path).filename().string(), drawer);
}

std::vector<std::string> constants_in(const Source& source) {
  static const std::regex constant(R"(constexpr\s[^;=({]*\b(k[A-Z]\w*)\s*(\[[^\]]*\])?\s*[={])");
  std::vector<std::string> names;
  for (std::sregex_iterator it(source.text.begin(), source.text.end(), constant), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

bool mentions(const Source& source, const std::string& name) {
  return std::regex_search(source.text, std::regex("\\b" + name + "\\b"));
}

constexpr int kMostLines = 320, kMostColumns = 120;

// Sources in C, C++, CUDA, CMake, Python and shell; tables and inputs may be as they are.
bool has_limits(const std::string& path) {
  static const std::set<std::string> limited{".h", ".cpp", ".cuh", ".cu", ".c", ".py", ".cmake", ".sh"};
  const fs::path file(path);
  return limited.contains(file.extension().string()) || file.filename() == "CMakeLists.txt";
}

// "" or what is longer than the limits.
std::string too_long(const Source& source) {
  std::istringstream lines(source.text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    ++count;
    // Continuation bytes of UTF-8 take no column.
    const auto columns =
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    if (columns > kMostColumns) return "line " + std::to_string(count) + " has " + std::to_string(columns) + " columns";
  }
  return count > kMostLines ? std::to_string(count) + " lines" : "";
}

Source read_source(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(SKGEMM_SOURCE_DIR / path).rdbuf();
  return {path.string(), text.str()};
}

const std::vector<Source>& tree() {
  static const std::vector<Source> sources = [] {
    const fs::path root = SKGEMM_SOURCE_DIR;
    const std::set<std::string> code{".h",   ".cpp", ".cuh", ".cu",    ".c",  ".def", ".py",
                                     ".f90", ".m",   ".R",   ".cmake", ".sh", ".txt"};
    std::vector<Source> found;
    for (const auto& room : kMayInclude) {
      if (room.first == "src/cli") continue;  // inside src
      for (const auto& entry : fs::recursive_directory_iterator(root / room.first)) {
        if (!entry.is_regular_file() || !code.contains(entry.path().extension().string())) continue;
        found.push_back(read_source(fs::relative(entry.path(), root)));
      }
    }
    return found;
  }();
  return sources;
}

TEST(House, TheRulesNoticeWhatTheyForbid) {
  const auto included = [](const char* path, const char* line) { return forbidden_includes({path, line}).size(); };
  EXPECT_EQ(included("kernels/a.h", "#include \"heuristics/select.h\"\n"), 1u);
  EXPECT_EQ(included("heuristics/a.cpp", "  # include \"src/gpu.h\"\n"), 1u);
  EXPECT_EQ(included("heuristics/a.cpp", "#include <cuda_runtime_api.h>\n"), 1u);
  EXPECT_EQ(included("kernels/a.h", "#include \"../src/gpu.h\"\n"), 1u);
  EXPECT_EQ(included("src/a.cpp", "#include \"tests/support/random.h\"\n"), 1u);
  EXPECT_EQ(included("src/a.cpp", "#include \"heuristics/select.h\"\n#include \"skgemm.h\"\n#include <string>\n"), 0u);
  EXPECT_TRUE(is_drawer("src/utils.h"));
  EXPECT_TRUE(is_drawer("src/gpu_helpers.cpp"));
  EXPECT_TRUE(is_drawer("kernels/common.cuh"));
  EXPECT_FALSE(is_drawer("src/commons_law.h"));
  EXPECT_EQ(constants_in({"", "inline constexpr double kA = 1;\ninline constexpr std::array<Row, 0> kRows{};\n"}),
            (std::vector<std::string>{"kA", "kRows"}));
  EXPECT_FALSE(mentions({"", "kRowsOther"}, "kRows"));
  EXPECT_EQ(too_long({"", "\n" + std::string(121, 'x')}), "line 2 has 121 columns");
  EXPECT_EQ(too_long({"", std::string(321, '\n')}), "321 lines");
  EXPECT_EQ(too_long({"", std::string(320, '\n') + std::string(120, 'x')}), "321 lines");
  EXPECT_EQ(too_long({"", std::string(319, '\n') + std::string(120, 'x')}), "");
  EXPECT_TRUE(has_limits("tests/cpu/CMakeLists.txt") && has_limits("kernels/launch.cu"));
  EXPECT_FALSE(has_limits("tests/clients/hpccinf.txt"));
}

TEST(House, RoomsIncludeOneWay) {
  ASSERT_GT(tree().size(), 30u) << "the source tree was not found in " SKGEMM_SOURCE_DIR;
  for (const Source& source : tree())
    for (const std::string& target : forbidden_includes(source))
      ADD_FAILURE() << source.path << " includes " << target
                    << ", which its room may not know (src -> heuristics -> kernels)";
}

TEST(House, NoFileIsADrawer) {
  for (const Source& source : tree())
    EXPECT_FALSE(is_drawer(source.path)) << source.path << ": name the file by what is in it";
}

TEST(House, EveryCompiledInConstantIsRead) {
  int constants = 0;
  for (const Source& home : tree()) {
    if (!home.path.starts_with("heuristics/constants/")) continue;
    for (const std::string& name : constants_in(home)) {
      ++constants;
      bool read = false;
      for (const Source& source : tree())
        read = read || (source.path.starts_with("heuristics/") && source.path != home.path && mentions(source, name));
      EXPECT_TRUE(read) << home.path << ": nobody reads " << name;
    }
  }
  EXPECT_GT(constants, 0);
}

TEST(House, FilesAndLinesAreShort) {
  std::vector<Source> sources;
  std::ranges::copy_if(tree(), std::back_inserter(sources), [](const Source& s) { return has_limits(s.path); });
  for (const char* path : {"CMakeLists.txt", "run", ".ci/run"}) sources.push_back(read_source(path));
  for (const auto& entry : fs::directory_iterator(fs::path(SKGEMM_SOURCE_DIR) / "cmake"))
    sources.push_back(read_source("cmake" / entry.path().filename()));
  for (const Source& source : sources) EXPECT_EQ(too_long(source), "") << source.path;
}

}  // namespace
