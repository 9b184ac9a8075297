#!/bin/sh
# sanitize.sh COMPUTE_SANITIZER TOOL PROGRAM SUITE: a suite under compute-sanitizer. Exit status 77 without the tool or
# a GPU; a finding of the tool is 9, a failed test 1.
sanitizer=$1 tool=$2 program=$3 suite=$4
if [ ! -x "$sanitizer" ]; then
  echo "compute-sanitizer was not found (it comes with CUDA; -DSKGEMM_COMPUTE_SANITIZER=FILE tells where it is)"
  exit 77
fi
# Outside of the tool first, which would report a missing device as a finding. Any test of one call tells.
answer=$("$program" --gtest_filter=Errors.NullHandle 2>&1)
status=$?
if [ $status -ne 0 ]; then
  echo "$answer"
  exit $status
fi
exec "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" "--gtest_filter=*$suite*"
