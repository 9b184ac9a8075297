// SKGEMM_VERBOSE: one line per call with the decision and its reason, in the format that `skgemm bench --replay` reads.
// 0 or unset: silent. 1: one line per call. 2: also one-time events (device found, libraries loaded, rates measured).
// SKGEMM_LOG=FILE sends the lines there instead of to stderr. Nothing else in the library prints, except the reference
// BLAS's words on an illegal argument where no CPU BLAS can say them (abi/blas_entry.cpp).
#pragma once
#include <string>
#include <string_view>

#include "src/gemm_call.h"

namespace skgemm::log {

bool calls();   // level >= 1; cheap: one load of a cached flag
bool events();  // level >= 2

// skgemm: call=dgemm_ type=f64 out=f64 op=NT m=4 n=5 k=6 lda=4 ldb=5 ldc=4 batch=1 alpha=1 beta=0 on=cpu us=12.3
// why="..." `on` is gpu, cpu, forwarded, or none for a call that is answered with an error; `why` the reason, or for
// gpu the plan. With batch > 1, stride_a=, stride_b= and stride_c= follow it. alpha and beta are "device" when they
// live there, "null" when there is none or a call is refused before they may be read.
void call(const GemmCall& call, std::string_view on, double us, std::string_view why);
// The same line as text, without the newline.
std::string to_line(const GemmCall& call, std::string_view on, double us, std::string_view why);
// skgemm: <words>
void event(std::string_view words);
// A warning is printed at any level, once per distinct text (design D15: never a silent wrong or slow path), for the
// first so many texts of a process: words with numbers in them can be new for ever.
inline constexpr size_t kMostWarnings = 128;
void warn(std::string_view words);

}  // namespace skgemm::log
