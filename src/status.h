// What went wrong, once for all dialects: a code (the numbers of skgemm_status_t) and words.
#pragma once
#include <string>
#include <utility>

#include "skgemm.h"

namespace skgemm {

struct [[nodiscard]] Status {
  skgemm_status_t code = SKGEMM_STATUS_SUCCESS;
  std::string words;

  bool ok() const { return code == SKGEMM_STATUS_SUCCESS; }
  static Status success() { return {}; }
  static Status invalid(std::string words) { return {SKGEMM_STATUS_INVALID_VALUE, std::move(words)}; }
  static Status not_supported(std::string words) { return {SKGEMM_STATUS_NOT_SUPPORTED, std::move(words)}; }
  static Status no_device(std::string words) { return {SKGEMM_STATUS_NO_DEVICE, std::move(words)}; }
};

}  // namespace skgemm
