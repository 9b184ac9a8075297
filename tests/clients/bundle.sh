#!/bin/sh
# Puts the client programs and all they need but libc into one folder that runs on another x86-64 Linux without
# installing anything, and into FOLDER.tar.gz: bundle.sh FOLDER [BUILD]. There: FOLDER/run.sh path/to/libskgemm.so
set -eu
stop() {
  echo "$1" >&2
  exit 1
}
[ $# -ge 1 ] || stop "usage: $0 FOLDER [BUILD]   (BUILD: where the clients were built; default: build)"
here=$(cd "$(dirname "$0")" && pwd)
build=${2:-build}
arch=/usr/lib/$(gcc -print-multiarch)
[ -x "$build/tests/clients/c_client" ] || stop "$build has no tests/clients/c_client: build the target c_client first"
[ -x "$arch/blas/xblat3d" ] || stop "netlib's testers are missing: apt-get install libblas-test"
mkdir -p "$1/bin" "$1/lib/openmpi" "$1/netlib" "$1/clients"
folder=$(cd "$1" && pwd)

# The libraries a program loads, except libc's own and the system's C and C++ runtime.
needed() {
  ldd "$1" | awk '$3 ~ /^\// {print $3}' | grep -v -E '/(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so'
}
add() {  # a program into FOLDER/$2 and its libraries into lib
  cp -L "$1" "$folder/$2/"
  for library in $(needed "$1"); do
    [ -e "$folder/lib/$(basename "$library")" ] || cp -L "$library" "$folder/lib/"
  done
}

add "$build/tests/clients/c_client" bin
add "$build/tests/clients/fortran_client" bin
for letter in s d; do
  add "$arch/blas/xblat3$letter" netlib
  add "$arch/blas/x${letter}cblat3" netlib
  cp "$arch/blas/${letter}blat3.in" "$folder/netlib/"
done
cp -L "$arch/blas/libblas.so.3" "$folder/netlib/"  # the reference one: netlib's CBLAS testers need its symbols
if hpcc=$(command -v hpcc); then
  add "$hpcc" bin
  # What one process without a launcher or a network opens of Open MPI.
  plugins=$(find "$arch/openmpi/" -name 'mca_allocator_basic.so' -printf '%h\n' | head -1)
  for name in allocator_basic allocator_bucket bml_r2 btl_self coll_basic coll_inter coll_libnbc coll_self coll_tuned \
              errmgr_default_app ess_singleton mpool_hugepage osc_rdma pmix_isolated pml_ob1 rcache_grdma \
              reachable_weighted schizo_ompi schizo_orte shmem_mmap shmem_posix shmem_sysv state_app; do
    if [ -e "$plugins/mca_$name.so" ]; then cp -L "$plugins/mca_$name.so" "$folder/lib/openmpi/"; fi
  done
fi
find "$folder/bin" "$folder/lib" "$folder/netlib" -type f ! -name '*.in' -exec strip --strip-unneeded {} +
for file in run_client.py client_table.py accept.py numpy_error.py octave_client.m r_client.R hpccinf.txt; do
  cp "$here/$file" "$folder/clients/"
done
cp "$here/run_bundle.sh" "$folder/run.sh"
cp "$here/run_hpl.sh" "$folder/hpl.sh"
cp "$here/bundle_environment.sh" "$folder/environment.sh"
chmod +x "$folder/run.sh" "$folder/hpl.sh"
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
du -sh "$folder" "$folder.tar.gz" | awk '{print "bundle: " $2 ", " $1}'
