#!/bin/sh
# Runs the client programs of this folder with a library preloaded and prints a table: run.sh libskgemm.so [CLIENT...]
# SKGEMM_TEST_EXPECT=gpu sends every product to the GPU and fails where one did not run there.
[ $# -ge 1 ] || { echo "usage: $0 path/to/libskgemm.so [CLIENT...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
library=$1
shift
export PATH="$here/bin:$PATH"
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# Open MPI from this folder, one process on its own.
export OPAL_PREFIX="$here" OMPI_MCA_mca_base_component_path="$here/lib/openmpi" OMPI_MCA_ess_singleton_isolated=1
export OMPI_MCA_pmix=isolated OMPI_MCA_pml=ob1 OMPI_MCA_btl=self
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
