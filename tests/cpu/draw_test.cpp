// Timelines and drawings: the Stream-K paper's worked examples, conservation of work, and that text and SVG hold
// together.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "heuristics/cost_model.h"
#include "heuristics/select.h"
#include "src/cli/draw.h"
#include "src/cli/palette.h"
#include "src/cli/plan.h"
#include "src/cli/words.h"

namespace skgemm::cli {
namespace {

constexpr ActionCosts kFreeFixup{.start = 0, .step = 1, .publish = 0, .collect = 0, .store = 0};
constexpr ActionCosts kCosts{.start = 3, .step = 1, .publish = 2.5, .collect = 1.5, .store = 0.5};

TileSpace space_of(int64_t m, int64_t n, int64_t k, int64_t tile_n = 128) {
  return {ceil_div(m, 128), ceil_div(n, tile_n), 1, ceil_div(k, 4), ceil_div(m, 128)};
}

TEST(Timeline, worked_examples_of_the_paper) {
  const int64_t p = 4;
  const TileSpace figure1 = space_of(384, 384, 128);
  EXPECT_DOUBLE_EQ(make_timeline(data_parallel(figure1, p), kFreeFixup, p).step_utilisation, 0.75);
  EXPECT_DOUBLE_EQ(make_timeline(data_parallel(space_of(384, 384, 128, 64), p), kFreeFixup, p).step_utilisation, 0.9);
  EXPECT_DOUBLE_EQ(make_timeline(fixed_split(figure1, p, 2), kFreeFixup, p).step_utilisation, 0.9);
  const Timeline figure2 = make_timeline(stream_k(figure1, p), kFreeFixup, p);
  EXPECT_DOUBLE_EQ(figure2.step_utilisation, 1);
  EXPECT_DOUBLE_EQ(figure2.makespan, 72);  // the 72 MAC-loop iterations of each CTA
  EXPECT_EQ(figure2.fixups, 3);
  const TileSpace figure3 = space_of(896, 384, 128);
  EXPECT_DOUBLE_EQ(make_timeline(data_parallel(figure3, p), kFreeFixup, p).step_utilisation, 21.0 / 24);
  EXPECT_DOUBLE_EQ(make_timeline(one_tile(figure3, p), kFreeFixup, p).step_utilisation, 1);
  EXPECT_DOUBLE_EQ(make_timeline(two_tile(figure3, p), kFreeFixup, p).step_utilisation, 1);
  const TileSpace figure9 = space_of(128, 128, 384);
  EXPECT_DOUBLE_EQ(make_timeline(data_parallel(figure9, p), kFreeFixup, p).makespan, 96);
  EXPECT_DOUBLE_EQ(make_timeline(stream_k(figure9, p), kFreeFixup, p).makespan, 24);
}

std::vector<Schedule> many_schedules() {
  std::vector<Schedule> all;
  for (const TileSpace& space : {TileSpace{3, 5, 1, 7, 2}, TileSpace{1, 1, 1, 50, 1}, TileSpace{4, 4, 3, 9, 4}}) {
    for (const int64_t p : {1, 4, 13}) {
      all.insert(all.end(), {data_parallel(space, p), fixed_split(space, p, 3), stream_k(space, p),
                             stream_k(space, 2 * p + 1), one_tile(space, p), two_tile(space, p)});
    }
  }
  return all;
}

TEST(Timeline, work_is_kept_and_boxes_do_not_overlap) {
  for (const Schedule& s : many_schedules()) {
    for (const int64_t places : {int64_t{1}, int64_t{4}, s.ctas}) {
      const Timeline t = make_timeline(s, kCosts, places);
      EXPECT_EQ(t.steps, s.tiles() * s.space.steps);
      EXPECT_LE(t.rows, places);
      std::map<int64_t, int64_t> steps_of_tile, sums_of_tile, contributors_of_tile;
      for (size_t i = 0; i < t.boxes.size(); ++i) {
        const Box& box = t.boxes[i];
        ASSERT_LE(box.begin, box.end);
        ASSERT_LE(box.end, t.makespan);
        if (i > 0 && t.boxes[i - 1].row == box.row) {
          ASSERT_GE(box.begin, t.boxes[i - 1].end);
        }
        const bool last = i + 1 == t.boxes.size() || t.boxes[i + 1].row != box.row || t.boxes[i + 1].cta != box.cta;
        const bool ends_tile = box.kind == BoxKind::collect || (box.kind == BoxKind::compute && box.contributors == 1);
        // The store of C between a finished tile and the CTA's next unit, and nowhere else.
        if (!last) {
          ASSERT_EQ(t.boxes[i + 1].kind == BoxKind::store, ends_tile);
        }
        if (box.kind == BoxKind::collect) ++sums_of_tile[box.tile];
        if (box.kind != BoxKind::compute) continue;
        steps_of_tile[box.tile] += box.steps;
        contributors_of_tile[box.tile] = box.contributors;
      }
      ASSERT_EQ(std::ssize(steps_of_tile), s.tiles());
      int64_t divided = 0;
      for (const auto& [tile, steps] : steps_of_tile) {
        ASSERT_EQ(steps, s.space.steps);
        ASSERT_EQ(sums_of_tile[tile], contributors_of_tile[tile] > 1 ? 1 : 0) << name_of(s.kind) << " tile " << tile;
        divided += contributors_of_tile[tile] > 1 ? 1 : 0;
      }
      EXPECT_EQ(t.fixups, divided);
    }
  }
}

TEST(Timeline, agrees_with_the_cost_model_where_that_is_exact) {
  const CostConstants k{.a = kCosts.start,
                        .b = kCosts.publish,
                        .c = kCosts.step,
                        .d = kCosts.collect,
                        .e = kCosts.store,
                        .solo = kCosts.step};
  const TileSpace space{4, 4, 1, 12, 4};
  // Whole tiles, and tiles cut into equal parts that all arrive together.
  for (const Schedule& s :
       {data_parallel(space, 5), data_parallel(space, 40), stream_k(space, 32), stream_k(space, 64)}) {
    EXPECT_DOUBLE_EQ(make_timeline(s, kCosts, s.ctas).makespan, makespan(k, s, s.ctas, 1))
        << name_of(s.kind) << " " << s.ctas;
  }
}

TEST(Timeline, merging_keeps_the_work) {
  Timeline t = make_timeline(two_tile(TileSpace{40, 40, 1, 3, 40}, 7), kCosts, 7);
  const size_t boxes = t.boxes.size();
  auto steps = [&] {
    int64_t sum = 0;
    for (const Box& box : t.boxes) sum += box.kind == BoxKind::compute ? box.steps : 0;
    return sum;
  };
  const int64_t before = steps();
  merge_narrow(t, t.makespan / 20);
  EXPECT_EQ(steps(), before);
  EXPECT_LT(t.boxes.size(), boxes / 4);
  EXPECT_TRUE(std::ranges::any_of(t.boxes, [](const Box& box) { return box.merged > 1; }));
}

const Caption kCaption{.title = "a < b & \"c\"",
                       .lines = {"line one", "line two"},
                       .worker_word = "CTA",
                       .row_word = "SM",
                       .time_unit = "k-steps"};

TEST(Text, plain_text_has_no_escapes_and_a_line_per_row) {
  const std::string text = draw_text(make_timeline(stream_k(space_of(384, 384, 128), 4), kFreeFixup, 4), kCaption, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (const char* expected : {"a < b", "line two", "SM 0", "SM 3", "▾", "Σ", "k-steps"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected;
  EXPECT_EQ(text.find("SM 4"), std::string::npos);
  EXPECT_EQ(text.find("·····"), std::string::npos);  // nobody is idle
}

TEST(Text, idle_places_show) {
  const std::string text =
      draw_text(make_timeline(data_parallel(space_of(384, 384, 128), 4), kFreeFixup, 4), kCaption, {});
  EXPECT_NE(text.find("·····"), std::string::npos);
  EXPECT_EQ(text.find("▾"), std::string::npos);
}

TEST(Text, the_end_of_a_tile_is_explained_where_it_is_drawn) {
  const Schedule s = data_parallel(space_of(384, 384, 128), 4);
  const std::string words = "▪ ends a tile";
  EXPECT_NE(draw_text(make_timeline(s, kCosts, 4), kCaption, {}).find(words), std::string::npos);
  EXPECT_EQ(draw_text(make_timeline(s, kFreeFixup, 4), kCaption, {}).find(words), std::string::npos);
}

TEST(Text, many_rows_are_sampled_and_lines_fit) {
  const Timeline t = make_timeline(data_parallel(TileSpace{264, 1, 1, 4, 264}, 264), kFreeFixup, 264);
  const std::string text = draw_text(t, kCaption, {.colour = Colour::none, .columns = 80, .most_rows = 36});
  EXPECT_LE(std::ranges::count(text, '\n'), 50);
  EXPECT_NE(text.find("One row in 9 is shown, of 264."), std::string::npos);
  std::string line;
  for (std::istringstream lines(text); std::getline(lines, line);) {
    const auto characters = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(characters, 80) << line;
  }
}

TEST(Text, colours) {
  const Timeline t = make_timeline(stream_k(space_of(384, 384, 128), 4), kFreeFixup, 4);
  EXPECT_NE(draw_text(t, kCaption, {.colour = Colour::full}).find("\x1b[30;48;2;"), std::string::npos);
  EXPECT_NE(draw_text(t, kCaption, {.colour = Colour::palette}).find("\x1b[30;48;5;"), std::string::npos);
}

// Open and closed tags match, attributes are quoted, text is escaped.
void expect_well_formed(const std::string& svg) {
  static const std::regex tag(R"(<(/?)([a-zA-Z]+)((?:\s+[a-zA-Z0-9:-]+="[^"<]*")*)\s*(/?)>)");
  std::vector<std::string> open;
  size_t tags = 0;
  const size_t begin = svg.find("<svg");
  for (std::sregex_iterator it(svg.begin() + static_cast<std::ptrdiff_t>(begin), svg.end(), tag), end; it != end;
       ++it, ++tags) {
    const std::smatch& match = *it;
    if (match[1].length() > 0) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), match[2]);
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2]);
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(static_cast<std::ptrdiff_t>(tags), std::ranges::count(svg.substr(begin), '<'));
}

TEST(Svg, is_well_formed_and_names_its_parts) {
  const std::string svg = draw_svg(make_timeline(stream_k(space_of(384, 384, 128), 4), kFreeFixup, 4), kCaption);
  expect_well_formed(svg);
  for (const char* expected : {"a &lt; b &amp; &quot;c&quot;", "100 %", ">SM 3<", "stores a partial",
                               "sums the partials", "idle", "CTA 2: tile 5, 32 k-steps"}) {
    EXPECT_NE(svg.find(expected), std::string::npos) << expected;
  }
}

TEST(Drawings, clusters_are_named) {
  Caption caption = kCaption;
  caption.worker_word = caption.row_word = "cluster";
  const Timeline t = make_timeline(stream_k(space_of(384, 384, 128), 4), kFreeFixup, 4);
  const std::string svg = draw_svg(t, caption);
  for (const char* expected : {">cluster 3<", "cluster 2: tile 5, 32 k-steps", "the last cluster to reach"})
    EXPECT_NE(svg.find(expected), std::string::npos) << expected;
  EXPECT_EQ(svg.find("CTA"), std::string::npos);
  EXPECT_NE(draw_text(t, caption, {}).find("cluster 3  "), std::string::npos);
}

TEST(Captions, say_the_cluster_where_there_is_one) {
  const DeviceModel& h200 = *find_device("h200");
  const Shape shape{4096, 4096, 1024, 1, DataType::f16, DataType::f16, false, true, 16, 16, 16, true};
  PlanOptions options;
  options.m = options.n = 4096, options.k = 1024, options.type = "h";
  for (const ClusterShape& cluster : {ClusterShape{1, 1}, {2, 1}, {2, 2}}) {
    const Limits limits{.forced_width = 128, .forced_orientation = Orientation::straight, .forced_cluster = cluster};
    const Plan plan = select(shape, h200, limits);
    const Planned planned{plan, 64, kCosts, 0, room_for(*plan.kernel, h200, limits, cluster).ctas(), false, "a part"};
    const Timeline t = make_timeline(plan.schedule, planned.costs, planned.places);
    const Caption caption = caption_of(options, planned, t);
    const nlohmann::json json = json_of(options, planned, t);
    const bool clustered = cluster.ctas() > 1;
    const std::string words = clustered ? fmt::format(" clusters of {}x{} CTAs", cluster.m, cluster.n) : " CTAs";
    EXPECT_NE(caption.lines[0].find(fmt::format("{}{}", plan.schedule.ctas, words)), std::string::npos)
        << caption.lines[0];
    EXPECT_EQ(caption.row_word, clustered ? "cluster" : "CTA");
    EXPECT_EQ(json.contains("cluster"), clustered);
    EXPECT_EQ(json["tile"][0], 128 * cluster.m);
    EXPECT_EQ(to_string(plan).find(" cluster ") != std::string::npos, clustered) << to_string(plan);
  }
}

TEST(Words, clusters) {
  EXPECT_EQ(parse_cluster("auto"), (ClusterShape{0, 0}));
  for (const char* word : {"1x1", "2x1", "1x2", "2x2", "4x1", "2x4"}) EXPECT_EQ(word_of(parse_cluster(word)), word);
  for (const char* word : {"", "2", "0x0", "2x", "4x4", "3x1", "2x2x1", "x"})
    EXPECT_FALSE(cluster_of_word(word)) << word;
}

TEST(Svg, says_who_sums_only_where_tiles_are_shared) {
  const TileSpace space = space_of(384, 384, 128);
  const auto says = [](const Schedule& s) {
    return draw_svg(make_timeline(s, kFreeFixup, 4), kCaption).find("Nobody waits") != std::string::npos;
  };
  EXPECT_TRUE(says(stream_k(space, 4)));
  EXPECT_FALSE(says(data_parallel(space, 4)));
}

TEST(Svg, many_rows_stay_on_the_page) {
  const std::string svg = draw_svg(make_timeline(two_tile(TileSpace{40, 30, 1, 16, 9}, 264), kCosts, 264), kCaption);
  expect_well_formed(svg);
  static const std::regex rectangle(R"re(<rect x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)")re");
  int rectangles = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), rectangle), end; it != end; ++it, ++rectangles) {
    ASSERT_LE(std::stod((*it)[1]) + std::stod((*it)[3]), 1280);
    ASSERT_LE(std::stod((*it)[2]) + std::stod((*it)[4]), 1100);
  }
  EXPECT_GT(rectangles, 1200);
}

