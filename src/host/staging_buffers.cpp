#include "src/host/staging_buffers.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/host/half.h"
#include "src/host/signal_free_thread.h"

namespace skgemm::gpu {
namespace {

constexpr size_t kPieceBytes = size_t{16} << 20;      // of a pinned piece: long enough for the link's full rate
constexpr size_t kKeptDeviceBytes = size_t{1} << 30;  // more than this goes back to the device after a call
constexpr int kStagers = 8;                           // calls that stage at once; more would only share the link
constexpr size_t kParallelCopyBytes = size_t{4} << 20;
constexpr int kCopyThreads = 4;  // one core moves about 10 GB/s, a link up to 50

// f(first, last) over [0, count) on a few threads, when there is enough to copy. Nothing is thrown: a tile of C is
// written whole or not at all.
template <class F>
void share_columns(int64_t count, size_t bytes, const F& f) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const int64_t shares =
      bytes < kParallelCopyBytes ? 1 : std::clamp<int64_t>(std::min(cores / 2, kCopyThreads), 1, count);
  std::array<std::jthread, kCopyThreads> helpers;
  int64_t done = count / shares;  // this thread's part is the first
  try {
    for (int64_t share = 1; share < shares; ++share) {
      const int64_t last = count * (share + 1) / shares;
      helpers[static_cast<size_t>(share)] = signal_free_thread([&f, first = done, last] { f(first, last); });
      done = last;
    }
  } catch (const std::exception&) {  // no more threads to be had: the rest is ours too
    f(done, count);
  }
  f(0, count / shares);
}

// One column between host memory and a staging buffer; halves that are summed in fp32 on the device change type here.
void copy_column(const char* from, DataType from_type, char* to, DataType to_type, int64_t rows) {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<size_t>(rows * size_of(from_type)));
  } else if (to_type == DataType::f32) {
    const auto* x = reinterpret_cast<const uint16_t*>(from);
    std::transform(x, x + rows, reinterpret_cast<float*>(to), half_to_float);
  } else {
    const auto* x = reinterpret_cast<const float*>(from);
    std::transform(x, x + rows, reinterpret_cast<uint16_t*>(to), float_to_half);
  }
}

class Pool {
 public:
  std::unique_ptr<Stager> take(int device) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return lent_ < kStagers; });
    ++lent_;
    const auto mine =
        std::find_if(idle_.begin(), idle_.end(), [&](const auto& s) { return s->device_number == device; });
    if (mine == idle_.end()) return nullptr;
    std::unique_ptr<Stager> stager = std::move(*mine);
    idle_.erase(mine);
    return stager;
  }

  void give(std::unique_ptr<Stager> stager) {
    {
      const std::lock_guard lock(mutex_);
      --lent_;
      if (stager != nullptr) idle_.push_back(std::move(stager));
    }
    free_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<Stager>> idle_;
  int lent_ = 0;
};

// Never destroyed: at exit the driver may be gone before us.
Pool& pool() {
  static Pool& the_pool = *new Pool;
  return the_pool;
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // the next call is not to blame
  const auto code = error == cudaErrorMemoryAllocation ? SKGEMM_STATUS_ALLOC_FAILED : SKGEMM_STATUS_EXECUTION_FAILED;
  throw StagingError({code, std::string("could not ") + what + ": " + cudaGetErrorString(error)});
}

void Buffer::reserve(size_t bytes) {
  if (bytes <= bytes_) return;
  release();
  void* data = nullptr;
  if (kind_ == BufferKind::device) {
    check(cudaMalloc(&data, bytes), "get device memory");
  } else {
    check(cudaHostAlloc(&data, bytes, cudaHostAllocDefault), "get pinned host memory");
  }
  data_ = static_cast<char*>(data);
  bytes_ = bytes;
}

void Buffer::release() {
  if (data_ != nullptr) kind_ == BufferKind::device ? cudaFree(data_) : cudaFreeHost(data_);
  data_ = nullptr;
  bytes_ = 0;
}

void Stager::upload(const HostBlock& from, char* to, DataType to_type) {
  const int64_t element = size_of(to_type), to_pitch = staged_ld(from.rows, to_type) * element;
  const int64_t piece_rows = std::min(from.rows, static_cast<int64_t>(kPieceBytes) / element);
  const int64_t piece_cols =
      std::min(from.cols, std::max<int64_t>(1, static_cast<int64_t>(kPieceBytes) / (piece_rows * element)));
  for (int64_t col = 0; col < from.cols; col += piece_cols) {
    for (int64_t row = 0; row < from.rows; row += piece_rows) {
      const int64_t rows = std::min(piece_rows, from.rows - row), cols = std::min(piece_cols, from.cols - col);
      const auto row_bytes = static_cast<size_t>(rows * element);
      Buffer& piece = piece_[next_piece_];
      Event& sent = piece_sent_[next_piece_];
      next_piece_ = (next_piece_ + 1) % kPieces;
      sent.wait();  // returns at once for an event never recorded
      piece.reserve(row_bytes * static_cast<size_t>(cols));
      const char* first = from.data + row * size_of(from.type) + col * from.pitch;
      share_columns(cols, row_bytes * static_cast<size_t>(cols), [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) {
          copy_column(first + j * from.pitch, from.type, piece.data() + static_cast<size_t>(j) * row_bytes, to_type,
                      rows);
        }
      });
      check(cudaMemcpy2DAsync(to + row * element + col * to_pitch, static_cast<size_t>(to_pitch), piece.data(),
                              row_bytes, row_bytes, static_cast<size_t>(cols), cudaMemcpyHostToDevice, in),
            "copy to the device");
      sent.record(in);
    }
  }
}

void Stager::download(const char* from, size_t bytes, int slot) {
  result_[slot].reserve(bytes);
  check(cudaMemcpyAsync(result_[slot].data(), from, bytes, cudaMemcpyDeviceToHost, out), "copy from the device");
  result_ready_[slot].record(out);
}

void Stager::write_back(int slot, DataType from_type, const HostBlock& to) {
  result_ready_[slot].wait();
  const int64_t pitch = staged_ld(to.rows, from_type) * size_of(from_type);
  const auto bytes = static_cast<size_t>(to.rows * to.cols * size_of(to.type));
  share_columns(to.cols, bytes, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      copy_column(result_[slot].data() + j * pitch, from_type, const_cast<char*>(to.data) + j * to.pitch, to.type,
                  to.rows);
    }
  });
}

void Stager::drain() noexcept {
  for (const Stream* stream : {&in, &compute, &out}) cudaStreamSynchronize(*stream);
  cudaGetLastError();
}

StagerLease::StagerLease(int device) : stager_(pool().take(device)) {
  if (stager_ != nullptr) return;
  try {
    stager_ = std::make_unique<Stager>(device);
  } catch (...) {
    pool().give(nullptr);
    throw;
  }
}

StagerLease::~StagerLease() {
  if (broken_) {
    stager_.reset();
  } else if (stager_->device.bytes() > kKeptDeviceBytes) {
    stager_->device.release();
  }
  pool().give(std::move(stager_));
}

}  // namespace skgemm::gpu
