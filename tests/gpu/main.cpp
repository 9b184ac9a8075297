// All GPU tests that need no environment of their own.
#include "tests/gpu/gpu_test.h"

int main(int argc, char** argv) { return skgemm::test::run_all_tests(argc, argv); }
