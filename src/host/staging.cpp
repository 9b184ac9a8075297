// Products whose operands are (or may be) in host memory, on the GPU: uploads, products and downloads overlap on three
// streams. A tile of C reaches host memory only when it is complete, and tiles do so in order, so after a failure the
// rest can be computed on the CPU with every element of C scaled by beta exactly once.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/degenerate.h"
#include "src/gpu.h"
#include "src/host/cpu_gemm.h"
#include "src/host/staging_buffers.h"
#include "src/host/staging_plan.h"
#include "src/log.h"

namespace skgemm::gpu {
namespace {

// Device memory that stays free for the kernels' partial sums and for the program.
constexpr size_t kReserveBytes = size_t{512} << 20;

void require(const Status& status) {
  if (!status.ok()) throw StagingError(status);
}

HostBlock host_block(const Matrix& x, const Block& b, DataType type) {
  const int64_t pitch = x.ld * size_of(type);
  return {static_cast<const char*>(x.data) + b.row * size_of(type) + b.col * pitch, b.rows, b.cols, pitch, type};
}

// The device's copies of one operand's blocks. Block i lives in slot i % slots and stays until another takes the slot.
class BlockCache {
 public:
  BlockCache(char* memory, size_t slot_bytes, int64_t slots)
      : memory_(memory), slot_bytes_(slot_bytes), slots_(static_cast<size_t>(slots)) {}

  struct Slot {
    int64_t block = -1;
    Event arrived, released;
  };
  Slot& slot_of(int64_t block) { return slots_[static_cast<size_t>(block) % slots_.size()]; }
  char* address(int64_t block) const { return memory_ + static_cast<size_t>(block) % slots_.size() * slot_bytes_; }

 private:
  char* memory_;
  size_t slot_bytes_;
  std::vector<Slot> slots_;
};

class Pipeline {
 public:
  Pipeline(Stager& stager, const GemmCall& call, const StagingPlan& plan)
      : stager_(stager),
        call_(call),
        plan_(plan),
        a_(stager.device.data(), plan.a_slot_bytes, plan.a_slots),
        b_(stager.device.data() + static_cast<size_t>(plan.a_slots) * plan.a_slot_bytes, plan.b_slot_bytes,
           plan.b_slots),
        c_(stager.device.data() + plan.device_bytes() -
           static_cast<size_t>(StagingPlan::kTileSlots) * plan.c_slot_bytes),
        reads_c_(host_scalar(call.scalar_type, call.beta) != 0) {
    launch_.stream = stager.compute;
  }

  void run() {
    for (int64_t tile = 0; tile < plan_.tiles(); ++tile) {
      if (tile >= StagingPlan::kTileSlots) write_back(tile - StagingPlan::kTileSlots);
      compute(tile);
    }
    while (written_ < plan_.tiles()) write_back(written_);
  }

  // How many tiles, from the first, have reached host memory.
  int64_t written() const { return written_; }

 private:
  char* c_slot(int64_t tile) const {
    return c_ + static_cast<size_t>(tile % StagingPlan::kTileSlots) * plan_.c_slot_bytes;
  }

  // Sends a block unless it is there already, and makes the products wait for it.
  void provide(BlockCache& cache, int64_t index, const HostBlock& block) {
    BlockCache::Slot& slot = cache.slot_of(index);
    if (slot.block != index) {
      slot.released.hold(stager_.in);
      slot.block = -1;
      stager_.upload(block, cache.address(index), call_.in);
      slot.arrived.record(stager_.in);
      slot.block = index;
    }
    slot.arrived.hold(stager_.compute);
  }

  void compute(int64_t tile) {
    const Block block = plan_.tile(call_, tile);
    if (reads_c_) {
      stager_.upload(host_block(call_.c, block, call_.out), c_slot(tile), plan_.c_type);
      c_arrived_.record(stager_.in);
      c_arrived_.hold(stager_.compute);
    }
    for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk) add_chunk(tile, block, chunk);
    computed_.record(stager_.compute);
    computed_.hold(stager_.out);
    const auto bytes = static_cast<size_t>(staged_ld(block.rows, plan_.c_type) * block.cols * size_of(plan_.c_type));
    stager_.download(c_slot(tile), bytes, static_cast<int>(tile % StagingPlan::kTileSlots));
  }

