# shellcheck shell=sh
# Runs programs of examples/ that were built with each library; read by consume_*.sh.
export OMP_NUM_THREADS=1

# The same bits with both libraries, and close results by every instruction set.
check_consumers() { # FOLDER STAGE
    for example in cluster crystal; do
        ldd "$1/shared/$example" | grep -q "libkith.so.0 => $2/"
        ! ldd "$1/static/$example" | grep -q libkith
    done
    "$1/shared/crystal" | grep -q '^0.7071 *12$'
    sets=$("$2/bin/kith" info --json | tr -d ' \n\t' |
        sed 's/.*"instruction_sets":\[\([^]]*\)\].*/\1/; s/[",]/ /g')
    for isa in $sets; do
        KITH_ISA=$isa "$1/shared/cluster" 40 >"$1/shared.$isa"
        KITH_ISA=$isa "$1/static/cluster" 40 >"$1/static.$isa"
        cmp "$1/shared.$isa" "$1/static.$isa"
        grep -q '^ *10 .* [01]\.[0-9]*$' "$1/shared.$isa"
    done
    if KITH_ISA=none "$1/shared/cluster" 40 2>"$1/refused"; then exit 1; fi
    grep -q "KITH_ISA" "$1/refused"
    echo "instruction sets: $sets"
}
