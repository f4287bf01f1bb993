#!/bin/sh
# Fuzzes one target that is built: fuzz_one.sh FOLDER KITH TARGET SECONDS. What is found becomes a
# file in the folder; repaired, it belongs in tests/corpus. All folders share the corpus of build-fuzz.
# With KITH_TEST_SEED set, a fresh corpus meets the same inputs in the same order.
set -eu
folder=$1
kith=$2
target=$3
seconds=$4
corpus=build-fuzz/corpus/$target
kept=tests/corpus/$target
mkdir -p "$corpus" "$kept"
export XDG_CACHE_HOME="$PWD/build-fuzz/cache"
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=600
export MSAN_OPTIONS=$ASAN_OPTIONS
export LSAN_OPTIONS="suppressions=$PWD/tests/fuzz/leaks.txt:print_suppressions=0"

# Seeds are made once; no more than 64 times the longest input and 64 MB may be requested at once. HDF5
# asks for what a damaged file says and takes no for an answer; its data may be compressed 1000 times.
most_bytes=65536
most_megabytes=68
dictionary=$target
options=
first=
[ -f "$corpus/.seeds" ] || first=yes
make_bodies() { # FORMAT
    for kind in two-body outer-solar-system lattice; do
        "$kith" make "$kind" --quiet --to "$1" -o "$corpus/$kind"
    done
    "$kith" make plummer -n 20 --quiet --to "$1" -o "$corpus/plummer"
}
make_matrices() {
    echo "%%MatrixMarket matrix coordinate real general
% a comment
3 3 4
1 1 2.5
2 1 -1e-3
3 3 .5E2
1 3 7" >"$corpus/general"
    echo "%%MatrixMarket matrix coordinate integer symmetric
2 2 2
1 1 4
2 1 -9" >"$corpus/symmetric"
    echo "%%MatrixMarket matrix coordinate pattern skew-symmetric
3 3 1

3 1" >"$corpus/pattern"
    echo "%%MatrixMarket matrix array real general
2 2
1
2
0
-4.25" >"$corpus/array"
}

case $target in
csv | xyz | npy | tipsy) [ -z "$first" ] || make_bodies "$target" ;;
gadget | h5md | trajectory | checkpoint) # edits of a file, tests/fuzz/edited.h
    printf '\007\004\001' >"$corpus/numbers"
    printf '\001\004\010\003\002\003\003\000' >"$corpus/dataset"
    dictionary=
    most_bytes=256
    most_megabytes=1000000
    ;;
market) [ -z "$first" ] || make_matrices ;;
market_gz)
    [ -z "$first" ] || { make_matrices && gzip -9n "$corpus"/* && for file in "$corpus"/*.gz; do mv "$file" "${file%.gz}"; done; }
    dictionary=market
    most_bytes=16384 # a byte becomes a thousand
    ;;
law) # texts that the tests of formulas know
    echo "r < a ? -m_i*m_j/sqrt(r2 + b*b) : pow(r, 2.5)*exp(-r/a)" >"$corpus/choice"
    echo "q_i*q_j*(3*dz*dz - r2)/(r2*r2*r) + fmod(dx, 1e-3)" >"$corpus/dipole"
    printf 'yukawa:2.5' >"$corpus/yukawa"
    printf 'lennard-jones:0.5,3' >"$corpus/lennard-jones"
    ;;
tuning)
    printf 'forces_least_symmetric_single 300\nforces_least_symmetric_double 400\nthreads 1\nmatrix_block 64\n' >"$corpus/numbers"
    ;;
request) # byte 1 is the token, byte 2 the port; the first ones are in tests/corpus
    most_bytes=4096
    ;;
command_line)
    printf 'run\nsix.csv\n--dt\n0.01\n--until=50\n-o\nsix.h5\n--softening\nfile' >"$corpus/run"
    printf 'matrix\na.npy\n--law\nexpr:r/a\n--param\na=2\n--histogram=10,0,1\n--memory=2G' >"$corpus/matrix"
    printf 'pairs\na.xyz\n--cutoff\n1.5\n--box=4,4,4\n--periodic\nxyz\n--half\n--vectors' >"$corpus/pairs"
    printf 'collisions\nb.npy\n--batch\n--contacts\n--sequence=HPPH' >"$corpus/collisions"
    printf 'multiply\na.mtx\n-x\nx.npy\n--storage\nsell\n--transpose\n-o\ny.npy' >"$corpus/multiply"
    printf 'plot\nrun.h5\n--what\norbits\n-o\na.png' >"$corpus/plot"
    printf 'bench\npairs\n--json' >"$corpus/bench"
    options="-close_fd_mask=3 -detect_leaks=0" # a line that is cut short leaves what it had
    most_bytes=2048
    ;;
esac
touch "$corpus/.seeds"

log=$folder/$target.log
found=0
# shellcheck disable=SC2086 # several options
"$folder/fuzz/fuzz_$target" -seed="${KITH_TEST_SEED:-0}" -max_total_time="$seconds" -max_len=$most_bytes \
    -malloc_limit_mb=$most_megabytes -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$folder/$target-" ${dictionary:+-dict=tests/fuzz/dictionaries/$dictionary.dict} $options \
    "$corpus" "$kept" >"$log" 2>&1 || found=$?
if [ "$found" -ne 0 ]; then
    tail -60 "$log" >&2
    echo "./dev: $target failed; the input is $folder/$target-*" >&2
    exit 1
fi
awk -v target="$target" '/number_of_executed_units/ {runs = $2} /average_exec_per_sec/ {rate = $2}
    /slowest_unit_time_sec/ {slow = $2} /^#.*DONE/ {for (k = 1; k < NF; k++) if ($k == "cov:") cov = $(k + 1)}
    END {printf "%-13s %10d inputs, %7d a second, slowest %d s, %d edges seen\n", target, runs, rate, slow, cov}' "$log"
