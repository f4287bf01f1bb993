#!/bin/sh
# The C of the pages is C of this library: whole programs compile without warnings, and parts of
# programs name nothing of kith's that is not there. Usage: check_snippets.sh PROJECT C-COMPILER
set -eu
project=$1
compiler=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Every block of ```c becomes a file; what the block stands in is told in its first line.
find "$project/README.md" "$project/docs" -name '*.md' | LC_ALL=C sort | while read -r page; do
    awk -v page="${page#"$project"/}" -v folder="$folder" -v name="$(basename "$page" .md)" '
        /^ *```c$/ { file = folder "/" name "-" ++count ".c"; print "/* " page ":" NR " */" > file; next }
        /^ *```/ && file { close(file); file = "" }
        file { print > file }' "$page"
done

programs=0 parts=0 failed=0
for snippet in "$folder"/*.c; do
    where=$(sed -n '1s|/\* \(.*\) \*/|\1|p' "$snippet")
    # What contributors shall write is not there yet.
    case $where in docs/contributing.md* | docs/architecture.md*) continue ;; esac
    if grep -q 'int main(' "$snippet"; then
        programs=$((programs + 1))
        "$compiler" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$project/include" -I"$project/src" "$snippet" ||
            { echo "$where: this program does not compile"; failed=1; }
        continue
    fi
    parts=$((parts + 1))
    for name in $(grep -oE '\b(kith|KITH)_[A-Za-z0-9_]+' "$snippet" | LC_ALL=C sort -u); do
        grep -rqw "$name" "$project/include" ||
            { echo "$where: there is no $name in include/kith"; failed=1; }
    done
done
echo "$programs programs and $parts parts of programs"
[ "$programs" -gt 0 ] && [ "$parts" -gt 0 ] && [ "$failed" -eq 0 ]
