// The argument table of every dialect (src/validate.h), which products are degenerate, and what the selector is told.
#include "src/validate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "src/degenerate.h"
#include "src/shape_of.h"

namespace skgemm {
namespace {

constexpr Extents kGood{.op_a_valid = true, .op_b_valid = true, .a_transposed = false, .b_transposed = false,
                        .m = 4, .n = 5, .k = 6, .lda = 4, .ldb = 6, .ldc = 4};
static_assert(first_bad_argument(kGood) == 0);

// A good call with some fields changed.
template <class Change>
constexpr int position(Change change) {
  Extents e = kGood;
  change(e);
  return first_bad_argument(e);
}

TEST(Validate, EachArgumentAloneIsNamed) {
  EXPECT_EQ(position([](Extents& e) { e.op_a_valid = false; }), 1);
  EXPECT_EQ(position([](Extents& e) { e.op_b_valid = false; }), 2);
  EXPECT_EQ(position([](Extents& e) { e.m = -1; }), 3);
  EXPECT_EQ(position([](Extents& e) { e.n = -1; }), 4);
  EXPECT_EQ(position([](Extents& e) { e.k = -1; }), 5);
  EXPECT_EQ(position([](Extents& e) { e.lda = 3; }), 8);
  EXPECT_EQ(position([](Extents& e) { e.ldb = 5; }), 10);
  EXPECT_EQ(position([](Extents& e) { e.ldc = 3; }), 13);
}

TEST(Validate, TheFirstOfSeveralIsNamed) {
  Extents e{.op_a_valid = false, .op_b_valid = false, .a_transposed = true, .b_transposed = true,
            .m = -1, .n = -1, .k = -1, .lda = 0, .ldb = 0, .ldc = 0};
  std::vector<int> order;
  while (const int bad = first_bad_argument(e)) {
    order.push_back(bad);
    ASSERT_LE(order.size(), 8u);
    if (bad == 1) e.op_a_valid = true;
    if (bad == 2) e.op_b_valid = true;
    if (bad == 3) e.m = 4;
    if (bad == 4) e.n = 5;
    if (bad == 5) e.k = 6;
    if (bad == 8) e.lda = 6;
    if (bad == 10) e.ldb = 5;
    if (bad == 13) e.ldc = 4;
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 8, 10, 13}));
}

TEST(Validate, LeadingDimensionsFollowTheOperation) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      Extents e = kGood;
      e.a_transposed = a_transposed;
      e.b_transposed = b_transposed;
      e.lda = a_transposed ? e.k : e.m;
      e.ldb = b_transposed ? e.n : e.k;
      EXPECT_EQ(first_bad_argument(e), 0);
      --e.ldb;
      EXPECT_EQ(first_bad_argument(e), 10);
      --e.lda;
      EXPECT_EQ(first_bad_argument(e), 8);
    }
  }
}

TEST(Validate, EmptyProductsAreCheckedToo) {
  EXPECT_EQ(position([](Extents& e) { e.m = 0, e.lda = 0; }), 8);
  EXPECT_EQ(position([](Extents& e) { e.m = 0, e.lda = 1, e.ldc = 0; }), 13);
  EXPECT_EQ(position([](Extents& e) { e.k = 0, e.ldb = 0; }), 10);
  EXPECT_EQ(position([](Extents& e) { e.m = 0, e.k = -1; }), 5);
  EXPECT_EQ(position([](Extents& e) { e.m = 0, e.op_a_valid = false; }), 1);
  EXPECT_EQ(position([](Extents& e) { e.n = 0, e.b_transposed = true, e.ldb = 0; }), 10);
  EXPECT_EQ(position([](Extents& e) { e.m = e.n = e.k = 0, e.lda = e.ldb = e.ldc = 1; }), 0);
}

TEST(Validate, BeyondThirtyTwoBits) {
  constexpr int64_t big = int64_t{1} << 40;
  EXPECT_EQ(position([](Extents& e) { e.m = big, e.lda = big - 1; }), 8);
  EXPECT_EQ(position([](Extents& e) { e.m = big, e.lda = big, e.ldc = big; }), 0);
}

