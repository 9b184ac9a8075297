// Chunks of results on their way to C: a consumer warpgroup fills a chunk of shared memory and goes on, a warp of the
// producers' warpgroup stores it. Each warpgroup has a ring of its own.
//
// A chunk is 64 lines (columns of C, whose elements are neighbours) of 64 elements of two bytes, as they lie in C, the
// 16-byte pieces of a line permuted so that eight lines' pieces lie in different banks.
#pragma once
#include "kernels/aligned_read.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/shared_access.cuh"
#include "kernels/ptx/thread_index.cuh"
#include "kernels/ring_position.cuh"
#include "kernels/unit_queue.cuh"
#include "kernels/wgmma_params.h"

namespace skgemm {

// Of a warpgroup's part of a tile, the chunk of columns of X*Y from `column` on.
__device__ __forceinline__ Output chunk_of(const WgmmaParams& p, bool swapped, const Output& out, int column) {
  const int columns = min(p.width - column, 64);
  return {out.c + (swapped ? int64_t{column} * 2 : column * p.c_pitch),
          min(swapped ? out.along - column : out.along, swapped ? columns : 64),
          min(swapped ? out.lines : out.lines - column, swapped ? 64 : columns)};
}

__device__ __forceinline__ uint32_t chunk_offset(uint32_t line, uint32_t piece) {
  return line * wgmma_smem::kLineBytes + ((piece ^ line % 8) << 4);
}

// Stores 16*kRounds lines of chunks, from line `first` on, by one warp.
template <int kRounds>
class ChunkStore {
 public:
  __device__ __forceinline__ ChunkStore(const WgmmaParams& p, uint32_t first) : p_(p), lane_(ptx::lane_index()) {
    first_ = first;
    even_ = chunk_offset(first + lane_ / 8, lane_ % 8);
    odd_ = chunk_offset(first + lane_ / 8 + 4, lane_ % 8);
  }

  // The chunk in `buffer`: of columns [column, column + 64) of the part of X*Y that goes to `out`.
  __device__ __forceinline__ void store(const Output& out, int column, uint32_t buffer) const {
    const Output chunk = chunk_of(p_, p_.swapped, out, column);
    if (p_.c_vector && chunk.along % 8 == 0)
      store_vectors(chunk, buffer);
    else
      store_shifted(chunk, buffer);
  }

 private:
  // All vectors in registers first: a store keeps its registers until the memory unit has read them, and loads into the
  // same ones would wait for that. __stcg also says that C is global memory, which the compiler can't know.
  __device__ __forceinline__ void store_vectors(const Output& chunk, uint32_t buffer) const {
    constexpr int kVectors = 4 * kRounds;  // of a lane, four lines apart
    const int at = static_cast<int>(lane_ % 8), pieces = chunk.along / 8;
    uint4 v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      v[i] = ptx::load_shared_16(buffer + (i % 2 == 0 ? even_ : odd_) + i / 2 * 8 * wgmma_smem::kLineBytes);
    }
    const int line = static_cast<int>(first_ + lane_ / 8), lines = at < pieces ? chunk.lines - line : 0;
    char* to = chunk.c + line * p_.c_pitch + at * 16;
    const int64_t four = 4 * p_.c_pitch;
#pragma unroll
    for (int i = 0; i < kVectors; ++i, to += four) {
      if (4 * i < lines) __stcg(reinterpret_cast<uint4*>(to), v[i]);
    }
  }
  // Lines at any address: from its first multiple of 16 bytes on in vectors, each of elements of two pieces, and what
  // is left at both ends one by one. Four lines at a time, eight lanes each, and twice that before anything is stored.
  __device__ __forceinline__ void store_shifted(const Output& chunk, uint32_t buffer) const {
    constexpr int kTogether = 2;
#pragma unroll 1
    for (int round = 0; round < 4 * kRounds; round += kTogether) {
      Shifted x[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int line = static_cast<int>(first_ + lane_ / 8) + 4 * (round + i);
        load(x[i], chunk.c + line * p_.c_pitch, line < chunk.lines ? chunk.along : 0, buffer, line);
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) store(x[i]);
    }
  }
  struct Shifted {
    uint16_t* to;
    int along, ahead, behind;  // elements of the line, those before its first vector, the first behind its last one
    uint32_t word[8];
    uint16_t head, tail;
  };
  __device__ __forceinline__ void load(Shifted& x, char* to, int along, uint32_t buffer, int line) const {
    const int lane = static_cast<int>(lane_ % 8);
    x.to = reinterpret_cast<uint16_t*>(to);
    x.along = along;
    x.ahead = static_cast<int>(-reinterpret_cast<uintptr_t>(to) / 2 & 7);
    x.behind = along - max(along - x.ahead, 0) % 8;
    put_piece(x.word, ptx::load_shared_16(buffer + chunk_offset(line, lane)));
    put_piece(x.word + 4, ptx::load_shared_16(buffer + chunk_offset(line, min(lane + 1, 7))));
    x.head = ptx::load_shared_2(buffer + chunk_offset(line, 0) + 2 * lane);
    const int e = min(x.behind + lane, 63);
    x.tail = ptx::load_shared_2(buffer + chunk_offset(line, e / 8) + e % 8 * 2);
  }
  __device__ __forceinline__ void store(Shifted& x) const {
    const int lane = static_cast<int>(lane_ % 8), e = x.ahead + 8 * lane;
    shift_down(x.word, 2 * x.ahead);
    if (e + 8 <= x.along) *reinterpret_cast<uint4*>(x.to + e) = first_piece(x.word);
    if (lane < min(x.ahead, x.along)) x.to[lane] = x.head;
    if (x.behind + lane < x.along) x.to[x.behind + lane] = x.tail;
  }

