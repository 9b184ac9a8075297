// What the native API said of a call that failed.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "skgemm.h"

namespace skgemm {

inline std::string last_error() { return skgemm_last_error(); }

inline ::testing::AssertionResult says(const std::string& words) {
  if (last_error().find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << last_error() << "\" doesn't say \"" << words << "\"";
}

}  // namespace skgemm
