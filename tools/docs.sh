#!/bin/sh
# Builds the book into BUILD/docs/html; any warning is an error.
#   docs.sh PYTHON BUILD-FOLDER
set -eu
python=$1
build=$(cd "$2" && pwd)
out=$build/docs
mkdir -p "$out"
(
    cat docs/Doxyfile
    echo "OUTPUT_DIRECTORY = $out"
) >"$out/Doxyfile"
doxygen "$out/Doxyfile"
KITH_DOXYGEN_XML=$out/xml KITH_PROGRAM=$build/kith \
    "$python" -B -m sphinx -W --keep-going -n -q -b html -d "$out/doctrees" docs "$out/html"
