#!/bin/sh
# The main job on real input: three systems from initial conditions to pictures.
set -eu
kith=$1
folder=$2
mkdir -p "$folder"

step() { printf '\n== %s\n' "$1"; }
show() { echo "+ $*"; "$@"; }

step "The outer solar system for 100 000 years (Applegate et al. 1986)"
show "$kith" make outer-solar-system --quiet -o "$folder/outer.csv"
show "$kith" run "$folder/outer.csv" --dt 40 --until 36525000 --every 913 \
    -o "$folder/outer.h5"
show "$kith" plot "$folder/outer.h5" --what orbits -o "$folder/outer-orbits.png"
show "$kith" plot "$folder/outer.h5" --what energy -o "$folder/outer-energy.png"

show "$(dirname "$kith")/examples/pluto_resonance" "$folder/pluto.csv"
show gnuplot -e "csv='$folder/pluto.csv'; png='$folder/pluto-resonance.png'" \
    examples/pluto_resonance.gp

step "Six random bodies, five million steps"
show "$kith" make six --quiet -o "$folder/six.csv"
show "$kith" run "$folder/six.csv" --dt 0.00001 --until 50 --every 1000 --softening 0.05 \
    -o "$folder/six.h5"
show "$kith" plot "$folder/six.h5" --what planes -o "$folder/six-planes.png"
show "$kith" plot "$folder/six.h5" --what 3d -o "$folder/six-3d.png"
show "$kith" plot "$folder/six.h5" --what energy -o "$folder/six-energy.png"

step "Two colliding galaxies"
show "$kith" make galaxies -n 8000 --seed 1 --quiet -o "$folder/galaxies.csv"
show "$kith" run "$folder/galaxies.csv" --dt 0.04 --until 27 --softening 0.1 --every 6 \
    -o "$folder/galaxies.h5"
show "$kith" plot "$folder/galaxies.h5" --what density -o "$folder/galaxies.png"
show "$kith" plot "$folder/galaxies.h5" --what animation -o "$folder/galaxies.gif"

step "Done: the pictures are in $folder/"
ls "$folder" | grep -E '\.(png|gif)$' | sed "s|^|  $folder/|"
