// Copies of operands whose lines start at any address, with lines that start where the TMA wants them: where they lie,
// and who copies what. Lines are cut into segments, each copied by a team, some lanes of a warp: however few and long
// the lines are, the whole device has loads under way.
#pragma once
#include <algorithm>

#include "kernels/divisor.h"
#include "kernels/types.h"

namespace skgemm {

struct AlignedCopy {
  int64_t pitch, bytes;  // from line to line; of one batch entry, a multiple of 256
};

// Of lines of `along` two-byte elements, bytes: lines of L2, or where that is much of them sectors.
SKGEMM_HD constexpr int copy_alignment(int64_t along) { return along >= 128 ? 128 : 32; }

// Of `lines` lines of `along` two-byte elements.
SKGEMM_HD constexpr AlignedCopy aligned_copy(int64_t along, int64_t lines) {
  const int64_t alignment = copy_alignment(along), pitch = ceil_div(along * 2, alignment) * alignment;
  return {pitch, ceil_div(pitch * lines, 256) * 256};
}

inline constexpr int kCopyThreads = 256;  // of a CTA
inline constexpr int kCopyTogether = 3;   // 16-byte pieces of a thread under way

// Pieces of a line. Whole sectors are written, as what is left of one in L2 would be fetched when the rest is read.
SKGEMM_HD constexpr int64_t pieces_of(int64_t along) { return 2 * ceil_div(along, 16); }

struct CopyJob {
  const char* from;
  char* to;
  int64_t pitch, batch_pitch, to_pitch;  // bytes
  int64_t lines, entries;                // of an entry; how many
  int64_t along;                         // elements of a line
  int lanes;                             // of a team: 8, 16 or 32
  int segments;                          // of a line
  Divisor<int32_t> by_segments;
  int first_cta;     // of those that do this job
  int segment_step;  // what a team goes on by: lines and segments, as many as there are teams
  int64_t line_step;

  SKGEMM_HD constexpr int teams() const { return kCopyThreads / lanes; }  // of a CTA
  constexpr int64_t ctas_wanted() const {  // that have one segment for each team
    return ceil_div(lines * entries * segments, int64_t{teams()});
  }
};

// Without its share of a grid. `pitch` and `batch_pitch` of the lines at `from`, in bytes.
constexpr CopyJob copy_job(const void* from, void* to, int64_t pitch, int64_t batch_pitch, int64_t along, int64_t lines,
                           int64_t entries) {
  const int64_t pieces = pieces_of(along);
  CopyJob job{};
  job.from = static_cast<const char*>(from);
  job.to = static_cast<char*>(to);
  job.pitch = pitch;
  job.batch_pitch = batch_pitch;
  job.to_pitch = aligned_copy(along, lines).pitch;
  job.lines = lines;
  job.entries = entries;
  job.along = along;
  job.lanes = pieces > 16 * kCopyTogether ? 32 : pieces > 8 * kCopyTogether ? 16 : 8;
  job.segments = static_cast<int>(ceil_div(pieces, job.lanes * kCopyTogether));
  job.by_segments = Divisor<int32_t>::of(job.segments);
  return job;
}

// What a team copies: every so many segments of a job.
struct CopyWalk {
  int64_t line;
  int segment;

  // Of a CTA of the job and a team of it.
  SKGEMM_HD constexpr CopyWalk(const CopyJob& job, int cta, int team_of_cta) : line(0), segment(0) {
    const int team = (cta - job.first_cta) * job.teams() + team_of_cta;
    line = job.by_segments.quotient(team, job.segments);
    segment = team - static_cast<int>(line) * job.segments;
  }
  SKGEMM_HD constexpr bool ends(const CopyJob& job) const { return line >= job.lines * job.entries; }
  SKGEMM_HD constexpr void advance(const CopyJob& job) {
    line += job.line_step;
    segment += job.segment_step;
    if (segment >= job.segments) segment -= job.segments, ++line;
  }
};

struct CopyJobs {
  CopyJob job[2];
  int count;

  SKGEMM_HD constexpr const CopyJob& of_cta(int cta) const { return job[count > 1 && cta >= job[1].first_cta]; }
};

// Gives each job its part of at most `most` CTAs, of which there are as many as jobs; returns how many there are.
constexpr int share_out(CopyJobs* x, int64_t most) {
  const int64_t first = x->job[0].ctas_wanted(), all = first + (x->count > 1 ? x->job[1].ctas_wanted() : 0);
  const int64_t ctas = std::min(all, most);
  // Of a double as all*most may be too large a product.
  const double share = static_cast<double>(first) / static_cast<double>(all) * static_cast<double>(ctas);
  const int64_t own = x->count > 1 ? std::clamp<int64_t>(static_cast<int64_t>(share + 0.5), 1, ctas - 1) : ctas;
  const int64_t begin[] = {0, own, ctas};
  for (int j = 0; j < x->count; ++j) {
    CopyJob& job = x->job[j];
    const auto teams = static_cast<int>((begin[j + 1] - begin[j]) * job.teams());
    job.first_cta = static_cast<int>(begin[j]);
    job.line_step = teams / job.segments;
    job.segment_step = teams % job.segments;
  }
  return static_cast<int>(ctas);
}

}  // namespace skgemm
