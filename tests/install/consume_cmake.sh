#!/bin/sh
# Builds examples/ by find_package(kith), with either library, and runs some:
# consume_cmake.sh STAGE EXAMPLES FOLDER CC CXX
set -eu
stage=$1 examples=$2 folder=$3 cc=$4 cxx=$5
. "$(dirname "$0")/run_consumer.sh"

rm -rf "$folder"
for library in shared static; do
    cmake -S "$examples" -B "$folder/$library" -G Ninja -DCMAKE_PREFIX_PATH="$stage" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DKITH_LIBRARY=$library \
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -pedantic -Werror" \
        >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
    cmake --build "$folder/$library" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
done
check_consumers "$folder" "$stage"
