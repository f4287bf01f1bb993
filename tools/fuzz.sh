#!/bin/sh
# Feeds damaged files to every reader, and damaged words and requests to what parses them, for a number of seconds each:
# fuzz.sh FOLDER SANITIZERS JOBS KITH [TARGET] [SECONDS]. The seeds are what KITH writes, and
# tests/corpus.
set -eu
folder=$1
sanitizers=$2
jobs=$3
kith=$4
shift 4
targets="csv xyz npy tipsy law market market_gz tuning command_line gadget h5md trajectory checkpoint"
[ "$sanitizers" = memory ] || targets="$targets request" # libmicrohttpd is not compiled for it
case ${1:-} in
'' | [0-9]*) ;;
all) shift ;;
*)
    case " $targets " in
    *" $1 "*) targets=$1 ;;
    *) echo "./dev: '$1' is no target; there are $targets" >&2; exit 2 ;;
    esac
    shift
    ;;
esac
seconds=${1:-60}
libraries= # tools/msan_libraries.sh, instead of the system's
[ ! -f "$folder/libraries/.made" ] || libraries=$PWD/$folder/libraries

cmake -S . -B "$folder" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-O1 -gline-tables-only" -DKITH_BUILD_FUZZ=ON -DKITH_CUDA=OFF \
    -DKITH_BUILD_EXAMPLES=OFF -DKITH_BASELINE_ONLY=ON -DKITH_SANITIZE_KERNELS=OFF \
    "-DKITH_SANITIZE=fuzzer-no-link,$sanitizers" \
    ${libraries:+"-DCMAKE_PREFIX_PATH=$libraries" "-DHDF5_ROOT=$libraries"} \
    >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
rm -f "$folder.log"
# shellcheck disable=SC2046,SC2086 # several targets
cmake --build "$folder" --parallel "$jobs" --target $(printf 'fuzz_%s ' $targets)
# shellcheck disable=SC2086
printf '%s\n' $targets | xargs -P "$jobs" -I TARGET sh tools/fuzz_one.sh "$folder" "$kith" TARGET "$seconds"
