// Copies of operands: where their lines lie, and that a grid's CTAs share them out without a gap or an overlap.
#include "kernels/aligned_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace skgemm {
namespace {

// Wide enough for lines of every kind about those at which lanes and segments change, then some long ones.
std::vector<int64_t> lengths() {
  std::vector<int64_t> all;
  for (int64_t along = 1; along <= 130; ++along) all.push_back(along);
  for (int64_t along = 131; along <= 2000; along += 23) all.push_back(along);
  for (const int64_t along : {191, 192, 193, 383, 384, 385, 767, 768, 769, 8191, 100'000}) all.push_back(along);
  return all;
}

CopyJob job(int64_t along, int64_t lines, int64_t entries = 1) {
  static char nowhere[1];
  return copy_job(nowhere, nowhere, 2 * along + 2, 0, along, lines, entries);
}

TEST(AlignedCopy, LinesStartAtLinesOfL2OrAtSectorsAndEntriesAtMultiplesOf256) {
  for (int64_t along = 1; along <= 600; ++along) {
    const int64_t alignment = along < 128 ? 32 : 128;
    EXPECT_EQ(copy_alignment(along), alignment);
    for (const int64_t lines : {1, 2, 7, 8, 9, 100}) {
      const AlignedCopy copy = aligned_copy(along, lines);
      EXPECT_EQ(copy.pitch % alignment, 0);
      EXPECT_GE(copy.pitch, along * 2);
      EXPECT_LT(copy.pitch, along * 2 + alignment);
      EXPECT_EQ(copy.bytes % 256, 0);
      EXPECT_GE(copy.bytes, copy.pitch * lines);
      EXPECT_LT(copy.bytes, copy.pitch * lines + 256);
    }
  }
}

TEST(AlignedCopy, SegmentsHoldALineInWholeSectors) {
  for (const int64_t along : lengths()) {
    const CopyJob x = job(along, 1);
    const int64_t pieces = pieces_of(along), held = int64_t{x.lanes} * kCopyTogether;
    EXPECT_EQ(pieces % 2, 0);
    EXPECT_GE(16 * pieces, 2 * along);
    EXPECT_LT(16 * pieces, 2 * along + 32);
    EXPECT_LE(16 * pieces, x.to_pitch);
    EXPECT_TRUE(x.lanes == 8 || x.lanes == 16 || x.lanes == 32);
    EXPECT_GE(x.segments * held, pieces) << along;
    EXPECT_LT((x.segments - 1) * held, pieces) << along;
    EXPECT_EQ(x.lanes * x.teams(), kCopyThreads);
    EXPECT_TRUE(x.lanes == 8 || pieces > held / 2) << "half the lanes would hold the line: " << along;
    EXPECT_EQ(job(along, 70, 3).ctas_wanted(), ceil_div(int64_t{210} * x.segments, int64_t{x.teams()}));
    EXPECT_TRUE(x.segments == 1 || x.lanes == 32) << "a team of more lanes would read more together: " << along;
  }
}

// Visits of each segment, by the walks of all teams of the CTAs that have the job. Ends at a segment's second one.
std::vector<int> visits(const CopyJobs& x, int j, int ctas) {
  const CopyJob& job = x.job[j];
  std::vector<int> count(static_cast<size_t>(job.lines * job.entries * job.segments));
  for (int cta = 0; cta < ctas; ++cta) {
    if (&x.of_cta(cta) != &job) continue;
    for (int team = 0; team < job.teams(); ++team) {
      for (CopyWalk walk(job, cta, team); !walk.ends(job); walk.advance(job)) {
        EXPECT_GE(walk.segment, 0);
        EXPECT_LT(walk.segment, job.segments);
        if (++count.at(static_cast<size_t>(walk.line * job.segments + walk.segment)) > 1) return count;
      }
    }
  }
  return count;
}

void expect_all_once(CopyJobs x, int64_t most, const std::string& what) {
  int64_t wanted = 0;
  for (int j = 0; j < x.count; ++j) wanted += x.job[j].ctas_wanted();
  const int ctas = share_out(&x, most);
  ASSERT_EQ(ctas, std::min(wanted, most)) << what;
  std::vector<int64_t> own(2);
  for (int cta = 0; cta < ctas; ++cta) ++own[static_cast<size_t>(&x.of_cta(cta) - x.job)];
  for (int j = 0; j < x.count; ++j) {
    const std::vector<int> seen = visits(x, j, ctas);
    ASSERT_EQ(std::ranges::count(seen, 1), static_cast<int64_t>(seen.size())) << what << ", job " << j;
    if (wanted <= most) {
      ASSERT_EQ(own[static_cast<size_t>(j)], x.job[j].ctas_wanted()) << what << ", job " << j;
    }
    // In proportion, but for what is rounded to whole CTAs and the one that each needs.
    const double share = static_cast<double>(x.job[j].ctas_wanted()) / static_cast<double>(wanted);
    ASSERT_LE(std::abs(static_cast<double>(own[static_cast<size_t>(j)]) - share * ctas), 1) << what << ", job " << j;
  }
}

TEST(AlignedCopy, EachSegmentOfOneJobIsCopiedOnce) {
  for (const int64_t along : lengths()) {
    for (const int64_t lines : {1, 2, 33, 1000}) {
      for (const int64_t entries : {1, 3}) {
        for (const int64_t most : {1, 2, 7, 792}) {
          expect_all_once({{job(along, lines, entries)}, 1}, most,
                          std::to_string(entries) + "*" + std::to_string(lines) + " lines of " +
                              std::to_string(along) + ", most " + std::to_string(most));
        }
      }
    }
  }
}

TEST(AlignedCopy, EachSegmentOfTwoJobsIsCopiedOnce) {
  const int64_t some[] = {1, 17, 128, 192, 385, 771, 8191};
  for (const int64_t first : some) {
    for (const int64_t second : some) {
      for (const int64_t lines : {1, 64, 5000}) {
        for (const int64_t most : {2, 3, 100, 792}) {
          expect_all_once({{job(first, lines), job(second, 300, 2)}, 2}, most,
                          std::to_string(lines) + " lines of " + std::to_string(first) + " and of " +
                              std::to_string(second) + ", most " + std::to_string(most));
        }
      }
    }
  }
}

// A quotient that rounds down would take a CTA from one of them.
TEST(AlignedCopy, JobsThatFitHaveACtaForEachSegment) {
  for (int64_t first = 1; first < 400; ++first) {
    for (int64_t second = 1; second < 390; second += 3) {
      const auto lines = [](int64_t ctas) { return ctas * job(128, 1).teams(); };
      CopyJobs x{{job(128, lines(first)), job(128, lines(second))}, 2};
      ASSERT_EQ(share_out(&x, 792), first + second);
      ASSERT_EQ(x.job[1].first_cta, first) << "and " << second;
    }
  }
}

TEST(AlignedCopy, TheSmallerJobHasACtaHoweverLargeTheOther) {
  const CopyJob large = job(1, int64_t{1} << 57), small = job(1, 1);
  CopyJobs x{{large, small}, 2};
  EXPECT_EQ(share_out(&x, 792), 792);
  EXPECT_EQ(x.job[1].first_cta, 791);
  x = {{small, large}, 2};
  EXPECT_EQ(share_out(&x, 792), 792);
  EXPECT_EQ(x.job[1].first_cta, 1);
}

}  // namespace
}  // namespace skgemm
