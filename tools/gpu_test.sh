#!/bin/sh
# Builds for this machine's GPU, tests the CUDA backend, measures, and repeats the tests under
# compute-sanitizer's tools: gpu_test.sh JOBS [test] [bench] [sanitize], all three by default.
# Without a GPU the tests are skipped.
#
# A machine without the Debian packages needs a folder with what is used of them, made elsewhere by
# gpu_test.sh packages FOLDER and named by KITH_PACKAGES.
set -eu

if [ "$1" = packages ]; then
    mkdir -p "$2/include" "$2/lib"
    for package in libcmocka-dev libcmocka0 libcjson-dev libcjson1 librandom123-dev; do
        dpkg -L "$package"
    done | while read -r file; do
        case $file in
        /usr/include/*.h | /usr/include/*.hpp)
            mkdir -p "$2$(dirname "${file#/usr}")"
            cp "$file" "$2${file#/usr}" ;;
        */libcmocka.so* | */libcjson.so*) cp -L "$file" "$2/lib/" ;;
        esac
    done
    exit 0
fi

jobs=$1
shift
[ $# -gt 0 ] || set -- test bench sanitize
build="build-gpu"

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) ||
    { echo "skipped: there is no nvcc; install the CUDA toolkit"; exit 0; }
PATH=$PATH:$(dirname "$nvcc")
if [ -n "${KITH_PACKAGES:-}" ]; then
    KITH_PACKAGES=$(cd "$KITH_PACKAGES" && pwd)
    export LD_LIBRARY_PATH="$KITH_PACKAGES/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
if nvidia-smi -L 2>/dev/null | grep -q GPU; then architectures=native; else architectures=75; fi

[ -f $build/build.ninja ] || generator="-G Ninja"
# shellcheck disable=SC2086
cmake -S . -B $build ${generator:-} -DKITH_CUDA=ON -DKITH_CUDA_ARCHITECTURES=$architectures \
    -DKITH_BUILD_TESTS=ON -DKITH_BUILD_EXAMPLES=OFF ${KITH_PACKAGES:+"-DCMAKE_PREFIX_PATH=$KITH_PACKAGES"} \
    >$build.log 2>&1 || { cat $build.log >&2; exit 1; }
rm -f $build.log
cmake --build $build --parallel "$jobs" --target kith_program gpu_tests
$build/kith info

run_test() {
    ctest --test-dir $build --parallel "$jobs" --output-on-failure --no-tests=error -R '^test_cuda_'
}

run_sanitize() {
    [ $architectures = native ] || { echo "sanitize: skipped: there is no GPU"; return 0; }
    sh tools/sanitize.sh $build/tests "$jobs"
}

run_bench() {
    [ $architectures = native ] || { echo "bench: skipped: there is no GPU"; return 0; }
    $build/kith bench forces --device cuda --seconds 0.2
}

for part in "$@"; do
    case $part in
    test | bench | sanitize) "run_$part" ;;
    *) echo "gpu_test.sh: '$part' is none of test, bench, sanitize" >&2; exit 2 ;;
    esac
done
