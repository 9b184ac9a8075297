// Random and edge shapes: every type, operation, leading dimension, offset, scalar, stride and schedule, against fp64.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <tuple>

#include "tests/gpu/gpu_test.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

constexpr int64_t kTails[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257};

int64_t random_extent(Random& random) {
  const int64_t kind = random.integer(0, 9);
  if (kind < 4) return random.integer(1, 20);
  if (kind < 7) return random.pick(kTails);
  return kind < 9 ? random.integer(1, 200) : random.integer(200, 700);
}

// The fp64 reference of one case should take milliseconds.
void limit_work(GemmCase& c) {
  while (c.m * c.n * c.k * c.batch > int64_t{1} << 24) {
    int64_t& largest = c.m >= c.n && c.m >= c.k ? c.m : c.n >= c.k ? c.n : c.k;
    largest = largest / 2 + 1;
  }
}

void choose_layout(GemmCase& c, Random& random) {
  constexpr int64_t pads[] = {0, 0, 1, 3, 5, 8}, offsets[] = {0, 0, 1, 3, 7, 8};
  const GemmCase tight = completed(c);
  c.lda = tight.lda + random.pick(pads);
  c.ldb = tight.ldb + random.pick(pads);
  c.ldc = tight.ldc + random.pick(pads);
  c.offset_a = random.pick(offsets);
  c.offset_b = random.pick(offsets);
  c.offset_c = random.pick(offsets);
  c.tight_end = random.one_in(3);
  if (c.batch == 1) return;
  c.stride_a = c.stride_b = c.stride_c = kPacked;
  const GemmCase packed = completed(c);
  constexpr int64_t signs[] = {1, 1, 0, -1};
  c.stride_a = random.pick(signs) * (packed.stride_a + random.pick(pads));
  c.stride_b = random.pick(signs) * (packed.stride_b + random.pick(pads));
  c.stride_c = (random.one_in(3) ? -1 : 1) * (packed.stride_c + random.pick(pads));
}

