// A stand-in for the CUDA runtime as src/host/staging*.cpp uses it: streams are queues, and the work in them runs in a
// random order that only stream order and events restrain, as late as it may. A missing wait then shows as a wrong
// result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

namespace skgemm::test::fake_cuda {

struct Settings {
  uint64_t seed = 1;
  size_t free_bytes = size_t{1} << 30;  // what cudaMemGetInfo says, and cudaMalloc gives
  int64_t fail_at = -1;                 // which call (copies, products, allocations) fails; that and all later ones
};
// Starts afresh; what an earlier test left in a queue is forgotten.
void reset(const Settings& settings);
// Declares memory of the test's to be managed, or of a device that is not the current one (copies reach it, kernels do
// not), until reset().
enum class Kind { managed, other_device };
void place(const void* data, size_t bytes, Kind kind);
// Work of the program on the default stream of every device.
void enqueue_on_default_stream(std::function<void()> run);
// Calls made since reset() of the kinds that can fail.
int64_t calls();
// Bytes of device and pinned memory, and streams and events, that are still held.
int64_t held();

}  // namespace skgemm::test::fake_cuda
