# What bash offers: bash completion.bash SHARE
set -eu
source "$1/bash-completion/completions/kith"
compopt() { :; } # is for a completion under way

# offered WORD... : what is offered for the last word, on one line
offered() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _kith
    echo "${COMPREPLY[*]}"
}

expect() { # WHAT WORD...
    local what=$1 found
    shift
    found=$(offered "$@")
    case " $found " in
    *" $what "*) ;;
    *) echo "'$*' offers '$found' and not '$what'" >&2; exit 1 ;;
    esac
}

expect_nothing() {
    local found
    found=$(offered "$@")
    [ -z "$found" ] || { echo "'$*' offers '$found'" >&2; exit 1; }
}

cd "$(mktemp -d)"
touch bodies.csv
expect "run" kith ru
expect "collisions convert" kith co
expect "--integrator=" kith run --int
expect "leapfrog" kith run --integrator leap
expect "yoshida4" kith run --integrator = yo
expect "lennard-jones" kith forces bodies.csv --law len
expect "yukawa:" kith forces bodies.csv --law yuk
expect "expr:" kith matrix bodies.csv --law ex
expect "plummer" kith make plu
expect "plummer" kith run plu
expect "bodies.csv" kith run bod
expect "bodies.csv" kith forces -o bod
expect "h5md" kith convert --to h5
expect "sell" kith multiply A.mtx --storage se
expect "single" kith run --precision s
expect "cuda:" kith run --device cud
expect "orbits" kith plot --what orb
expect "laws" kith help la
expect "forces" kith help for
expect "argmin" kith matrix --reduce arg
expect "logsumexp" kith sum --reduce log
expect "auto" kith run --solver au
expect "force" kith run --shift fo
expect "vacuum" kith forces --boundary va
expect "viridis" kith plot --colors vi
expect "forces" kith bench fo
expect "--systems=" kith bench forces --sy
expect_nothing kith nothing ru
expect_nothing kith run --dt bod
expect_nothing kith run --seed di
expect_nothing kith multiply --alpha bod
expect_nothing kith bench pairs --seconds cu
expect_nothing kith run --device cuda :
rm bodies.csv
