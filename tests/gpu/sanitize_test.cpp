// A small set for compute-sanitizer: every kernel, layout and schedule once, with odd shapes and operands that end
// exactly where their allocation ends. These run in the ordinary suite too.
#include "tests/gpu/known_product.h"
#include "tests/gpu/type_pairs.h"

namespace skgemm::test {
namespace {

constexpr skgemm_schedule_t kSchedules[] = {SKGEMM_SCHEDULE_DATA_PARALLEL, SKGEMM_SCHEDULE_FIXED_SPLIT,
                                            SKGEMM_SCHEDULE_STREAM_K, SKGEMM_SCHEDULE_TWO_TILE};

GemmCase tight_case(const TypePair& types, const char* op, int64_t shift) {
  GemmCase c;
  c.in = types.in, c.out = types.out, c.op = op;
  c.m = 131, c.n = 69, c.k = 101 + shift;
  c.offset_a = shift, c.offset_b = 1, c.offset_c = shift, c.tight_end = 1;
  c.beta = shift % 2 ? 2.5 : 0, c.fill = Fill::integer;
  c.schedule = kSchedules[shift % 4];
  if (c.schedule == SKGEMM_SCHEDULE_FIXED_SPLIT) c.parameter = 3;
  if (c.schedule == SKGEMM_SCHEDULE_STREAM_K) c.parameter = 5;
  return c;
}

// A whole number of half-type tiles, so that no edge hides how the ends of k are copied. Leading dimensions are the
// next multiple of `pitch`, one more for an odd `shift`; A and B begin `shift` elements late.
struct WholeTiles {
  const char* op;
  int64_t k, pitch, shift;
};
GemmCase whole_tiles(const TypePair& types, const WholeTiles& w) {
  GemmCase c;
  c.in = types.in, c.out = types.out, c.op = w.op;
  c.m = 256, c.n = 128, c.k = w.k;
  c.width = 128, c.orientation = SKGEMM_ORIENTATION_STRAIGHT;
  const auto ld = [&](int64_t rows) { return (rows + w.pitch - 1) / w.pitch * w.pitch + w.shift % 2; };
  c.lda = ld(c.a_transposed() ? c.k : c.m), c.ldb = ld(c.b_transposed() ? c.n : c.k);
  c.offset_a = c.offset_b = w.shift, c.tight_end = 1, c.fill = Fill::integer;
  c.schedule = SKGEMM_SCHEDULE_STREAM_K;
  return c;
}

// 6 type pairs x 4 operations x 4 schedules and offsets, and one aligned shape each for the wide loads.
class SanitizeMemory : public GpuTest, public testing::WithParamInterface<TypePair> {};

TEST_P(SanitizeMemory, TightOperands) {
  for (const char* op : kOps) {
    for (int64_t shift = 0; shift < 4; ++shift) ASSERT_TRUE(passes(handle(), tight_case(GetParam(), op, shift)));
    GemmCase aligned = tight_case(GetParam(), op, 0);
    aligned.m = 128, aligned.n = 72, aligned.k = 96, aligned.offset_b = 0;
    ASSERT_TRUE(passes(handle(), aligned));
  }
}

// The last steps of k, with rows at any address: one and two elements late, and packed odd rows.
TEST_P(SanitizeMemory, ShortEndsOfUnalignedRows) {
  for (const char* op : kOps) {
    for (int64_t k : {33, 35, 39, 65, 101}) {
      for (int64_t shift : {1, 2}) {
        GemmCase c = whole_tiles(GetParam(), {.op = op, .k = k, .pitch = 1, .shift = shift});
        for (c.parameter = 1; c.parameter < 4; c.parameter += 2) ASSERT_TRUE(passes(handle(), c));
      }
    }
  }
}

// The same with aligned rows, through units of one step to several tiles.
TEST_P(SanitizeMemory, ShortEndsOfAlignedRows) {
  for (const char* op : kOps) {
    for (int64_t k : {1, 7, 40, 41, 63, 95, 97, 167}) {
      GemmCase c = whole_tiles(GetParam(), {.op = op, .k = k, .pitch = 8, .shift = 0});
      for (c.parameter = 1; c.parameter < 4; c.parameter += 2) ASSERT_TRUE(passes(handle(), c));
    }
  }
}

TEST_P(SanitizeMemory, BatchAndWorkspace) {
  GemmCase c = tight_case(GetParam(), "TN", 2);
  c.batch = 3, c.m = 40, c.workspace = 100'000, c.workspace_offset = 4;
  ASSERT_TRUE(passes(handle(), c));
  c.m = 1, c.n = 1, c.k = 1, c.schedule = 0, c.parameter = 0;
  ASSERT_TRUE(passes(handle(), c));
  c.k = 0;
  ASSERT_TRUE(passes(handle(), c));
}

INSTANTIATE_TEST_SUITE_P(All, SanitizeMemory, testing::ValuesIn(kTypePairs), param_name);

// Run-time widths and clusters, and operands that are loaded as they lie, from copies, and one each way.
GemmCase tile_case(const TypePair& types, const char* op, const Placement& where, size_t variant) {
  constexpr Tile tiles[] = {{16, SKGEMM_ORIENTATION_STRAIGHT}, {48, SKGEMM_ORIENTATION_SWAPPED},
                            {112, SKGEMM_ORIENTATION_STRAIGHT}, {256, SKGEMM_ORIENTATION_SWAPPED},
                            {80, SKGEMM_ORIENTATION_SWAPPED}};
  GemmCase c = tight_case(types, op, static_cast<int64_t>(variant % 4));
  const Tile& tile = tiles[variant % std::size(tiles)];
  c.width = tile.width, c.orientation = tile.orientation;
  const ClusterShape& cluster = kClusterShapes[variant % std::size(kClusterShapes)];
  c.cluster_m = cluster.m, c.cluster_n = cluster.n;
  return placed(c, where);
}

class SanitizeMemoryTiles : public TileTest, public testing::WithParamInterface<TypePair> {};

TEST_P(SanitizeMemoryTiles, Placements) {
  size_t variant = 0;
  for (const char* op : kOps) {
    for (const Placement& where : kPlacements) {
      ASSERT_TRUE(passes(handle(), tile_case(GetParam(), op, where, variant++)));
    }
  }
}

TEST_P(SanitizeMemoryTiles, ShortEnds) {
  size_t variant = 0;
  for (const char* op : kOps) {
    for (const Placement& where : {kAligned, kOdd}) {
      for (const int64_t k : {1, 7, 31, 33, 63, 64, 65, 130, 769}) {
        GemmCase c = tile_case(GetParam(), op, kAligned, variant++);
        c.k = k, c.lda = c.ldb = 0;
        ASSERT_TRUE(passes(handle(), placed(c, where)));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SanitizeMemoryTiles, testing::ValuesIn(kWidthPairs), param_name);

// Races in shared memory and in the fixup: one layout per schedule, small. fp64 by TMA only: its other copies arrive at
// their barrier by themselves (cp.async.mbarrier.arrive.noinc), which racecheck of CUDA 13.0 does not follow and takes
// each of them for a race with its reader.
class SanitizeRace : public GpuTest, public testing::WithParamInterface<TypePair> {};

TEST_P(SanitizeRace, EverySchedule) {
  for (int64_t i = 0; i < 4; ++i) {
    GemmCase c = tight_case(GetParam(), kOps[i], i);
    c.m = 70, c.n = 33;
    ASSERT_TRUE(passes(handle(), GetParam().in == DataType::f64 ? placed(c, kAligned) : c));
  }
}

// The copies of whole tiles, with ragged and with whole ends of k, and several units in one CTA.
TEST_P(SanitizeRace, WholeTiles) {
  int64_t parameter = 1;
  for (const char* op : kOps) {
    for (int64_t shift : {0, 2}) {
      GemmCase c = whole_tiles(GetParam(), {.op = op, .k = 97 - shift, .pitch = 8, .shift = shift});
      c.parameter = parameter = 4 - parameter;
      ASSERT_TRUE(passes(handle(), c));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SanitizeRace, testing::ValuesIn(kTypePairs), param_name);

// The same for the producers, the ring (more steps than it has stages) and the chunks of C.
class SanitizeRaceTiles : public TileTest, public testing::WithParamInterface<TypePair> {};

TEST_P(SanitizeRaceTiles, AlignedAndCopied) {
  size_t variant = 0;
  for (const char* op : kOps) {
    for (const Placement& where : {kAligned, kOdd, kPlacements[3]}) {
      GemmCase c = tile_case(GetParam(), op, kAligned, variant++);
      c.k = 900, c.lda = c.ldb = 0;
      ASSERT_TRUE(passes(handle(), placed(c, where)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SanitizeRaceTiles, testing::ValuesIn(kHalfPairs), param_name);

}  // namespace
}  // namespace skgemm::test
