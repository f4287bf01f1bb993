#!/bin/sh
# Feeds damaged files to every reader, and formulas to the parser, so many seconds each. The seeds
# are files that kith writes.
set -eu
jobs=$1
seconds=$2

cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DKITH_BUILD_FUZZ=ON \
    -DKITH_SANITIZE=fuzzer-no-link,address,undefined >build-fuzz.log 2>&1 ||
    { cat build-fuzz.log >&2; exit 1; }
rm -f build-fuzz.log
cmake --build build-fuzz --parallel "$jobs"

for program in build-fuzz/fuzz_*; do
    [ -x "$program" ] || continue
    format=${program##*/fuzz_}
    corpus=build-fuzz/corpus-$format
    mkdir -p "$corpus"
    if [ "$format" = law ]; then # formulas
        echo "r < a ? -m_i*m_j/sqrt(r2 + b*b) : pow(r, 2.5)*exp(-r/a)" >"$corpus/choice"
        echo "q_i*q_j*(3*dz*dz - r2)/(r2*r2*r) + fmod(dx, 1e-3)" >"$corpus/dipole"
    else
        for kind in two-body outer-solar-system plummer lattice; do
            build-fuzz/kith make "$kind" --quiet --format "$format" -o "$corpus/$kind"
        done
    fi
    echo "== $format, $seconds s"
    log=build-fuzz/$format.log
    found=0
    "$program" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=4096 -timeout=10 \
        -artifact_prefix="build-fuzz/$format-" -print_final_stats=1 "$corpus" >"$log" 2>&1 || found=$?
    if [ "$found" -ne 0 ]; then
        cat "$log" >&2
        echo "./dev fuzz: the reader of $format failed; the file is build-fuzz/$format-*" >&2
        exit 1
    fi
    tail -12 "$log"
done
