#!/bin/sh
# Compiles the libraries that kith calls for the memory sanitizer, from the sources of the system's
# packages: msan_libraries.sh JOBS FOLDER. The folder gets include/ and lib/; once is enough.
set -eu
jobs=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
work=$folder/work
. tools/debian_sources.sh
export CC=clang CFLAGS="-fsanitize=memory -fno-omit-frame-pointer -O1 -g1"
export MSAN_OPTIONS=halt_on_error=0:exitcode=0 # HDF5 runs programs of its own while it is made

make_zlib() (
    cd "$work/zlib/source"
    ./configure --static --prefix="$folder"
    make -j "$jobs" libz.a
    make install
)

# Free lists of its own, which memory checkers cannot see through, are left out.
make_hdf5() (
    mkdir "$work/hdf5/build"
    cd "$work/hdf5/build"
    ../source/configure --prefix="$folder" --with-zlib="$folder" --without-szlib --disable-shared --disable-hl \
        --disable-tests --disable-tools --enable-using-memchecker --enable-optimization=none
    make -j "$jobs" -C src install
)

make_cjson() (
    cd "$work/cjson/source"
    # shellcheck disable=SC2086 # several flags
    $CC $CFLAGS -c cJSON.c
    ar cr "$folder/lib/libcjson.a" cJSON.o
    install -D -m 644 cJSON.h "$folder/include/cjson/cJSON.h"
)

tell() {
    [ "$1" -eq 0 ] || tail -60 "$folder/log" >&3
    [ "$1" -eq 0 ] || echo "./dev fuzz --msan: the libraries could not be compiled; $folder/log says more" >&3
}

[ ! -f "$folder/.made" ] || exit 0
echo "Compiling zlib, HDF5 and cJSON for the memory sanitizer, once: some minutes"
rm -rf "$work" && mkdir "$work"
exec 3>&2 >"$folder/log" 2>&1
trap 'tell $?' EXIT
get_sources zlib hdf5 cjson
make_zlib
make_hdf5
make_cjson
rm -rf "$work"
touch "$folder/.made"
