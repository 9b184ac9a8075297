// The shared-memory layouts of kernels/smem_layout.h, for every type and operand layout: no two elements share a byte,
// each element is copied once, the kernels' shortcuts reach the element they mean, and no warp access meets a bank
// twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "kernels/smem_layout.h"

namespace skgemm {
namespace {

template <DataType kIn, bool kMajor>
struct Operand {
  static constexpr DataType kType = kIn;
  static constexpr bool kKMajor = kMajor;
  static constexpr KernelConfig kConfig = config_of(kIn);
  using Layout = TileLayout<kIn, kMajor, kConfig.tile_m, kConfig.tile_k>;
};

template <class T>
class SmemLayoutTest : public testing::Test {};
using Operands =
    testing::Types<Operand<DataType::f16, false>, Operand<DataType::f16, true>, Operand<DataType::f32, false>,
                   Operand<DataType::f32, true>>;
TYPED_TEST_SUITE(SmemLayoutTest, Operands);

// Accesses of `bytes` each are served in groups of 128 bytes' worth of lanes; inside a group two lanes may meet in a
// bank only at the same word.
bool conflict_free(const std::vector<int>& address, int bytes) {
  const size_t lanes = static_cast<size_t>(128 / bytes);
  for (size_t first = 0; first < address.size(); first += lanes) {
    std::array<std::set<int>, 32> words;
    for (size_t lane = first; lane < std::min(first + lanes, address.size()); ++lane) {
      for (int word = address[lane] / 4; word < (address[lane] + bytes + 3) / 4; ++word)
        words[static_cast<size_t>(word % 32)].insert(word);
    }
    if (std::ranges::any_of(words, [](const auto& w) { return w.size() > 1; })) return false;
  }
  return true;
}

TYPED_TEST(SmemLayoutTest, EveryElementHasItsOwnBytes) {
  using L = typename TypeParam::Layout;
  std::vector<bool> taken(L::kBytes);
  for (int line = 0; line < L::kLines; ++line) {
    for (int at = 0; at < L::kRun; ++at) {
      for (int b = 0; b < L::kSize; ++b) {
        const int byte = L::offset(line, at) + b;
        ASSERT_TRUE(byte >= 0 && byte < L::kBytes && !taken[static_cast<size_t>(byte)]) << line << ' ' << at;
        taken[static_cast<size_t>(byte)] = true;
      }
    }
  }
}

template <class L, int kBytes, int kThreads>
void expect_copied_once() {
  using Share = CopyShare<L, kBytes, kThreads>;
  std::vector<int> visits(static_cast<size_t>(L::kLines * L::kRun));
  for (int i = 0; i < Share::kCount; ++i) {
    for (int warp = 0; warp < kThreads; warp += 32) {
      std::vector<int> address;
      for (int thread = warp; thread < warp + 32; ++thread) {
        const int line = Share::line(thread), at = Share::at(thread), step = i * Share::kLineStep;
        const int byte = (L::offset(line, at) ^ L::line_flip(step)) + L::line_add(step);
        ASSERT_EQ(byte, L::offset(line + step, at)) << thread << ' ' << i;
        ASSERT_EQ(byte % kBytes, 0);
        for (int e = 0; e < Share::kElements; ++e) {
          ASSERT_EQ(L::offset(line + step, at + e), byte + e * L::kSize) << "a piece lies in one run of bytes";
          ++visits[static_cast<size_t>((line + step) * L::kRun + at + e)];
        }
        address.push_back(byte);
      }
      EXPECT_TRUE(conflict_free(address, kBytes)) << kBytes << "-byte copies, warp " << warp / 32 << " piece " << i;
    }
  }
  EXPECT_TRUE(std::ranges::all_of(visits, [](int v) { return v == 1; }));
}

TYPED_TEST(SmemLayoutTest, CopiesCoverTheTileOnceWithoutConflicts) {
  using L = typename TypeParam::Layout;
  constexpr int kThreads = TypeParam::kConfig.threads;
  if constexpr (!L::kTransposed) expect_copied_once<L, 16, kThreads>();
  if constexpr (L::kSize != 2) expect_copied_once<L, L::kSize, kThreads>();
}

// ldmatrix reads eight 16-byte rows at a time.
template <class T, bool kMmaRows>
void check_half_blocks() {
  using L = typename T::Layout;
  using Block = HalfBlock<L, T::kKMajor, kMmaRows>;
  for (int warp = 0; warp < T::kConfig.tile_m; warp += 64) {
    for (int mn = 0; mn < 64; mn += 16) {
      for (int k = 0; k < T::kConfig.tile_k; k += 16) {
        std::vector<int> rows;
        for (int lane = 0; lane < 32; ++lane) {
          rows.push_back((Block::lane_offset(warp, lane) ^ Block::flip(mn, k)) + Block::add(mn, k));
          const int matrix = lane / 8, row = lane % 8;
          const int matrix_mn = warp + mn + (kMmaRows ? matrix % 2 : matrix / 2) * 8;
          const int matrix_k = k + (kMmaRows ? matrix / 2 : matrix % 2) * 8;
          const int want = T::kKMajor ? L::offset(matrix_mn + row, matrix_k) : L::offset(matrix_k + row, matrix_mn);
          ASSERT_EQ(rows.back(), want) << warp << ' ' << mn << ' ' << k << ' ' << lane;
        }
        EXPECT_TRUE(conflict_free(rows, 16));
      }
    }
  }
}

TYPED_TEST(SmemLayoutTest, FragmentLoadsReachTheirElementsWithoutConflicts) {
  using T = TypeParam;
  if constexpr (T::kType == DataType::f16) {
    check_half_blocks<T, false>();
    check_half_blocks<T, true>();
  } else {
    // fp32: a row of eight 16-byte loads along m or n at one k; k by k the offsets are linear.
    using L = typename T::Layout;
    for (int k = 0; k < T::kConfig.tile_k; ++k) {
      std::vector<int> loads;
      for (int lane = 0; lane < 8; ++lane) loads.push_back(L::offset_of_k(k, 4 * lane));
      EXPECT_TRUE(conflict_free(loads, 16));
      for (int mn = 0; mn < T::kConfig.tile_m; ++mn) EXPECT_EQ(L::offset_of_k(k, mn), L::offset_of_k(k, 0) + 4 * mn);
    }
  }
}

}  // namespace
}  // namespace skgemm
