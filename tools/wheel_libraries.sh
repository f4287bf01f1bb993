#!/bin/sh
# Compiles the libraries that go into a wheel, as small as kith needs them, from the sources of the
# system's packages: wheel_libraries.sh JOBS FOLDER. The folder gets include/, lib/ and licenses/; once
# is enough. HDF5 is an archive; libmicrohttpd is shared, as its license (LGPL) asks for.
#
# Debian's HDF5 reads from the web by libcurl and OpenSSL, and its libmicrohttpd serves HTTPS by GnuTLS.
# kith does neither, and a wheel with thirty libraries of others would age with each of them.
set -eu
jobs=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
work=$folder/work
. tools/debian_sources.sh
export CC=gcc CFLAGS="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2"

make_hdf5() (
    mkdir "$work/hdf5/build"
    cd "$work/hdf5/build"
    ../source/configure --prefix="$folder" --disable-shared --enable-static --without-szlib --disable-hl \
        --disable-tests --disable-tools --enable-build-mode=production
    make -j "$jobs" -C src install
    install -D -m 644 ../source/COPYING "$folder/licenses/LICENSE.HDF5"
)

make_microhttpd() (
    cd "$work/libmicrohttpd/source"
    ./configure --prefix="$folder" --enable-shared --disable-static --disable-https --disable-doc \
        --disable-examples --disable-curl --disable-postprocessor --disable-bauth --disable-dauth
    make -j "$jobs" -C src/microhttpd install
    make -C src/include install
    install -D -m 644 COPYING "$folder/licenses/LICENSE.libmicrohttpd"
)

tell() {
    [ "$1" -eq 0 ] || tail -60 "$folder/log" >&3
    [ "$1" -eq 0 ] || echo "the wheel's libraries could not be compiled; $folder/log says more" >&3
}

[ ! -f "$folder/.made" ] || exit 0
rm -rf "$work" && mkdir "$work"
exec 3>&2 >"$folder/log" 2>&1
trap 'tell $?' EXIT
get_sources hdf5 libmicrohttpd
make_hdf5
make_microhttpd
rm -rf "$work"
touch "$folder/.made"
