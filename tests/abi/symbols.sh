#!/bin/sh
# libkith.so shows the functions of symbols.txt, no more and no less, and those are the functions
# that the public headers declare: symbols.sh LIBRARY INCLUDE CC
#
# A function that goes, or changes, breaks programs that were built before: that wants a new SOVERSION.
# New ones are added to the list.
set -eu
library=$1 include=$2 cc=$3
list=$(dirname "$0")/symbols.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | LC_ALL=C sort >"$folder/shown"
if ! diff -u "$list" "$folder/shown"; then
    echo "libkith.so shows other functions (+) than tests/abi/symbols.txt lists (-); add new ones there" >&2
    exit 1
fi
readelf -d "$library" | grep -q 'soname: \[libkith.so.0\]'

# What is declared: names before a parenthesis, outside of braces and typedefs.
echo '#include "kith/kith.h"' | "$cc" -x c -E -P -I"$include" - | tr '\n' ' ' |
    awk '{
        depth = 0
        for (k = 1; k <= length($0); k++) {
            c = substr($0, k, 1)
            if (c == "{") depth++
            if (depth == 0) text = text c
            if (c == "}" && --depth == 0) text = text ";"
        }
        count = split(text, statements, ";")
        for (k = 1; k <= count; k++)
            if (statements[k] !~ /typedef|static/ && match(statements[k], /kith_[a-z0-9_]+ *\(/))
                { name = substr(statements[k], RSTART, RLENGTH); sub(/ *\(/, "", name); print name }
    }' | LC_ALL=C sort -u >"$folder/declared"
if ! diff -u "$folder/declared" "$folder/shown"; then
    echo "the headers declare other functions (-) than libkith.so shows (+)" >&2
    exit 1
fi
echo "$(wc -l <"$list") functions"
