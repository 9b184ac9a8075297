// The wall behind every extern "C" entry point: nothing is thrown across it.
#pragma once
#include <exception>
#include <new>

#include "src/status.h"

namespace skgemm {

// Runs `body`, which returns a Status; what it throws becomes one.
template <class Body>
Status guard(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {SKGEMM_STATUS_ALLOC_FAILED, "out of memory"};  // short enough for std::string to hold without allocating
  } catch (const std::exception& e) {
    try {
      return {SKGEMM_STATUS_INTERNAL_ERROR, e.what()};
    } catch (...) {
      return {SKGEMM_STATUS_ALLOC_FAILED, "out of memory"};
    }
  } catch (...) {
    return {SKGEMM_STATUS_INTERNAL_ERROR, "internal error"};
  }
}

}  // namespace skgemm