void choose_modes(GemmCase& c, Random& random) {
  constexpr double alphas[] = {1, 1, 1, -1, 2.5, 0}, betas[] = {0, 0, 1, -1, 2.5, -0.0};
  c.alpha = random.one_in(40) ? std::numeric_limits<double>::quiet_NaN() : random.pick(alphas);
  c.beta = random.one_in(40) ? std::numeric_limits<double>::quiet_NaN() : random.pick(betas);
  c.device_scalars = random.one_in(3);
  c.typed_call = random.one_in(2);
  c.fill = random.one_in(2) ? Fill::integer : Fill::real;
  if (random.one_in(2)) {
    constexpr int64_t grids[] = {0, 1, 2, 3, 7, 50, 132, 133, 300};
    c.schedule = random.integer(SKGEMM_SCHEDULE_DATA_PARALLEL, SKGEMM_SCHEDULE_TWO_TILE);
    if (c.schedule == SKGEMM_SCHEDULE_FIXED_SPLIT) c.parameter = random.integer(2, 8);
    if (c.schedule == SKGEMM_SCHEDULE_STREAM_K) c.parameter = random.pick(grids);
  }
  if (random.one_in(2)) c.width = 8 * random.integer(0, 32);
  c.orientation = random.integer(SKGEMM_ORIENTATION_AUTO, SKGEMM_ORIENTATION_SWAPPED);
  if (random.one_in(4)) {
    constexpr int64_t bytes[] = {1, 100, 20'000, 1 << 20}, offsets[] = {0, 4, 16, 100};
    c.workspace = random.pick(bytes);
    c.workspace_offset = random.pick(offsets);
  }
}

GemmCase random_case(const TypePair& types, uint64_t seed) {
  Random random(seed * 1000003 + static_cast<uint64_t>(types.in) * 31 + static_cast<uint64_t>(types.out));
  constexpr char ops[] = {'N', 'N', 'T', 'T', 'C'};
  GemmCase c;
  c.in = types.in, c.out = types.out;
  c.op = {random.pick(ops), random.pick(ops)};
  c.m = random_extent(random), c.n = random_extent(random), c.k = random_extent(random);
  c.batch = random.one_in(3) ? random.integer(2, 5) : 1;
  c.seed = static_cast<int64_t>(seed);
  limit_work(c);
  choose_layout(c, random);
  choose_modes(c, random);
  return c;
}

class RandomShapes : public GpuTest, public testing::WithParamInterface<std::tuple<TypePair, int>> {};

// 6 type pairs x 4 x 36 = 864 cases. SKGEMM_SEED adds to the seeds, for longer campaigns.
TEST_P(RandomShapes, Match) {
  set_deadline(std::chrono::seconds(30));
  const auto [types, chunk] = GetParam();
  const char* shift = std::getenv("SKGEMM_SEED");
  const uint64_t first = static_cast<uint64_t>(chunk) * 36 + (shift ? std::strtoull(shift, nullptr, 10) : 0);
  for (uint64_t seed = first; seed < first + 36; ++seed) {
    ASSERT_TRUE(passes(handle(), random_case(types, seed)));
  }
}

std::string chunk_name(const testing::TestParamInfo<std::tuple<TypePair, int>>& chosen) {
  const auto& [types, chunk] = chosen.param;
  return name_of_pair(types) + "_" + std::to_string(chunk);
}

INSTANTIATE_TEST_SUITE_P(All, RandomShapes, testing::Combine(testing::ValuesIn(kTypePairs), testing::Range(0, 4)),
                         chunk_name);

class Layout : public GpuTest, public testing::WithParamInterface<TypePair> {};

// Each tail as m, with n and k walking the same list by strides that share no factor with its length (19).
TEST_P(Layout, Tails) {
  set_deadline(std::chrono::seconds(30));
  constexpr size_t count = std::size(kTails);
  for (const char* op : kOps) {
    for (size_t i = 0; i < 2 * count; ++i) {
      GemmCase c;
      c.in = GetParam().in, c.out = GetParam().out;
      c.op = op;
      c.m = kTails[i % count], c.n = kTails[(i * 7 + 3 + i / count) % count], c.k = kTails[(i * 11 + 5) % count];
      c.beta = i % 3 == 0 ? 2.5 : 0;
      c.fill = i % 2 == 0 ? Fill::integer : Fill::real;
      c.tight_end = 1;
      ASSERT_TRUE(passes(handle(), c));
    }
  }
}

// Rows shorter than any vector load, and operands at every distance from a 16-byte boundary.
TEST_P(Layout, OffsetsAndLeadingDimensions) {
  set_deadline(std::chrono::seconds(30));
  for (const char* op : kOps) {
    for (int64_t shift = 0; shift < 8; ++shift) {
      GemmCase c;
      c.in = GetParam().in, c.out = GetParam().out;
      c.op = op;
      c.m = 65 + shift, c.n = 40, c.k = 48 + 3 * shift;
      c.offset_a = shift, c.offset_b = 7 - shift, c.offset_c = (3 * shift) % 8;
      const GemmCase tight = completed(c);
      c.lda = (tight.lda + 7) / 8 * 8 + (shift % 2 ? shift : 0);
      c.ldb = (tight.ldb + 7) / 8 * 8 + (shift % 3 ? 8 : 1);
      c.ldc = tight.ldc + shift;
      c.beta = -1, c.tight_end = 1, c.fill = Fill::integer;
      ASSERT_TRUE(passes(handle(), c));
    }
  }
}

// Small shapes that a fast path might take for granted: all of 1..4 x 1..4 with k up to 9.
TEST_P(Layout, Tiny) {
  set_deadline(std::chrono::seconds(30));
  for (int64_t index = 0; index < 4 * 4 * 9; ++index) {
    GemmCase c;
    c.in = GetParam().in, c.out = GetParam().out;
    c.op = kOps[index % 4];
    c.m = index % 4 + 1, c.n = index / 4 % 4 + 1, c.k = index / 16 + 1;
    c.fill = Fill::integer, c.tight_end = 1, c.typed_call = 1;
    ASSERT_TRUE(passes(handle(), c));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Layout, testing::ValuesIn(kTypePairs), param_name);

// The same shape aligned, then misaligned, then aligned: a remembered decision must know the difference.
class Cases : public GpuTest {};

TEST_F(Cases, AlignmentIsPartOfTheDecision) {
  for (const TypePair& types : kTypePairs) {
    for (const int64_t offset : {0, 1, 0, 4, 1}) {
      GemmCase c;
      c.in = types.in, c.out = types.out;
      c.m = c.n = c.k = 96;
      c.offset_a = c.offset_b = c.offset_c = offset;
      c.fill = Fill::integer;
      ASSERT_TRUE(passes(handle(), c));
    }
  }
}

std::filesystem::path case_folder() {
  const char* named = std::getenv("SKGEMM_CASES_DIR");
  return named ? std::filesystem::path(named) : std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cases";
}

TEST_F(Cases, FromFiles) {
  set_deadline(std::chrono::seconds(60));
  int ran = 0;
  for (const auto& file : std::filesystem::directory_iterator(case_folder())) {
    for (GemmCase c : read_cases(file.path().string())) {
      ++ran;
      c.fill = ran % 2 ? Fill::integer : Fill::real;
      EXPECT_TRUE(passes(handle(), c)) << "from " << file.path();
    }
  }
  EXPECT_GT(ran, 0) << "no case files in " << case_folder();
}

class Repeat : public GpuTest {};

TEST_F(Repeat, Case) {
  const char* text = std::getenv("SKGEMM_CASE");
  if (text == nullptr) GTEST_SKIP() << "runs one case: set SKGEMM_CASE to what a failing test printed";
  set_deadline(std::chrono::seconds(60));
  EXPECT_TRUE(passes(handle(), parse_case(text)));
}

}  // namespace
}  // namespace skgemm::test
