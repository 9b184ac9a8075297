#!/usr/bin/env bash
# Uses the installed package as a stranger would. install_test.sh BUILD_DIR SOURCE_DIR STEP
#   install     installs into BUILD_DIR/tests/abi/prefix, and moves the result, for it must not know where it was made
#   cmake       find_package(skgemm) builds and runs C programs, by another CMake project
#   pkg_config  pkg-config skgemm builds and runs a C program
#   fortran     the same for a Fortran program that uses the module of skgemm.f90
#   tool        the skgemm tool runs from there, and its man page, header and licence are in place
# Exits 77 (CTest: skipped) where a compiler or pkg-config isn't installed.
set -euo pipefail
build=$1 source=$2 step=$3
work=$build/tests/abi
prefix=$work/installed
scratch=$work/install_$step
rm -rf "$scratch"
mkdir -p "$scratch"

need() {
  if ! command -v "$1" >/dev/null; then
    echo "$1 is not installed"
    exit 77
  fi
}

one_file() {
  local found
  found=$(find "$prefix" -type f -name "$1")
  if [ "$(wc -l <<<"$found")" != 1 ] || [ ! -s "$found" ]; then
    echo "the installation should have one $1; found: ${found:-none}" >&2
    exit 1
  fi
  echo "$found"
}

package_flags() {
  need pkg-config
  PKG_CONFIG_PATH=$(dirname "$(one_file skgemm.pc)")
  export PKG_CONFIG_PATH
  pkg-config --exact-version="$(sed -n 's/.*project(skgemm VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" skgemm
  read -ra flags <<<"$(pkg-config --cflags --libs skgemm) -Wl,-rpath,$(pkg-config --variable=libdir skgemm)"
}

case $step in
  install)
    rm -rf "$work/prefix" "$prefix"
    cmake --install "$build" --prefix "$work/prefix"
    mv "$work/prefix" "$prefix"
    if grep -rIl -e "$build" -e "$source" "$prefix"; then
      echo "the files above name the build or source directory" >&2
      exit 1
    fi
    ;;
  cmake)
    # The generator of this build, for a machine may have no make.
    cmake -G "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")" \
      -S "$source/tests/clients/demo" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$scratch/build"
    "$scratch/build/native"
    "$scratch/build/product" 65 33 129
    ldd "$scratch/build/product" | grep -F "$prefix"
    ;;
  pkg_config)
    package_flags
    cc -std=c99 -pedantic -Wall -Wextra -Werror "$source/tests/clients/demo/native.c" -o "$scratch/native" "${flags[@]}"
    "$scratch/native"
    ;;
  fortran)
    need gfortran
    package_flags
    cd "$scratch"
    gfortran -Wall -Wextra -Wno-compare-reals -Werror "$(one_file skgemm.f90)" "$source/tests/abi/install_client.f90" \
      -o client "${flags[@]}"
    ./client
    ;;
  tool)
    "$(one_file skgemm)" --version
    "$(one_file skgemm)" info >/dev/null
    one_file skgemm.1
    one_file LICENSE
    header=$(one_file skgemm.h)
    echo '#include <skgemm.h>' | c++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ -I "${header%/*}" -
    ;;
  *)
    echo "install_test.sh: no step $step" >&2
    exit 2
    ;;
esac
