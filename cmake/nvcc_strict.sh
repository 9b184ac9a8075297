#!/bin/sh
# Runs a compilation, and fails it when ptxas reports that wgmma was serialised. ptxas calls C7508, C7510, C7511
# and C7515 "info", out of -Werror's reach, but each costs most of a kernel's rate: here they are errors, and the object
# goes.
report=$(mktemp) || exit 1
trap 'rm -f "$report"' EXIT
"$@" 2> "$report"
status=$?
cat "$report" >&2
if [ $status -eq 0 ] && grep -Eq '\(?C75(08|10|11|15)\)?' "$report"; then
  echo "nvcc_strict: wgmma is serialised (C7508, C7510, C7511 or C7515 above), which is an error here" >&2
  while [ $# -gt 1 ]; do
    if [ "$1" = -o ]; then rm -f "$2"; fi
    shift
  done
  status=1
fi
exit $status