struct Scalars {
  float alpha, beta;
};

GemmCall call_with(const Scalars& s) {
  return {.op_a = Op::n, .op_b = Op::n, .m = 4, .n = 5, .k = 6, .in = DataType::f32, .out = DataType::f32,
          .scalar_type = DataType::f32, .scalars = PointerMode::host, .alpha = &s.alpha, .beta = &s.beta,
          .a = {nullptr, 4, 0}, .b = {nullptr, 6, 0}, .c = {nullptr, 4, 0}, .batch = 1, .name = "sgemm_"};
}

TEST(Degenerate, HostScalars) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto kind = [](Scalars s) { return degenerate(call_with(s)); };
  EXPECT_EQ(kind({1, 0}), Degenerate::no);
  EXPECT_EQ(kind({nan, 0}), Degenerate::no);
  EXPECT_EQ(kind({0, 1}), Degenerate::nothing);
  EXPECT_EQ(kind({-0.0f, 1}), Degenerate::nothing);
  EXPECT_EQ(kind({0, 0}), Degenerate::scale);
  EXPECT_EQ(kind({0, nan}), Degenerate::scale);
}

TEST(Degenerate, WithoutK) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Scalars keep{nan, 1}, scale{nan, 2};
  GemmCall call = call_with(keep);
  call.k = 0;
  EXPECT_EQ(degenerate(call), Degenerate::nothing);
  call.beta = &scale.beta;
  EXPECT_EQ(degenerate(call), Degenerate::scale);
}

// Device scalars can't be read here: the addresses below would fault.
TEST(Degenerate, DeviceScalarsAreNotRead) {
  const auto* device = reinterpret_cast<const float*>(uintptr_t{0x10});
  GemmCall call = call_with({1, 1});
  call.scalars = PointerMode::device;
  call.alpha = call.beta = device;
  EXPECT_EQ(degenerate(call), Degenerate::no);
  call.k = 0;
  EXPECT_EQ(degenerate(call), Degenerate::scale);
  call.m = 0;
  EXPECT_EQ(degenerate(call), Degenerate::nothing);
}

TEST(Degenerate, EmptyNeedsNoScalars) {
  for (const auto extent : {&GemmCall::m, &GemmCall::n, &GemmCall::batch}) {
    GemmCall call = call_with({1, 1});
    call.alpha = call.beta = nullptr;
    call.*extent = 0;
    EXPECT_EQ(degenerate(call), Degenerate::nothing);
  }
}

TEST(Degenerate, ScalarsOfEveryType) {
  const double d = 0.1;
  const float f = -3.25f;
  EXPECT_EQ(host_scalar(DataType::f64, &d), 0.1);
  EXPECT_EQ(host_scalar(DataType::f32, &f), -3.25);
  const auto half = [](uint16_t bits) { return host_scalar(DataType::f16, &bits); };
  EXPECT_EQ(half(0x3c00), 1);
  EXPECT_EQ(half(0xc580), -5.5);
  EXPECT_EQ(half(0x0001), std::ldexp(1, -24));
  EXPECT_TRUE(std::isinf(half(0x7c00)));
  EXPECT_TRUE(std::isnan(half(0x7e01)));
  const auto bfloat = [](uint16_t bits) { return host_scalar(DataType::bf16, &bits); };
  EXPECT_EQ(bfloat(0x3f80), 1);
  EXPECT_EQ(bfloat(0xc0b0), -5.5);
}

int alignment(uintptr_t address, int64_t ld, int64_t stride, DataType type, int64_t batch, int most = 16) {
  return alignment_of({reinterpret_cast<void*>(address), ld, stride}, type, batch, most);
}

