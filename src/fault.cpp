// The faults of fault.h. Slow and plain: C goes through a dense copy in double, whatever its type and place.
#include "src/fault.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "src/degenerate.h"
#include "src/gpu.h"
#include "src/host/half.h"

#ifdef SKGEMM_FAULT_ON_DEVICE
#include <cuda_runtime.h>
#endif

namespace skgemm::fault {
namespace {

enum class Fault { none, nan, tail, row, trans, beta0, pad, eps };

struct Choice {
  Fault fault = Fault::none;
  double least_work = 0;  // m*n*k from which the fault acts
};

Choice read_environment() {
  const char* name = std::getenv("SKGEMM_FAULT");
  if (name == nullptr || *name == '\0') return {};
  struct Row {
    const char* name;
    Choice choice;
  };
  constexpr Row rows[] = {{"none", {}}, {"nan", {Fault::nan}}, {"tail", {Fault::tail}}, {"row", {Fault::row}},
                          {"trans", {Fault::trans}}, {"beta0", {Fault::beta0}}, {"pad", {Fault::pad}},
                          {"eps", {Fault::eps}}, {"big-tail", {Fault::tail, 1e6}}};
  const auto is_named = [&](const Row& row) { return std::string_view(name) == row.name; };
  const Row* found = std::find_if(std::begin(rows), std::end(rows), is_named);
  if (found == std::end(rows)) {
    std::fprintf(stderr, "skgemm: SKGEMM_FAULT=%s is no fault; fault.h lists them\n", name);
    std::abort();
  }
  Choice choice = found->choice;
  if (const char* least = std::getenv("SKGEMM_FAULT_MIN")) choice.least_work = std::atof(least);
  return choice;
}

const Choice& choice() {
  static const Choice c = read_environment();
  return c;
}

// Waits for the stream; false while it is being captured into a graph, where nothing can be read or damaged.
bool settle([[maybe_unused]] CUstream_st* stream) {
#ifdef SKGEMM_FAULT_ON_DEVICE
  if (!gpu::initialized()) return true;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone) return false;
  return cudaStreamSynchronize(stream) == cudaSuccess;
#else
  return true;
#endif
}

// `columns` runs of `bytes` at distances to_pitch and from_pitch, between any two memories.
struct Runs {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch, bytes;
  int64_t columns;
};
void copy(const Runs& r) {
#ifdef SKGEMM_FAULT_ON_DEVICE
  if (gpu::memory_of(r.to) != gpu::Memory::host || gpu::memory_of(r.from) != gpu::Memory::host) {
    const cudaError_t error = cudaMemcpy2D(r.to, r.to_pitch, r.from, r.from_pitch, r.bytes,
                                           static_cast<size_t>(r.columns), cudaMemcpyDefault);
    if (error != cudaSuccess) std::abort();  // a fault that was not made would count as one not noticed
    return;
  }
#endif
  for (int64_t j = 0; j < r.columns; ++j) {
    std::memcpy(static_cast<char*>(r.to) + static_cast<size_t>(j) * r.to_pitch,
                static_cast<const char*>(r.from) + static_cast<size_t>(j) * r.from_pitch, r.bytes);
  }
}

double decode(DataType type, const char* p) {
  uint16_t half;
  float single;
  double twice;
  switch (type) {
    case DataType::f64: std::memcpy(&twice, p, 8); return twice;
    case DataType::f32: std::memcpy(&single, p, 4); return single;
    case DataType::f16: std::memcpy(&half, p, 2); return half_to_float(half);
    case DataType::bf16: std::memcpy(&half, p, 2); return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
  }
  return 0;
}
void encode(DataType type, double value, char* p) {
  const float single = static_cast<float>(value);
  const uint16_t half = type == DataType::f16 ? float_to_half(single)
                                              : static_cast<uint16_t>(std::bit_cast<uint32_t>(single) >> 16);
  switch (type) {
    case DataType::f64: std::memcpy(p, &value, 8); return;
    case DataType::f32: std::memcpy(p, &single, 4); return;
    default: std::memcpy(p, &half, 2); return;
  }
}

// A rectangle of a stored matrix.
struct Part {
  const Matrix& matrix;
  DataType type;
  int64_t entry;  // of the batch
  int64_t row, column, rows, columns;

