#!/bin/sh
# Fuzzes the readers under the memory sanitizer, which tells what is used and was never set: msan.sh
# JOBS KITH [TARGET] [SECONDS]. It has to see all code, so the libraries are compiled for it, too.
set -eu
libraries=$PWD/build-msan/libraries
[ -f "$libraries/.made" ] || rm -f build-msan/CMakeCache.txt # which may have found the system's
sh tools/msan_libraries.sh "$1" "$libraries"
export CMAKE_PREFIX_PATH="$libraries" HDF5_ROOT="$libraries" ZLIB_ROOT="$libraries"
exec sh tools/fuzz.sh build-msan memory "$@"
