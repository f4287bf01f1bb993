#!/bin/sh
# Runs every test in a build that counts, and tells which lines and branches of the library and the
# program were reached: a summary here, each line in build-coverage/report/index.html.
#
# The CUDA backend is left out: tests/gpu/ needs a GPU. A kernel that is compiled once for each
# instruction set counts as one.
set -eu
jobs=$1
python=$2
shift 2

cmake -S . -B build-coverage -G Ninja -DKITH_BUILD_TESTS=ON -DKITH_CUDA=OFF \
    -DKITH_BUILD_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-O1 -g --coverage -fprofile-update=atomic" "-DKITH_PYTHON=$python"
cmake --build build-coverage --parallel "$jobs"
find build-coverage -name '*.gcda' -exec rm {} +
failed=0
ctest --test-dir build-coverage --output-on-failure --no-tests=error "$@" || failed=1

mkdir -p build-coverage/report
gcovr --root . --object-directory build-coverage --filter src/ --filter cli/ \
    --exclude '.*cuda.*' --exclude-unreachable-branches --print-summary -j "$jobs" \
    --html-details build-coverage/report/index.html --txt build-coverage/report/lines.txt \
    build-coverage | tail -n 6
exit $failed
