#!/bin/sh
# Runs every test in a build that counts, and prints which lines and branches of the library and the
# program were reached: a summary here, each line in build-coverage/report/index.html.
#
# The CUDA backend and what measures or prints for GPUs alone are left out: tests/gpu/ needs a GPU. A
# kernel that is compiled once for each instruction set counts as one. cli/describe runs while kith is
# built. Nothing else is left out, neither lines nor branches. What is compiled against an installed
# library does not run.
set -eu
jobs=$1
python=$2
shift 2

cmake -S . -B build-coverage -G Ninja -DKITH_BUILD_TESTS=ON -DKITH_CUDA=OFF \
    -DKITH_BUILD_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-O1 -g --coverage -fprofile-update=atomic" "-DKITH_PYTHON=$python"
cmake --build build-coverage --parallel "$jobs"
find build-coverage -name '*.gcda' ! -path '*describe*' -exec rm {} +
failed=0
ctest --test-dir build-coverage --parallel "$jobs" --output-on-failure --no-tests=error \
    --timeout 3000 -E '^install_' "$@" || failed=1

# gcov takes a branch's count from its neighbors', which threads may have raised since: below 0 at times.
mkdir -p build-coverage/report
gcovr --root . --object-directory build-coverage --filter src/ --filter cli/ \
    --exclude '.*cuda.*' --exclude '.*_gpu.*' --exclude-unreachable-branches --print-summary -j "$jobs" \
    --html-details build-coverage/report/index.html --txt build-coverage/report/lines.txt \
    --gcov-ignore-parse-errors build-coverage | tail -n 6
exit $failed
