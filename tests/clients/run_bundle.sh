#!/bin/sh
# Runs the client programs of this folder with a library preloaded and prints a table: run.sh libskgemm.so [CLIENT...]
# SKGEMM_TEST_EXPECT=gpu sends every product to the GPU and fails where one did not run there.
[ $# -ge 1 ] || { echo "usage: $0 path/to/libskgemm.so [CLIENT...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
library=$1
shift
. "$here/environment.sh"
[ $# -gt 0 ] || set -- netlib_s netlib_d netlib_s_65 netlib_d_65 netlib_cblas_s netlib_cblas_d c fortran ctypes numpy \
  scipy numpy_error octave r hpl
failed=0
passed=0
skipped=0
for client in "$@"; do
  python3 "$here/clients/run_client.py" --library "$library" --programs "$here/bin" --netlib "$here/netlib" "$client"
  case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
done
echo "clients: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