  const WgmmaParams& p_;
  uint32_t lane_, first_;
  uint32_t even_, odd_;  // this lane's vectors of lines 0..3 and 4..7 of the first eight
};

class ChunkRing {
 public:
  // Of consumer warpgroup `number`.
  __device__ __forceinline__ ChunkRing(const WgmmaParams& p, char* smem, uint32_t address, int number)
      : messages_(smem + wgmma_smem::kChunksAt + number * kMost * wgmma_smem::kChunkMessageBytes),
        barriers_(address + wgmma_smem::kChunkFullAt + 8 * number * kMost),
        buffers_(address + p.stages * p.stage_bytes + number * p.chunks * wgmma_smem::kChunkBytes),
        chunks_(p.chunks) {
    static_assert(sizeof(Message) <= wgmma_smem::kChunkMessageBytes);
  }

  // By one thread, before any use.
  static __device__ __forceinline__ void init(uint32_t address) {
#pragma unroll
    for (int i = 0; i < wgmma_smem::kConsumers * kMost; ++i) {
      ptx::mbarrier_init(address + wgmma_smem::kChunkFullAt + 8 * i, 32 * wgmma_smem::kGroupWarps);
      ptx::mbarrier_init(address + wgmma_smem::kChunkEmptyAt + 8 * i, 32);
    }
  }

  __device__ __forceinline__ uint32_t buffer() const { return buffers_ + position_.at * wgmma_smem::kChunkBytes; }

  // The warpgroup's side: until the next buffer is free; what it then holds. All lanes tell, on both sides, each that
  // its own accesses are behind it.
  __device__ __forceinline__ void wait_empty() const { ptx::mbarrier_wait(empty(), position_.phase ^ 1); }
  __device__ __forceinline__ void push(const Output& out, int column, bool last) {
    if (ptx::thread_index() % 128 == 0) message() = {out, column, last};
    ptx::mbarrier_arrive(full());
    position_.advance(chunks_);
  }

  // The storing warp's side.
  __device__ __forceinline__ void store_all(const WgmmaParams& p) {
    const ChunkStore<4> chunk(p, 0);
    while (true) {
      ptx::mbarrier_wait(full(), position_.phase);
      const Message x = message();
      if (x.out.c != nullptr) chunk.store(x.out, x.column, buffer());
      if (x.last) return;
      ptx::mbarrier_arrive(empty());
      position_.advance(chunks_);
    }
  }

 private:
  static constexpr int kMost = wgmma_smem::kMostChunks;
  struct Message {
    Output out;  // of no C: no chunk
    int column;
    bool last;
  };

  __device__ __forceinline__ Message& message() const {
    return *reinterpret_cast<Message*>(messages_ + position_.at * wgmma_smem::kChunkMessageBytes);
  }
  __device__ __forceinline__ uint32_t full() const { return barriers_ + 8 * position_.at; }
  __device__ __forceinline__ uint32_t empty() const {
    return full() + (wgmma_smem::kChunkEmptyAt - wgmma_smem::kChunkFullAt);
  }

  char* messages_;
  uint32_t barriers_, buffers_;
  int chunks_;
  RingPosition position_;
};

}  // namespace skgemm
