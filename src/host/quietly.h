// For words that may not cost a product: what making them throws (there is no memory for them) ends here.
#pragma once
#include <exception>

namespace skgemm {

// std::exception only: a cancelled thread unwinds by an exception of the C library's, which must pass.
template <class Body>
void quietly(const Body& body) {
  try {
    body();
  } catch (const std::exception&) {
  }
}

}  // namespace skgemm
