#!/bin/sh
# Fuzzes the readers under the memory sanitizer, which reports the use of memory that was never set: msan.sh
# JOBS KITH [TARGET] [SECONDS]. It has to see all code, so the libraries are compiled for it, too.
set -eu
[ -f build-msan/libraries/.made ] || rm -f build-msan/CMakeCache.txt # which may have found the system's
sh tools/msan_libraries.sh "$1" build-msan/libraries
sh tools/fuzz.sh build-msan memory "$@"
