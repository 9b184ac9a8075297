// Operands whose lines aren't aligned: what room the selector counts for their copies, and what it does without it.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "kernels/aligned_copy.h"
#include "kernels/fixup.h"
#include "tests/cpu/width_case.h"

namespace skgemm {
namespace {

// Lines of halves at multiples of 128 bytes, shorter ones than 256 bytes at multiples of 32; a whole operand's, a batch
// entry, at multiples of 256.
size_t plainly_counted(int64_t along, int64_t lines, int64_t batch) {
  size_t entry = 0;
  while (entry < static_cast<size_t>(along) * 2) entry += along < 128 ? 32 : 128;
  entry *= static_cast<size_t>(lines);
  while (entry % 256 != 0) entry += 32;
  return entry * static_cast<size_t>(batch);
}

size_t plainly_counted(const Shape& s) {
  size_t bytes = 0;
  const int64_t as = s.a_shared ? 1 : s.batch, bs = s.b_shared ? 1 : s.batch;
  if (s.a_align < 16) bytes += s.a_k_major ? plainly_counted(s.k, s.m, as) : plainly_counted(s.m, s.k, as);
  if (s.b_align < 16) bytes += s.b_k_major ? plainly_counted(s.k, s.n, bs) : plainly_counted(s.n, s.k, bs);
  return bytes;
}

// The greatest power of two up to 128 that all lines of a copy start at multiples of.
int plain_alignment(int64_t along) {
  const size_t pitch = plainly_counted(along, 256, 1) / 256;
  return pitch % 128 == 0 ? 128 : pitch % 64 == 0 ? 64 : 32;
}

// Of all layouts; A, B or both unaligned; some batches share one or both.
template <class Body>
void for_unaligned_shapes(int count, Body&& body) {
  const auto vary = [](Shape& shape, int i) {
    shape.batch = i % 5 == 0 ? 3 : 1;
    shape.a_k_major = i % 2 == 0;
    shape.b_k_major = i % 4 < 2;
    if (i % 3 != 0) shape.a_align = 2;
    if (i % 3 != 1) shape.b_align = 8;
    shape.a_shared = shape.batch > 1 && i % 15 < 10;
    shape.b_shared = shape.batch > 1 && i % 15 > 0;
  };
  for_drawn_shapes(count, 23, 12.5, vary, body);
}

TEST(SelectCopies, AlignedOperandsAreNotCopied) {
  for_unaligned_shapes(200, [](Shape shape) {
    shape.a_align = shape.b_align = 16;
    shape.c_align = 2;
    ASSERT_EQ(select(shape, h200()).copy_bytes, 0u) << "C is never copied";
  });
}

TEST(SelectCopies, OtherKernelsTakeOperandsAsTheyLie) {
  for (const DataType type : {DataType::f32, DataType::f64}) {
    Shape shape = half(1000, 1000, 1000);
    shape.in = shape.out = type;
    shape.a_align = shape.b_align = size_of(type);
    EXPECT_EQ(select(shape, h200()).copy_bytes, 0u);
  }
  Shape shape = half(1001, 1001, 1001);
  shape.a_align = shape.b_align = 2;
  EXPECT_EQ(select(shape, *find_device("a100")).copy_bytes, 0u);
}

TEST(SelectCopies, TheirBytesAreCounted) {
  for_unaligned_shapes(1000, [](const Shape& shape) {
    const Plan plan = select(shape, h200());
    ASSERT_EQ(plan.copy_bytes, plainly_counted(shape));
    const size_t partials = static_cast<size_t>(plan.schedule.slots()) * plan.kernel->slot_bytes(plan.tile);
    ASSERT_EQ(plan.workspace_bytes, kCounterBytes + partials + plan.copy_bytes);
    // Where they stand, behind the partials, the TMA can read them.
    ASSERT_EQ((plan.workspace_bytes - plan.copy_bytes) % 256, 0u);
  });
}

// Room for the counters and the copies is enough; with a byte less the product is done by f16_mma, as it lies.
TEST(SelectCopies, NeedTheirRoom) {
  for_unaligned_shapes(400, [](const Shape& shape) {
    const size_t room = kCounterBytes + plainly_counted(shape);
    const Plan barely = select(shape, h200(), {.workspace_bytes = room});
    ASSERT_EQ(barely.kernel, &wgmma());
    ASSERT_EQ(barely.workspace_bytes, room);
    const Plan direct = select(shape, h200(), {.workspace_bytes = room - 1});
    ASSERT_STREQ(direct.kernel->name, "f16_mma");
    ASSERT_EQ(direct.copy_bytes, 0u);
    ASSERT_LT(direct.workspace_bytes, room);
    ASSERT_EQ(shape_in_kernel(direct, shape), shape);
    ASSERT_EQ(direct.tile, direct.kernel->tile(direct.kernel->tile_n, false));
    // The same plan as where there is nothing else.
    Shape beyond = shape;
    beyond.small_extents = false;
    ASSERT_EQ(to_string(direct), to_string(select(beyond, h200(), {.workspace_bytes = room - 1})));
  });
}

TEST(SelectCopies, WithoutTheirRoomForcedTilesAreIgnored) {
  Shape shape = half(1001, 1001, 1001);
  shape.in = shape.out = DataType::bf16;
  shape.b_align = 8;
  Limits limits{.forced = ScheduleKind::fixed_split,
                .forced_parameter = 2,
                .forced_width = 64,
                .forced_orientation = Orientation::swapped,
                .forced_cluster = {2, 1}};
  EXPECT_STREQ(select(shape, h200(), limits).kernel->name, "bf16_wgmma");
  EXPECT_TRUE(select(shape, h200(), limits).tile.swapped);
  limits.workspace_bytes = kCounterBytes + plainly_counted(shape) - 1;
  const Plan plan = select(shape, h200(), limits);
  EXPECT_STREQ(plan.kernel->name, "bf16_mma");
  EXPECT_EQ(plan.tile, plan.kernel->tile(plan.kernel->tile_n, false));
  EXPECT_LE(plan.workspace_bytes, limits.workspace_bytes);
}

// skgemm_gemm_workspace() promises it.
TEST(SelectCopies, APlanIsKeptInTheRoomThatItAsksFor) {
  for_unaligned_shapes(1000, [](const Shape& shape) {
    const Plan plan = select(shape, h200()), again = select(shape, h200(), {.workspace_bytes = plan.workspace_bytes});
    ASSERT_EQ(to_string(again), to_string(plan));
    ASSERT_EQ(again.copy_bytes, plan.copy_bytes);
  });
}

// The kernel then finds an aligned product: the same tile and schedule, and the copies' time ahead of it.
TEST(SelectCopies, LeaveAnAlignedProduct) {
  for_unaligned_shapes(400, [](const Shape& shape) {
    const Plan plan = select(shape, h200());
    Shape aligned = shape;
    if (shape.a_align < 16) aligned.a_align = plain_alignment(shape.a_k_major ? shape.k : shape.m);
    if (shape.b_align < 16) aligned.b_align = plain_alignment(shape.b_k_major ? shape.k : shape.n);
    ASSERT_EQ(shape_in_kernel(plan, shape), aligned);
    const Plan rest = select(aligned, h200(), {.workspace_bytes = Limits{}.workspace_bytes - plan.copy_bytes});
    ASSERT_EQ(plan.tile, rest.tile);
    ASSERT_EQ(plan.schedule.kind, rest.schedule.kind);
    ASSERT_EQ(plan.schedule.ctas, rest.schedule.ctas);
    ASSERT_EQ(plan.schedule.split, rest.schedule.split);
    const WidthConstants k = width_constants_for(wgmma(), h200()).value;
    ASSERT_DOUBLE_EQ(plan.predicted_us, rest.predicted_us + copy_us(k, plan.copy_bytes));
  });
}

TEST(SelectCopies, AreMadeOfTheSmallestOperandsToo) {
  for (const int64_t extent : {1, 7, 64}) {
    Shape small = half(extent, extent, extent);
    small.a_align = small.b_align = 2;
    EXPECT_EQ(select(small, h200()).copy_bytes, plainly_counted(small));
  }
}

TEST(SelectCopies, WhatAllEntriesShareIsCountedOnce) {
  Shape shape = half(1001, 1001, 1001, 7);
  shape.a_align = shape.b_align = 2;
  const size_t one = plainly_counted(1001, 1001, 1);
  EXPECT_EQ(select(shape, h200()).copy_bytes, 14 * one);
  shape.b_shared = true;
  EXPECT_EQ(select(shape, h200()).copy_bytes, 8 * one);
  shape.a_shared = true;
  EXPECT_EQ(select(shape, h200()).copy_bytes, 2 * one);
}

TEST(SelectCopies, HugeOperandsAreCountedInFull) {
  Shape shape = half(int64_t{1} << 29, 1, int64_t{1} << 29);
  shape.a_align = shape.b_align = 2;
  EXPECT_STREQ(select(shape, h200()).kernel->name, "f16_mma");
  const Plan plan = select(shape, h200(), {.workspace_bytes = SIZE_MAX});
  EXPECT_EQ(plan.copy_bytes, (size_t{1} << 59) + (size_t{1} << 30));
}

TEST(SelectCopies, APlanSaysWhatItCopies) {
  Shape shape = half(1001, 1001, 1001);
  EXPECT_EQ(to_string(select(shape, h200())).find("copies"), std::string::npos);
  shape.a_align = shape.b_align = 2;
  const std::string text = to_string(select(shape, h200()));
  EXPECT_NE(text.find("MB copies=4.1MB predicted="), std::string::npos) << text;
}

}  // namespace
}  // namespace skgemm
