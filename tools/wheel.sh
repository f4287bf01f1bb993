#!/bin/sh
# Makes the Python wheel of a build that is there: wheel.sh BUILD PYTHON OUTPUT. Only the extension
# module is compiled; the library and the program are the build's. What they need of this system's
# libraries goes into the wheel, so that it runs on any Linux of its manylinux tag.
set -eu
build=$(cd "$1" && pwd)
python=$2
mkdir -p "$3"
output=$(cd "$3" && pwd)
work=$build/wheel
bin=$(cd "$(dirname "$python")" && pwd)
PATH=$bin:$PATH
rm -rf "$work/stage" "$work/raw" "$work/stand-ins"

for component in library development program; do
    cmake --install "$build" --prefix "$work/stage" --component $component >/dev/null
done
"$python" -m pip wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --wheel-dir "$work/raw" --config-settings cmake.source-dir=python \
    --config-settings "build-dir=$work/build" \
    --config-settings "cmake.define.CMAKE_PREFIX_PATH=$work/stage" \
    --config-settings "cmake.define.KITH_WARNINGS_AS_ERRORS=ON"

# Debian's HDF5 can read from the web by libcurl and OpenSSL, which bring thirty libraries more, and
# its libmicrohttpd can serve HTTPS by GnuTLS. kith never does: functions that fail, or begin GnuTLS by
# doing nothing, stand in for them, so that no wheel carries old cryptography.
stand_in() { # LIBRARY USER SYMBOL-VERSION...
    library=$1 user=$2
    shift 2
    : >"$work/stand-ins/$library.c"
    : >"$work/stand-ins/$library.map"
    for version in "$@"; do
        names=$(nm -D --undefined-only "$user" | sed -n "s/.* U \([A-Za-z0-9_]*\)@$version\$/\1/p")
        [ -n "$names" ] || continue
        for name in $names; do echo "void *$name(void) { return 0; }"; done >>"$work/stand-ins/$library.c"
        echo "$version { global: $(echo "$names" | tr '\n' ';') };" >>"$work/stand-ins/$library.map"
    done
    [ -s "$work/stand-ins/$library.map" ] || return 0
    cc -shared -fPIC -fno-builtin -O1 -s "-Wl,-soname,$library,--version-script=$work/stand-ins/$library.map" \
        -o "$work/stand-ins/$library" "$work/stand-ins/$library.c"
}
library_of() { ldd "$work/stage/bin/kith" | sed -n "s/.*$1.* => \([^ ]*\) .*/\1/p"; }
mkdir -p "$work/stand-ins"
hdf5=$(library_of libhdf5) microhttpd=$(library_of libmicrohttpd)
if [ -n "$hdf5" ]; then
    stand_in libcurl.so.4 "$hdf5" CURL_OPENSSL_4
    stand_in libcrypto.so.3 "$hdf5" OPENSSL_3.0.0
fi
[ -z "$microhttpd" ] || stand_in libgnutls.so.30 "$microhttpd" GNUTLS_3_4 GNUTLS_3_6_3

rm -f "$output"/kith-*.whl
AUDITWHEEL_LD_LIBRARY_PATH="$work/stand-ins" "$python" -m auditwheel repair --strip \
    --disable-isa-ext-check --wheel-dir "$output" "$work"/raw/kith-*.whl >"$work/auditwheel.log" 2>&1 ||
    { cat "$work/auditwheel.log" >&2; exit 1; }
ls "$output"/kith-*.whl
