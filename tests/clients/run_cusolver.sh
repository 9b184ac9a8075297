#!/usr/bin/env bash
# cuSOLVER's LU and Cholesky without and with the library preloaded: run_cusolver.sh BUILD_DIR [N...] (4096 16384). The
# times are of runs without a log; one more run counts who served the products. Fails where a residual is too large or
# no product was served; exits with 77 without a GPU.
set -euo pipefail
if [ $# -lt 1 ]; then
  echo "usage: $0 BUILD_DIR [N...]" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
shift
if [ $# -eq 0 ]; then set -- 4096 16384; fi
client=$build/tests/clients/cusolver_client
library=$build/libskgemm.so
if [ ! -x "$client" ]; then
  echo "skipped: $client was not built (the toolkit has no cuSOLVER)"
  exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The client's line; its exit status when that isn't 0 ends us.
measure() {
  local line status=0
  line=$(env "$@") || status=$?
  if [ "$status" -ne 0 ]; then
    echo "$line" >&2
    exit "$status"
  fi
  echo "$line"
}

field() { sed -n "s/.* $2=\([^ ]*\).*/\1/p" <<<"$1"; }
calls() { grep -c "call=cublasDgemm.* on=$1 " "$log" || true; }

row='%-8s %6s | %9s %9s %9s | %9s %9s %9s | %6s %9s\n'
all_served=0
for n in "$@"; do
  for factor in lu cholesky; do
    plain=$(measure "$client" "$n" $factor)
    ours=$(measure LD_PRELOAD="$library" "$client" "$n" $factor)
    measure LD_PRELOAD="$library" SKGEMM_VERBOSE=1 SKGEMM_LOG="$log" "$client" "$n" $factor >/dev/null
    if [ -z "${header:-}" ]; then
      header='dgemm calls of two factorisations and a solve: served by us, forwarded to cuBLAS'
      echo "$header"
      # shellcheck disable=SC2059
      printf "$row" '' n 'plain, s' GFLOP/s residual 'ours, s' GFLOP/s residual served forwarded
    fi
    served=$(calls gpu)
    all_served=$((all_served + served))
    # shellcheck disable=SC2059
    printf "$row" $factor "$n" "$(field "$plain" seconds)" "$(field "$plain" gflops)" "$(field "$plain" residual)" \
      "$(field "$ours" seconds)" "$(field "$ours" gflops)" "$(field "$ours" residual)" "$served" "$(calls forwarded)"
    sed -n 's/.* on=forwarded .*why="\(.*\)"/\1/p' "$log" | sort | uniq -c | sed 's/^/  forwarded: /'
    : >"$log"
  done
done
if [ "$all_served" -eq 0 ]; then
  echo "no dgemm of cuSOLVER's was served" >&2
  exit 1
fi
