#!/bin/sh
# HPL (that of hpcc) in one process, its products on the CPU and then where the library sends them; prints HPL's own
# time and residual lines: run_hpl.sh libskgemm.so [N [NB]] (20000, 512). At such sizes the benchmarks that hpcc runs
# before HPL take minutes; N = 10000 takes a quarter of the time.
set -eu
if [ $# -lt 1 ]; then
  echo "usage: $0 path/to/libskgemm.so [N [NB]]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
order=${2:-20000}
block=${3:-512}
input=$here/hpccinf.txt
if [ -e "$here/environment.sh" ]; then
  . "$here/environment.sh"
  input=$here/clients/hpccinf.txt
fi
command -v hpcc >/dev/null || { echo "skipped: hpcc is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
for offload in never auto; do
  mkdir "$folder/$offload"
  cd "$folder/$offload"
  sed -e "6s/^[0-9]*/$order/" -e "8s/^[0-9]*/$block/" "$input" >hpccinf.txt
  LD_PRELOAD=$library SKGEMM_OFFLOAD=$offload SKGEMM_VERBOSE=1 SKGEMM_LOG=calls.log hpcc >hpcc.txt 2>&1 || failed=1
  gpu=$(grep -c ' on=gpu ' calls.log || true)
  cpu=$(grep ' on=cpu ' calls.log | grep -c -v -E ' [mnk]=0 ' || true)
  echo "SKGEMM_OFFLOAD=$offload: products of all of hpcc: $gpu on the GPU, $cpu on the CPU"
  grep -E '^T/V +N |^W[RC][0-9]' hpccoutf.txt || failed=1
  grep '||Ax-b||_oo/' hpccoutf.txt | tail -1
  grep -q '||Ax-b||_oo/.*PASSED' hpccoutf.txt || failed=1
done
[ "$failed" -eq 0 ] || { tail -5 "$folder"/*/hpcc.txt; echo "FAILED"; exit 1; }