TEST(Palette, known_colours) {
  EXPECT_EQ(oklch(1, 0, 0), (Rgb{255, 255, 255}));
  EXPECT_EQ(oklch(0, 0, 0), (Rgb{0, 0, 0}));
  EXPECT_EQ(oklch(0.62796, 0.25768, 29.234), (Rgb{255, 0, 0}));  // sRGB red in OKLCH
  EXPECT_EQ(terminal_index({255, 0, 0}), 196);
  EXPECT_EQ(terminal_index({0, 0, 0}), 16);
  EXPECT_EQ(terminal_index({255, 255, 255}), 231);
}

TEST(Palette, neighbours_differ) {
  for (int64_t tile = 0; tile < 500; ++tile) {
    for (const bool shared : {false, true}) {
      const Rgb x = tile_colour(tile, shared), y = tile_colour(tile + 1, shared);
      EXPECT_GT(std::abs(x.r - y.r) + std::abs(x.g - y.g) + std::abs(x.b - y.b), 30) << tile;
    }
  }
}

TEST(Axis, distances_are_round_and_few) {
  EXPECT_DOUBLE_EQ(axis_distance(72, 8), 10);
  EXPECT_DOUBLE_EQ(axis_distance(260, 12), 50);
  EXPECT_DOUBLE_EQ(axis_distance(0.7, 10), 0.1);
  for (double length = 0.01; length < 1e6; length *= 1.37) EXPECT_LE(length / axis_distance(length, 12), 12.001);
}

}  // namespace
}  // namespace skgemm::cli
