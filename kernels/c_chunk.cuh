// A part of C on its way between registers and global memory: 64 rows of X*Y by 128 bytes of columns in shared memory, in
// lines as C has them. Straight: lines run along the rows, 128 bytes of a line at a time. Swapped: along the columns, a
// box of the launch's width at a time. The TMA's swizzle of that length permutes the 16-byte pieces of a line.
#pragma once
#include <type_traits>

#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/wgmma_params.h"

namespace skgemm {

template <class Out>
class CChunk {
 public:
  static constexpr int kSize = sizeof(Out), kRows = 64, kColumns = wgmma_smem::kLineBytes / kSize;

  // `row`, `column`: its first of X*Y. `columns`: how many the tile has, kColumns at most.
  __device__ __forceinline__ CChunk(const WgmmaParams& p, uint32_t address, int row, int column, int entry, int columns)
      : p_(p), address_(address), row_(row), column_(column), entry_(entry), columns_(columns) {}

  // Shared address of an element; of the first of eight neighbours along a line too.
  __device__ __forceinline__ uint32_t at(int row, int column) const {
    return p_.swapped ? at<true>(row, column * kSize) : at<false>(column, row * kSize);
  }
  // How far it is from an element (or the first of eight) in the chunk's first 32 bytes of columns to the one `columns`, a
  // multiple of 32 bytes of them, further on: address + add ^ flip.
  struct Distance {
    uint32_t add, flip;
  };
  __device__ __forceinline__ Distance distance(int columns) const {
    const int log2 = p_.c_box_log2_bytes, bytes = columns * kSize;
    if (!p_.swapped) return {static_cast<uint32_t>(columns * wgmma_smem::kLineBytes), 0};
    return {static_cast<uint32_t>(bytes >> log2 << (log2 + 6)), static_cast<uint32_t>(bytes & ((1 << log2) - 1))};
  }

  // ---- By TMA, one thread.
  __device__ __forceinline__ void load(uint32_t barrier) const {
    ptx::mbarrier_arrive_expect(barrier, kRows * columns_ * kSize);
    for_boxes([&](uint32_t box, int at, int line) {
      ptx::tma_load(box, &p_.c.map, barrier, at, line, p_.c.batch_pitch == 0 ? 0 : entry_);
    });
  }
  // Whether the TMA can store it: it cuts lines at multiples of 16 bytes, and would write behind C's end.
  __device__ __forceinline__ bool ends_whole() const {
    const int64_t extent = p_.swapped ? p_.columns : p_.rows;
    return extent * kSize % 16 == 0 || (p_.swapped ? column_ + columns_ : row_ + kRows) <= extent;
  }
  __device__ __forceinline__ void store() const {
    for_boxes([&](uint32_t box, int at, int line) {
      ptx::tma_store(&p_.c.map, box, at, line, p_.c.batch_pitch == 0 ? 0 : entry_);
    });
  }

  // ---- By the threads of a warpgroup, at any address of C.
  __device__ __forceinline__ void read() const {
    for_lines([&](const Out* global, int line, int count) {
#pragma unroll
      for (int e = ptx::thread_index() % 32; e < kLine; e += 32) {
        if (e < count) put(line_at(line, e), bits(global[e]));
      }
    });
  }
  __device__ __forceinline__ void write() const {
    for_lines([&](Out* global, int line, int count) {
      const int lane = ptx::thread_index() % 32;
      if constexpr (kSize == 4) {
#pragma unroll
        for (int e = lane; e < kLine; e += 32) {
          if (e < count) reinterpret_cast<uint32_t*>(global)[e] = get<uint32_t>(line_at(line, e));
        }
      } else {
        // Pairs that start at multiples of four bytes, and the elements that are left over at the ends.
        const int odd = reinterpret_cast<uintptr_t>(global) >> 1 & 1, e = 2 * lane - odd;
        auto* const to = reinterpret_cast<uint16_t*>(global);
        const uint16_t low = get<uint16_t>(line_at(line, max(e, 0))), high = get<uint16_t>(line_at(line, e + 1));
        if (e >= 0 && e + 1 < count) {
          *reinterpret_cast<uint32_t*>(to + e) = low | uint32_t{high} << 16;
        } else {
          if (e >= 0 && e < count) to[e] = low;
          if (e < 0 && count > 0) to[0] = high;
        }
        if (odd && lane == 31 && count == kLine) to[kLine - 1] = get<uint16_t>(line_at(line, kLine - 1));
      }
    });
  }