TEST(ShapeOf, AlignmentIsTheWorstOfAddressPitchAndStride) {
  EXPECT_EQ(alignment(0x1000, 8, 0, DataType::f16, 1), 16);
  EXPECT_EQ(alignment(0x1008, 8, 0, DataType::f16, 1), 8);
  EXPECT_EQ(alignment(0x1000, 6, 0, DataType::f16, 1), 4);
  EXPECT_EQ(alignment(0x1000, 7, 0, DataType::f16, 1), 2);
  EXPECT_EQ(alignment(0x1000, 7, 0, DataType::f64, 1), 8);
  EXPECT_EQ(alignment(0x1000, 4, 0, DataType::f32, 1), 16);
  EXPECT_EQ(alignment(0x1000, 4, 3, DataType::f32, 1), 16) << "one entry has no stride";
  EXPECT_EQ(alignment(0x1000, 4, 3, DataType::f32, 2), 4);
  EXPECT_EQ(alignment(0x1000, 4, -6, DataType::f32, 2), 8);
  EXPECT_EQ(alignment(0x1001, 4, 0, DataType::f32, 1), 1);
  EXPECT_EQ(alignment(0x1000, 64, 0, DataType::f16, 1, 128), 128);
  EXPECT_EQ(alignment(0x1000, 48, 0, DataType::f16, 1, 128), 32);
  EXPECT_EQ(alignment(0x1040, 64, 0, DataType::f16, 1, 128), 64);
}

// They are copied, as what lies at other addresses.
TEST(ShapeOf, OperandsThatTmaCannotTakeCountAsUnaligned) {
  constexpr int64_t kEnd = int64_t{1} << 39;  // elements of two bytes
  GemmCall call = call_with({1, 0});
  call.in = DataType::f16;
  for (Matrix GemmCall::*operand : {&GemmCall::a, &GemmCall::b}) {
    const auto alignment = [&](int64_t ld, int64_t stride, int64_t batch) {
      GemmCall other = call;
      other.batch = batch;
      other.a = other.b = {reinterpret_cast<void*>(0x1000), 64, 64};
      other.*operand = {reinterpret_cast<void*>(0x1000), ld, stride};
      const Shape shape = shape_of(other);
      EXPECT_EQ(operand == &GemmCall::a ? shape.b_align : shape.a_align, 128) << "the other one's";
      return operand == &GemmCall::a ? shape.a_align : shape.b_align;
    };
    EXPECT_EQ(alignment(kEnd - 8, kEnd - 8, 2), 16);
    EXPECT_EQ(alignment(kEnd - 64, kEnd - 64, 2), 128);
    EXPECT_EQ(alignment(kEnd, 8, 2), 8);
    EXPECT_EQ(alignment(8, kEnd, 2), 8);
    EXPECT_EQ(alignment(8, -8, 2), 8);
    EXPECT_EQ(alignment(8, -8, 1), 16) << "one entry has no stride";
    EXPECT_EQ(alignment(INT64_MAX, 8, 1), 2);
  }
}

TEST(ShapeOf, SmallExtentsFitSigned32Bits) {
  GemmCall call = call_with({1, 0});
  call.m = call.n = call.k = call.batch = kMostSmall;
  EXPECT_TRUE(shape_of(call).small_extents);
  for (int64_t GemmCall::*extent : {&GemmCall::m, &GemmCall::n, &GemmCall::k, &GemmCall::batch}) {
    GemmCall large = call_with({1, 0});
    EXPECT_TRUE(shape_of(large).small_extents);
    large.*extent = kMostSmall + 1;
    EXPECT_FALSE(shape_of(large).small_extents);
  }
  EXPECT_LE((kMostSmall - 1) / 1024 * 1024 + 1024, int64_t{INT32_MAX} + 1) << "the end of the last tile";
}

TEST(ShapeOf, LayoutsAreByContiguousK) {
  GemmCall call = call_with({1, 0});
  Shape shape = shape_of(call);
  EXPECT_FALSE(shape.a_k_major);
  EXPECT_TRUE(shape.b_k_major);
  call.op_a = call.op_b = Op::t;
  shape = shape_of(call);
  EXPECT_TRUE(shape.a_k_major);
  EXPECT_FALSE(shape.b_k_major);
}

}  // namespace
}  // namespace skgemm