  size_t size() const { return static_cast<size_t>(size_of(type)); }
  char* first() const {
    return static_cast<char*>(matrix.data) + (entry * matrix.stride + row + column * matrix.ld) * size_of(type);
  }
};

std::vector<double> read(const Part& part) {
  const size_t run = static_cast<size_t>(part.rows) * part.size();
  std::vector<char> bytes(run * static_cast<size_t>(part.columns));
  copy({bytes.data(), run, part.first(), static_cast<size_t>(part.matrix.ld) * part.size(), run, part.columns});
  std::vector<double> values(static_cast<size_t>(part.rows * part.columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = decode(part.type, bytes.data() + i * part.size());
  return values;
}

// values(i, j) gives the element at row i and column j of the whole matrix.
template <class Values>
void write(const Part& part, const Values& values) {
  if (part.rows <= 0 || part.columns <= 0) return;
  const size_t run = static_cast<size_t>(part.rows) * part.size();
  std::vector<char> bytes(run * static_cast<size_t>(part.columns));
  for (int64_t j = 0; j < part.columns; ++j) {
    for (int64_t i = 0; i < part.rows; ++i) {
      char* to = bytes.data() + static_cast<size_t>(i + j * part.rows) * part.size();
      encode(part.type, values(part.row + i, part.column + j), to);
    }
  }
  copy({part.first(), static_cast<size_t>(part.matrix.ld) * part.size(), bytes.data(), run, run, part.columns});
}

double scalar(const GemmCall& call, const void* pointer) {
  double bits = 0;
  const auto bytes = static_cast<size_t>(size_of(call.scalar_type));
  copy({&bits, bytes, pointer, bytes, bytes, 1});
  return host_scalar(call.scalar_type, &bits);
}

// alpha*op(A)*B with B taken as it is stored, although the call says transposed; n == k.
std::vector<double> product_without_transposition(const GemmCall& x, int64_t entry) {
  const bool straight = x.op_a == Op::n;
  const auto a = read({x.a, x.in, entry, 0, 0, straight ? x.m : x.k, straight ? x.k : x.m});
  const auto b = read({x.b, x.in, entry, 0, 0, x.k, x.n});
  const double alpha = scalar(x, x.alpha);
  std::vector<double> sums(static_cast<size_t>(x.m * x.n));
  for (int64_t j = 0; j < x.n; ++j) {
    for (int64_t p = 0; p < x.k; ++p) {
      const double factor = alpha * b[static_cast<size_t>(p + j * x.k)];
      for (int64_t i = 0; i < x.m; ++i) {
        sums[static_cast<size_t>(i + j * x.m)] += a[static_cast<size_t>(straight ? i + p * x.m : p + i * x.k)] * factor;
      }
    }
  }
  return sums;
}

constexpr double kMostWorkInLoops = 1e9;  // m*n*k; a second or two

thread_local int depth = 0;

}  // namespace

struct Injection::Damage {
  GemmCall call;
  CUstream_st* stream;
  std::vector<std::vector<double>> before;  // C, one per batch entry

  double work() const {
    return static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  }

  Part part(int64_t entry, int64_t row, int64_t column, int64_t rows, int64_t columns) const {
    return {call.c, call.out, entry, row, column, rows, columns};
  }

  void act(int64_t entry) const {
    const int64_t m = call.m, n = call.n;
    const Part whole = part(entry, 0, 0, m, n);
    const auto& c_before = before[static_cast<size_t>(entry)];
    const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i + j * m); };
    const auto old = [&](int64_t i, int64_t j) { return c_before[at(i, j)]; };
    const auto nan = [](int64_t, int64_t) { return std::numeric_limits<double>::quiet_NaN(); };
    switch (choice().fault) {
      case Fault::none: return;
      case Fault::nan: return write(part(entry, 0, 0, 1, 1), nan);
      case Fault::tail: return write(part(entry, 0, n - 1, m, 1), old);
      case Fault::row: return write(part(entry, m - 1, 0, 1, n), old);
      case Fault::pad: return write(part(entry, m, 0, call.c.ld - m, n - 1), nan);
      case Fault::trans: {
        if (call.op_b != Op::t || call.n != call.k || work() > kMostWorkInLoops) return;
        const double beta = scalar(call, call.beta);
        const auto product = product_without_transposition(call, entry);
        return write(whole, [&](int64_t i, int64_t j) {
          return product[at(i, j)] + (beta == 0 ? 0 : beta * old(i, j));
        });
      }
      case Fault::beta0: {
        if (scalar(call, call.beta) != 0) return;
        const auto result = read(whole);
        return write(whole, [&](int64_t i, int64_t j) { return result[at(i, j)] + 0 * old(i, j); });
      }
      case Fault::eps: {
        const double relative = call.out == DataType::f64 ? 1e-10 : call.out == DataType::f32 ? 1e-5 : 1e-2;
        const auto result = read(whole);
        return write(whole, [&](int64_t i, int64_t j) { return result[at(i, j)] * (1 + relative); });
      }
    }
  }
};

Injection::Injection(const GemmCall& call, CUstream_st* stream) {
  if (depth++ > 0 || choice().fault == Fault::none || call.m == 0 || call.n == 0) return;
  auto damage = std::make_unique<Damage>(Damage{call, stream, {}});
  if (damage->work() < choice().least_work || !settle(stream)) return;
  damage_ = std::move(damage);
  for (int64_t entry = 0; entry < call.batch; ++entry) {
    damage_->before.push_back(read(damage_->part(entry, 0, 0, call.m, call.n)));
  }
}

Injection::~Injection() {
  --depth;
  if (damage_ == nullptr || !settle(damage_->stream)) return;
  for (int64_t entry = 0; entry < damage_->call.batch; ++entry) damage_->act(entry);
}

}  // namespace skgemm::fault
