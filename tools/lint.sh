#!/bin/sh
# Layout, the order of the rooms, names in comments, clang-tidy and cppcheck over the project's own C; no warnings allowed.
set -eu
jobs=$1

sources=$(git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh')
echo "clang-format"
# shellcheck disable=SC2086
clang-format --dry-run --Werror $sources

echo "rooms"
python3 tools/check_rooms.py

echo "names of files in comments"
python3 tools/check_names.py

echo "words"
python3 tools/check_words.py

# clang's compiler reads the project as its own build would: it needs a build folder's list of
# commands.
cmake -S . -B build-lint -G Ninja -DCMAKE_C_COMPILER=clang -DKITH_BUILD_TESTS=ON \
    -DKITH_BUILD_FUZZ=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >build-lint.log 2>&1 || { cat build-lint.log >&2; exit 1; }
rm -f build-lint.log
cmake --build build-lint --target law_bodies >/dev/null # headers that the build writes

echo "clang-tidy"
# A file that is compiled for several instruction sets or programs is in the list for each, and
# clang-tidy would read it as often; the first is enough. The CUDA backend's files need the toolkit's
# headers.
python3 - build-lint/compile_commands.json <<'END'
import json, sys
with open(sys.argv[1]) as file:
    first = {command["file"]: command for command in reversed(json.load(file))}
with open(sys.argv[1], "w") as file:
    json.dump(list(first.values()), file)
END
without='^$'
grep -q '/src/device/cuda_' build-lint/compile_commands.json || without='^(src/device/cuda_|tests/gpu/|bench/(gpu_|gems|cusparse))'
git ls-files '*.c' | grep -vE "$without" | xargs -P "$jobs" -n 4 clang-tidy -p build-lint --quiet 2>build-lint/tidy.log ||
    { cat build-lint/tidy.log >&2; exit 1; }

echo "processes"
# docs/security.md: programs are started by posix_spawn alone, never by a shell. cli/describe runs only
# while kith is built, and starts no program.
if git grep -nE '\b(system|popen|v?fork|exec[lv][pe]*)\(' -- 'src/*.[ch]' 'cli/*.[ch]' '*.cu' \
    ':!cli/describe'; then
    echo "lint: start programs by posix_spawn (docs/security.md)" >&2
    exit 1
fi

echo "cppcheck"
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 -j "$jobs" -Iinclude -Isrc -Ibuild-lint/generated -DKITH_VERSION='""' -D__x86_64__ \
    -DKITH_ISA_NAME=v4 -DREAL=double --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
    src cli examples bench
echo "lint: no warnings"
