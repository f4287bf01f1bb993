#!/bin/sh
# Runs every command on small input under valgrind: no bad access, no jump on what nobody set, no lost
# memory. valgrind.sh KITH
set -eu
kith=$PWD/$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME="$folder/cache"
count=0

check() { # ARGUMENT...
    count=$((count + 1))
    if ! valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
        --log-file=report "$kith" "$@" >output 2>&1; then
        echo "valgrind: kith $*" >&2
        cat output report >&2
        exit 1
    fi
}

refused() { # ARGUMENT...: errors are reported without a bad access too
    count=$((count + 1))
    code=0
    valgrind --quiet --error-exitcode=99 --log-file=report "$kith" "$@" >output 2>&1 || code=$?
    if [ "$code" -ne 1 ] && [ "$code" -ne 2 ]; then
        echo "valgrind: kith $* ended with $code" >&2
        cat output report >&2
        exit 1
    fi
}

for kind in two-body lagrange six solar-system outer-solar-system plummer hernquist uniform-cube uniform-sphere disk galaxies lattice; do
    check make $kind --quiet -o $kind.csv
done
for format in xyz npy tipsy hdf5 h5; do
    check make plummer -n 20 --quiet -o p.$format
    check convert p.$format --quiet q.csv
done
check make lattice-walk -n 30 -o walk.npy
check forces six.csv -o acc.csv
check forces p.h5 --precision single --softening 0.1 --threads 2 -o acc.npy
check forces six.csv --law yukawa:2 --json
check forces six.csv --potential 'r < 1 ? r : 1/r' --softening 0.1
check matrix six.csv --law gravity -o v.npy
check matrix six.csv --law distance --reduce argmin
check matrix six.csv --law distance --histogram 10,0,50
check pairs p.xyz --cutoff 0.5 -o pairs.csv
check pairs p.xyz --cutoff 0.5 --box 4,4,4 --vectors -o pairs.h5
check pairs p.xyz --nearest 3 -o pairs.npy
check collisions walk.npy --contacts --json
check collisions walk.npy --list list.csv
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 1e-3\n' >a.mtx
gzip -k a.mtx
for sparse in coo csr ell hybrid sell bsr dia; do
    check multiply a.mtx --storage $sparse -o y.npy
done
check multiply a.mtx.gz --transpose -o y.npy
for integrator in leapfrog yoshida4 hermite4 rk4; do
    check run six.csv --dt 0.01 --until 0.05 --every 1 --integrator $integrator --quiet -o $integrator.h5
done
check run six.csv --dt 0.01 --until 0.1 --every 1 --resume --quiet -o leapfrog.h5
check run plummer -n 4 --ensemble 3 --dt 0.01 --until 0.02 --softening 0.1 --quiet -o ensemble.h5
check plot leapfrog.h5 --what orbits -o a.svg
check plot leapfrog.h5 --what density --width 160 -o a.png
check info
refused forces nothing.csv
refused run six.csv --dt -1 --until 2
head -c 50 p.npy >cut.npy
refused convert cut.npy b.csv
head -c 900 p.h5 >cut.h5
refused convert cut.h5 b.csv
echo "valgrind: $count commands, no errors"
