#!/bin/sh
# Builds examples/ by pkg-config, with either library, and runs some:
# consume_pkg-config.sh STAGE EXAMPLES FOLDER CC CXX LIBDIR
set -eu
stage=$1 examples=$2 folder=$3 cc=$4 cxx=$5
export PKG_CONFIG_PATH="$stage/$6/pkgconfig"
. "$(dirname "$0")/run_consumer.sh"

rm -rf "$folder"
mkdir -p "$folder/shared" "$folder/static"
shared="$(pkg-config --libs kith) -Wl,-rpath,$(pkg-config --variable=libdir kith)"
static=$(pkg-config --static --libs kith | sed 's/-lkith /-l:libkith.a /')
for source in "$examples"/*.c "$examples"/*.cpp; do
    case $source in
    *.c) compiler="$cc -std=c11 -pedantic" ;;
    *) compiler="$cxx -pedantic" ;;
    esac
    name=$(basename "${source%.c*}")
    # shellcheck disable=SC2046,SC2086
    {
        $compiler -Wall -Wextra -Werror $(pkg-config --cflags kith) -c "$source" -o "$folder/$name.o"
        $compiler "$folder/$name.o" -o "$folder/shared/$name" $shared -lm
        $compiler "$folder/$name.o" -o "$folder/static/$name" $static
    }
done
# A C program that is C++ too.
# shellcheck disable=SC2046,SC2086
$cxx -x c++ -std=c++20 -Wall -Werror $(pkg-config --cflags kith) "$examples/cluster.c" \
    -o "$folder/cluster-of-c++" $shared -lm
check_consumers "$folder" "$stage"
