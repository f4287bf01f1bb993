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

# Debian's HDF5 can read from the web by libcurl and OpenSSL, which bring thirty libraries more. kith
# never does: functions that fail stand in for them, so that no wheel carries old cryptography.
stand_in() { # LIBRARY SYMBOL-VERSION HDF5
    names=$(nm -D --undefined-only "$3" | sed -n "s/.* U \([A-Za-z0-9_]*\)@$2\$/\1/p")
    [ -n "$names" ] || return 0
    for name in $names; do echo "void *$name(void) { return 0; }"; done >"$work/stand-ins/$1.c"
    echo "$2 { global: *; };" >"$work/stand-ins/$1.map"
    cc -shared -fPIC -fno-builtin -O1 -s "-Wl,-soname,$1,--version-script=$work/stand-ins/$1.map" \
        -o "$work/stand-ins/$1" "$work/stand-ins/$1.c"
}
mkdir -p "$work/stand-ins"
hdf5=$(ldd "$work/stage/bin/kith" | sed -n 's/.*libhdf5.* => \([^ ]*\) .*/\1/p')
if [ -n "$hdf5" ]; then
    stand_in libcurl.so.4 CURL_OPENSSL_4 "$hdf5"
    stand_in libcrypto.so.3 OPENSSL_3.0.0 "$hdf5"
fi

rm -f "$output"/kith-*.whl
AUDITWHEEL_LD_LIBRARY_PATH="$work/stand-ins" "$python" -m auditwheel repair --strip \
    --disable-isa-ext-check --wheel-dir "$output" "$work"/raw/kith-*.whl >"$work/auditwheel.log" 2>&1 ||
    { cat "$work/auditwheel.log" >&2; exit 1; }
ls "$output"/kith-*.whl