  void add_chunk(int64_t tile, const Block& block, int64_t chunk) {
    const int64_t row = tile % plan_.tiles_m, col = tile / plan_.tiles_m;
    const Block a = plan_.a_block(call_, row, chunk), b = plan_.b_block(call_, col, chunk);
    const int64_t a_index = row * plan_.chunks + chunk, b_index = col * plan_.chunks + chunk;
    provide(a_, a_index, host_block(call_.a, a, call_.in));
    provide(b_, b_index, host_block(call_.b, b, call_.in));
    GemmCall part = call_;
    part.m = block.rows;
    part.n = block.cols;
    part.k = call_.op_a == Op::n ? a.cols : a.rows;
    part.out = plan_.c_type;
    part.a = {a_.address(a_index), staged_ld(a.rows, call_.in), 0};
    part.b = {b_.address(b_index), staged_ld(b.rows, call_.in), 0};
    part.c = {c_slot(tile), staged_ld(block.rows, plan_.c_type), 0};
    static constexpr double kOneF64 = 1;
    static constexpr float kOneF32 = 1;
    if (chunk > 0) part.beta = call_.scalar_type == DataType::f64 ? static_cast<const void*>(&kOneF64) : &kOneF32;
    require(gemm(part, launch_));
    a_.slot_of(a_index).released.record(stager_.compute);
    b_.slot_of(b_index).released.record(stager_.compute);
  }

  void write_back(int64_t tile) {
    stager_.write_back(static_cast<int>(tile % StagingPlan::kTileSlots), plan_.c_type,
                       host_block(call_.c, plan_.tile(call_, tile), call_.out));
    written_ = tile + 1;
  }

  Stager& stager_;
  const GemmCall& call_;
  const StagingPlan& plan_;
  BlockCache a_, b_;
  char* c_;
  bool reads_c_;
  LaunchContext launch_;
  Event c_arrived_, computed_;
  int64_t written_ = 0;
};

// The tiles from `first` on, by the CPU.
void finish_on_cpu(const GemmCall& call, const StagingPlan& plan, int64_t first) {
  for (int64_t index = first; index < plan.tiles(); ++index) {
    const Block tile = plan.tile(call, index);
    const int64_t in = size_of(call.in), out = size_of(call.out);
    GemmCall part = call;
    part.m = tile.rows;
    part.n = tile.cols;
    part.a.data = static_cast<char*>(call.a.data) + tile.row * (call.op_a == Op::n ? 1 : call.a.ld) * in;
    part.b.data = static_cast<char*>(call.b.data) + tile.col * (call.op_b == Op::n ? call.b.ld : 1) * in;
    part.c.data = static_cast<char*>(call.c.data) + (tile.row + tile.col * call.c.ld) * out;
    cpu_gemm(part);
  }
}

Status gemm_in_panels(const GemmCall& call, bool* c_dirty) {
  StagerLease stager(current_device());
  size_t free_bytes = 0, total = 0;
  check(cudaMemGetInfo(&free_bytes, &total), "ask for the free device memory");
  free_bytes += stager->device.bytes();
  // Half of what is left: other threads stage too.
  const auto plan = plan_staging(call, (free_bytes > 2 * kReserveBytes ? free_bytes - kReserveBytes : free_bytes) / 2);
  if (!plan) {
    return {SKGEMM_STATUS_ALLOC_FAILED,
            "the device's memory is full: " + std::to_string(free_bytes >> 20) + " MiB are free"};
  }
  int64_t written = 0;
  Status status;
  try {
    stager->device.reserve(plan->device_bytes());
    Pipeline pipeline(*stager, call, *plan);
    try {
      pipeline.run();
      return Status::success();
    } catch (const StagingError& error) {
      status = error.status;
    } catch (const std::exception&) {
      status = {SKGEMM_STATUS_ALLOC_FAILED, "host memory ran out"};
    }
    stager->drain();  // before the pipeline's events go
    written = pipeline.written();
  } catch (const StagingError& error) {
    status = error.status;
  }
  stager.discard();
  if (written == 0) return status;
  *c_dirty = true;  // until the CPU has done the rest
  finish_on_cpu(call, *plan, written);
  log::warn(std::string(call.name) + ": the GPU failed (" + status.words + ") after " + std::to_string(written) +
            " of " + std::to_string(plan->tiles()) + " tiles; the CPU computed the rest");
  return Status::success();
}

// Whether kernels on the current device read and write it in place; pinned memory would be slow there.
bool in_place(const Matrix& x) { return memory_of(x.data) != Memory::host && reachable(x.data); }

// The device that holds an operand; the current one for memory that is no device's.
int device_of(const Matrix& x) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, x.data) == cudaSuccess && attributes.type == cudaMemoryTypeDevice) {
    return attributes.device;
  }
  cudaGetLastError();
  return current_device();
}

