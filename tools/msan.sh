#!/bin/sh
# Fuzzes the readers under the memory sanitizer, which tells what is used and was never set: msan.sh
# JOBS [SECONDS]. It has to see all code, so HDF5 and zlib stay out.
set -eu
jobs=$1
seconds=${2:-30}
targets="csv xyz npy tipsy law market tuning"
cmake -S . -B build-msan -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-O1 -gline-tables-only" -DKITH_BUILD_FUZZ=ON -DKITH_CUDA=OFF -DKITH_HDF5=OFF \
    -DKITH_BUILD_EXAMPLES=OFF -DKITH_SANITIZE=fuzzer-no-link,memory >build-msan.log 2>&1 ||
    { cat build-msan.log >&2; exit 1; }
rm -f build-msan.log
# shellcheck disable=SC2046,SC2086 # several targets
cmake --build build-msan --parallel "$jobs" --target $(printf 'fuzz_%s ' $targets)
for target in $targets; do
    mkdir -p "build-msan/corpus/$target" "build-fuzz/corpus/$target"
    if ! build-msan/fuzz/fuzz_"$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 \
        -print_final_stats=1 -artifact_prefix="build-msan/$target-" "build-msan/corpus/$target" \
        "build-fuzz/corpus/$target" "tests/corpus/$target" >"build-msan/$target.log" 2>&1; then
        tail -60 "build-msan/$target.log" >&2
        echo "./dev msan: $target failed; the input is build-msan/$target-*" >&2
        exit 1
    fi
    awk -v target="$target" '/number_of_executed_units/ {printf "%-8s %9d inputs\n", target, $2}' \
        "build-msan/$target.log"
done
