#include "src/degenerate.h"

#include <cstring>

#include "src/host/half.h"

namespace skgemm {
namespace {

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

double host_scalar(DataType type, const void* scalar) {
  switch (type) {
    case DataType::f64: return load<double>(scalar);
    case DataType::f32: return load<float>(scalar);
    case DataType::bf16: {
      const uint32_t bits = uint32_t{load<uint16_t>(scalar)} << 16;  // the upper half of a binary32
      return load<float>(&bits);
    }
    case DataType::f16: return half_to_float(load<uint16_t>(scalar));
  }
  return 0;
}

Degenerate degenerate(const GemmCall& call) {
  if (call.m == 0 || call.n == 0 || call.batch == 0) return Degenerate::nothing;
  const bool host = call.scalars == PointerMode::host;
  if (call.k != 0 && !(host && host_scalar(call.scalar_type, call.alpha) == 0)) return Degenerate::no;
  return host && host_scalar(call.scalar_type, call.beta) == 1 ? Degenerate::nothing : Degenerate::scale;
}

}  // namespace skgemm