// Waits for what the program has put on the default stream of the device that holds the operand, which is not the
// current one.
void finish_elsewhere(const Matrix& x) {
  if (memory_of(x.data) == Memory::host) return;
  const DeviceScope scope(device_of(x));
  check(cudaStreamSynchronize(nullptr), "finish the work on another device");
}

// A copy on the current device of an operand that is somewhere else.
void bring(const Matrix& from, const Block& size, DataType type, Buffer& buffer, Matrix& to) {
  const int64_t ld = staged_ld(size.rows, type), element = size_of(type);
  finish_elsewhere(from);
  buffer.reserve(static_cast<size_t>(ld * size.cols * element));
  check(
      cudaMemcpy2D(buffer.data(), static_cast<size_t>(ld * element), from.data, static_cast<size_t>(from.ld * element),
                   static_cast<size_t>(size.rows * element), static_cast<size_t>(size.cols), cudaMemcpyDefault),
      "copy to the device");
  to = {buffer.data(), ld, 0};
}

// Operands in several memories: those that are not on this device are copied whole.
void gemm_mixed(const GemmCall& call, bool* c_dirty) {
  const Block a = call.op_a == Op::n ? Block{0, 0, call.m, call.k} : Block{0, 0, call.k, call.m};
  const Block b = call.op_b == Op::n ? Block{0, 0, call.k, call.n} : Block{0, 0, call.n, call.k};
  const Block c{0, 0, call.m, call.n};
  Buffer a_copy{BufferKind::device}, b_copy{BufferKind::device}, c_copy{BufferKind::device};
  GemmCall on_device = call;
  const bool product = degenerate(call) == Degenerate::no;
  if (product && !in_place(call.a)) bring(call.a, a, call.in, a_copy, on_device.a);
  if (product && !in_place(call.b)) bring(call.b, b, call.in, b_copy, on_device.b);
  const bool c_copied = !in_place(call.c);
  if (c_copied) bring(call.c, c, call.out, c_copy, on_device.c);
  require(gemm(on_device, {}));
  *c_dirty = !c_copied;
  check(cudaStreamSynchronize(nullptr), "finish the product");
  if (!c_copied) return;
  *c_dirty = true;
  const int64_t element = size_of(call.out);
  check(cudaMemcpy2D(call.c.data, static_cast<size_t>(call.c.ld * element), on_device.c.data,
                     static_cast<size_t>(on_device.c.ld * element), static_cast<size_t>(call.m * element),
                     static_cast<size_t>(call.n), cudaMemcpyDefault),
        "copy from the device");
}

// Where to multiply: on the device that has C, or else another operand.
int device_of(const GemmCall& call) {
  for (const Matrix* x : {&call.c, &call.a, &call.b}) {
    if (memory_of(x->data) == Memory::device) return device_of(*x);
  }
  return current_device();
}

}  // namespace

Status gemm_staged(const GemmCall& call, bool* c_dirty) {
  *c_dirty = false;
  try {
    if (Availability gpu = availability(); !gpu.usable) return Status::no_device(std::move(gpu.why_not));
    const DeviceScope scope(device_of(call));
    const bool product = degenerate(call) == Degenerate::no;
    const Memory a = product ? memory_of(call.a.data) : Memory::device,
                 b = product ? memory_of(call.b.data) : Memory::device;
    const Memory c = memory_of(call.c.data);
    const auto any = [&](Memory kind) { return c == kind || (product && (a == kind || b == kind)); };
    if (any(Memory::host) && !any(Memory::device) && !any(Memory::unknown)) {
      // The copies in panels do not wait for the default stream, where managed memory may still be written.
      if (any(Memory::managed)) check(cudaStreamSynchronize(nullptr), "finish the program's work");
      return gemm_in_panels(call, c_dirty);
    }
    gemm_mixed(call, c_dirty);
    return Status::success();
  } catch (const StagingError& error) {
    return error.status;
  } catch (const std::exception&) {
    return {SKGEMM_STATUS_ALLOC_FAILED, "host memory ran out"};
  }
}

}  // namespace skgemm::gpu
