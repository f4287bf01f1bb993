#!/bin/sh
# The manual pages are without mistakes, and there is one for each command, with each of its
# options: manual.sh FOLDER PROGRAM
set -eu
folder=$1 program=$2

mandoc -T lint -W style "$folder"/*.1
for page in "$folder"/*.1; do
    warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
    [ -z "$warnings" ] || { echo "$page: $warnings" >&2; exit 1; }
done

commands=$("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
parts=$("$program" bench --help | sed -n '/^Capabilities:/,/^$/s/^  \([a-z][a-z]*\) .*/bench-\1/p')
[ "$(echo "$commands" | wc -l)" -ge 12 ] && [ "$(echo "$parts" | wc -l)" -ge 5 ]
for command in $commands $parts; do
    # shellcheck disable=SC2046 # "bench forces" is two words
    options=$("$program" $(echo "$command" | tr - ' ') --help |
        grep -oE '^ {2,6}(-., )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' || true)
    for option in $options; do
        [ "$option" = --usage ] || grep -qF -- "$(echo "$option" | sed 's/-/\\-/g')" "$folder/kith-$command.1" || {
            echo "kith-$command.1 does not describe $option" >&2
            exit 1
        }
    done
done
echo "$(find "$folder" -name '*.1' | wc -l) pages"
