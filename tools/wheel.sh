#!/bin/sh
# Makes a wheel of the Python package:
#   wheel.sh cpu|cuda JOBS PYTHON BUILD-FOLDER OUTPUT [-DVARIABLE=VALUE...]
# Prints its path; OUTPUT/SHA256SUMS has the checksums of all wheels there.
#
# The wheel of CPUs alone is kith, the other one kith-cuda. Neither has MPI, which is the cluster's own, or
# FFTW, whose license (GPL) would be the wheel's too. Other libraries are in the wheel, so that it runs on any Linux
# of its manylinux tag; HDF5 and libmicrohttpd are compiled for it (wheel_libraries.sh).
set -eu
kind=$1 jobs=$2 python=$3
mkdir -p "$4" "$5"
work=$(cd "$4" && pwd)
output=$(cd "$5" && pwd)
shift 5
case $kind in
cpu) name=kith megabytes=10 cuda=OFF ;;
cuda) name=kith-cuda megabytes=40 cuda=ON ;;
*) echo "wheel.sh: '$kind' is neither cpu nor cuda" >&2; exit 2 ;;
esac
bin=$(cd "$(dirname "$python")" && pwd)
PATH=$bin:$PATH
export CC="${CC:-cc}" CXX="${CXX:-c++}" # as other builds, not the compilers that Python was built with
sh tools/wheel_libraries.sh "$jobs" build/wheel-libraries
libraries=$PWD/build/wheel-libraries

# A copy of what the package is made of, for what differs between wheels: the name, the address of who
# hands them on, the licenses of what is inside.
mkdir -p "$work/source"
(cd "$work/source" && rm -rf bench cli cmake include python src LICENSE* ../raw) # but the last build
cp -Rp CMakeLists.txt LICENSE README.md pyproject.toml bench cli cmake include python src "$work/source"
cp "$libraries"/licenses/LICENSE.* "$work/source"
for package in libcjson1 libpng16-16; do
    [ ! -f /usr/share/doc/$package/copyright ] || cp /usr/share/doc/$package/copyright "$work/source/LICENSE.$package"
done
address=$(sed -n 's/^set(KITH_HOMEPAGE_URL "\([^"]*\)".*/\1/p' CMakeLists.txt)
for option in "$@"; do
    case $option in -DKITH_HOMEPAGE_URL=*) address=${option#*=} ;; esac
done
sed -i "s|^name = \"kith\"|name = \"$name\"|" "$work/source/pyproject.toml"
[ -z "$address" ] ||
    sed -i "s|^requires-python = .*|&\nurls = { Homepage = \"$address\" }|" "$work/source/pyproject.toml"

for option in -DKITH_INSTRUCTION_SETS=all "-DKITH_CUDA=$cuda" -DKITH_CUDA_SMALL=ON -DKITH_MPI=OFF -DKITH_FFTW=OFF -DKITH_HDF5=ON -DKITH_VIEW=ON \
    -DHDF5_USE_STATIC_LIBRARIES=ON "-DHDF5_ROOT=$libraries" -DHDF5_NO_FIND_PACKAGE_CONFIG_FILE=ON \
    "-DKITH_MICROHTTPD_INCLUDE=$libraries/include" "-DKITH_MICROHTTPD_LIBRARY=$libraries/lib/libmicrohttpd.so" \
    -DKITH_WARNINGS_AS_ERRORS=ON; do
    set -- "$@" "$option"
done
for option in "$@"; do # each becomes an option of pip
    shift
    set -- "$@" --config-settings "cmake.define.${option#-D}"
done
CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$python" -m pip wheel "$work/source" --quiet --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$work/raw" --config-settings build-dir=build "$@" >&2

rm -f "$output/$(echo $name | tr - _)-"[0-9]*.whl
LD_LIBRARY_PATH=$libraries/lib "$python" -m auditwheel repair --strip --disable-isa-ext-check --wheel-dir "$output" \
    "$work"/raw/*.whl >"$work/auditwheel.log" 2>&1 || { cat "$work/auditwheel.log" >&2; exit 1; }
wheel=$(ls "$output/$(echo $name | tr - _)-"[0-9]*.whl)
(cd "$output" && sha256sum -- *.whl >SHA256SUMS)
bytes=$(wc -c <"$wheel")
[ "$bytes" -le $((megabytes * 1000000)) ] ||
    { echo "wheel.sh: $wheel has $bytes bytes, more than $megabytes MB" >&2; exit 1; }
# Neither the network libraries of Debian's HDF5 nor what the wheel's license does not allow.
if "$python" -m zipfile -l "$wheel" | grep -E 'lib(curl|crypto|ssl|gnutls|mpi|open-|fftw)' >&2; then
    echo "wheel.sh: $wheel has libraries that it must not have" >&2
    exit 1
fi
echo "$wheel"
