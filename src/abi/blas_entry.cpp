#include "src/abi/blas_entry.h"

#include <dlfcn.h>

#include <cctype>
#include <cstdio>
#include <string>

#include "src/host/quietly.h"
#include "src/log.h"

namespace skgemm::abi {
namespace {

// The program's own handler, if it exports one. The number is passed in 64 bits, of which a 32-bit handler reads the
// low half.
void report_fortran(const Origin& origin, int position) {
  std::string routine = origin.name;
  routine.resize(routine.find('_'));
  for (char& letter : routine) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  routine.resize(6, ' ');
  using Xerbla = void (*)(const char*, const int64_t*, size_t);
  const int64_t info = position;
  if (void* handler = dlsym(RTLD_DEFAULT, "xerbla_"))
    return reinterpret_cast<Xerbla>(handler)(routine.c_str(), &info, 6);
  std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine.c_str(), position);
}

// CBLAS counts the layout as 1, and numbers the arguments as the user wrote them: row-major swaps A's and B's back.
void report_cblas(const Origin& origin, int position, bool row_major) {
  constexpr int kSwapped[] = {0, 2, 1, 4, 3, 5, 6, 7, 10, 9, 8, 11, 12, 13};
  const int number = (row_major ? kSwapped[position] : position) + 1;
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", number, origin.name);
}

}  // namespace

void log_unserved(const GemmCall& call, const char* on, const char* why) {
  quietly([&] {
    if (log::calls() && !CallDepth::nested()) log::call(call, on, 0, why);
  });
}

void report_illegal(const Origin& origin, int position, bool row_major) {
  if (origin.entry.convention == cpu_blas::Convention::cblas) return report_cblas(origin, position, row_major);
  report_fortran(origin, position);
}

}  // namespace skgemm::abi
