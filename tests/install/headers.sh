#!/bin/sh
# Every public header alone is C11 and C++11 without a warning: headers.sh INCLUDE CC CXX
set -eu
include=$1 cc=$2 cxx=$3
strict="-fsyntax-only -Wall -Wextra -pedantic -Wshadow -Wundef -Werror -I$include"
for header in "$include"/kith/*.h; do
    name=kith/$(basename "$header")
    # shellcheck disable=SC2086
    echo "#include <$name>" | "$cc" -x c -std=c11 -Wstrict-prototypes $strict -
    # shellcheck disable=SC2086
    echo "#include <$name>" | "$cxx" -x c++ -std=c++11 $strict -
done
# shellcheck disable=SC2086
echo "#include <kith/kith.h>" | "$cxx" -x c++ -std=c++20 $strict -
echo "$(find "$include/kith" -name '*.h' | wc -l) headers"