  __device__ __forceinline__ bool swapped() const { return p_.swapped; }
  static __device__ __forceinline__ void put(uint32_t address, uint16_t x) {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(x) : "memory");
  }
  static __device__ __forceinline__ void put(uint32_t address, uint32_t x) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory");
  }
  template <class T>
  static __device__ __forceinline__ T get(uint32_t address) {
    T x;
    if constexpr (sizeof(T) == 2)
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(address) : "memory");
    else
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
    return x;
  }

 private:
  template <bool kSwapped>
  __device__ __forceinline__ uint32_t at(int line, int byte) const {
    const int log2 = kSwapped ? p_.c_box_log2_bytes : 7, lines = kSwapped ? kRows : kColumns;
    const uint32_t at = (((byte >> log2) * lines + line) << log2) + (byte & ((1 << log2) - 1));
    return address_ + (at ^ (at >> 3 & ((1 << log2) - 16)));
  }

  template <class Box>
  __device__ __forceinline__ void for_boxes(const Box& box) const {
    const int log2 = p_.c_box_log2_bytes;
    const int line_bytes = (p_.swapped ? columns_ : kRows) * kSize, lines = p_.swapped ? kRows : columns_;
    const int first_at = p_.swapped ? column_ : row_, first_line = p_.swapped ? row_ : column_;
    const int part_lines = p_.swapped ? kRows : kColumns;
    for (int part = 0; part << log2 < line_bytes; ++part) {
      for (int line = 0; line < lines; line += p_.c_box_lines) {
        box(address_ + ((part * part_lines + line) << log2), first_at + (part << log2) / kSize, first_line + line);
      }
    }
  }

  // Calls line(first element in C, line, elements that exist) for this warp's share of the lines.
  template <class Line>
  __device__ __forceinline__ void for_lines(const Line& each) const {
    const int first_at = p_.swapped ? column_ : row_, first_line = p_.swapped ? row_ : column_;
    const int64_t extent_at = p_.swapped ? p_.columns : p_.rows, extent_line = p_.swapped ? p_.rows : p_.columns;
    const int at_most = p_.swapped ? columns_ : kRows, lines_at_most = p_.swapped ? kRows : columns_;
    const int count = static_cast<int>(min(extent_at - first_at, int64_t{at_most}));
    const int lines = static_cast<int>(min(extent_line - first_line, int64_t{lines_at_most}));
    char* const c = const_cast<char*>(p_.c.data) + entry_ * p_.c.batch_pitch + first_line * p_.c.pitch + int64_t{first_at} * kSize;
#pragma unroll 1
    for (int line = ptx::thread_index() % 128 / 32; line < lines; line += 4) {
      each(reinterpret_cast<Out*>(c + line * p_.c.pitch), line, count);
    }
  }
  __device__ __forceinline__ uint32_t line_at(int line, int element) const {
    return p_.swapped ? at<true>(line, element * kSize) : at<false>(line, element * kSize);
  }
  static constexpr int kLine = kRows;  // elements of a line of a chunk, at most

  static __device__ __forceinline__ auto bits(Out x) {
    std::conditional_t<kSize == 2, uint16_t, uint32_t> b;
    memcpy(&b, &x, kSize);
    return b;
  }
  const WgmmaParams& p_;
  uint32_t address_;
  int row_, column_, entry_, columns_;
};

}  // namespace skgemm
