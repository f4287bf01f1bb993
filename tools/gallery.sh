#!/bin/sh
# The gallery: runs each example and the commands of docs/gallery.md, and draws their pictures.
#   gallery.sh KITH FOLDER
set -eu
kith=$1
folder=$2
examples=$(dirname "$kith")/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

draw() { # NAME: NAME.gp draws NAME.csv into NAME.png
    gnuplot -e "csv='$work/$1.csv'; png='$folder/$1.png'" "examples/$1.gp"
    echo "  $folder/$1.png"
}

"$examples/cluster" 2000 "$work/cluster.csv"
draw cluster
"$examples/pluto_resonance" "$work/pluto_resonance.csv"
draw pluto_resonance
"$examples/argon" 4000 "$work/argon.xyz"
"$kith" plot "$work/argon.xyz" --what distances --cutoff 5 -o "$folder/argon.png" --quiet
"$examples/shallow_water" wet -n 20000 -o "$work/shallow_water.csv"
draw shallow_water
"$examples/kriging" 2000 "$work/kriging.csv"
draw kriging
"$examples/heat" 60 cpu "$work/heat.csv"
draw heat
"$examples/pagerank" - "$work/pagerank.csv"
draw pagerank
"$examples/crystal" 8 "$work/crystal.csv" >/dev/null
draw crystal
"$examples/hp_fold" HPHHPPHHHHPHHHPPHHPPHPHHHPHPHHPPHHPPPHPPPPPPPPHH 3 130000 "$work/fold.xyz"
"$kith" plot "$work/fold.xyz" --what chain --width 640 -o "$folder/hp_fold.png" --quiet

"$kith" make two-body --eccentricity 0.9 --quiet -o "$work/comet.csv"
"$kith" run "$work/comet.csv" --dt 0.005 --until 62.8 -o "$work/comet.h5"
"$kith" plot "$work/comet.h5" --what orbits --width 900 -o "$folder/comet.png" --quiet

"$kith" plot "$work/comet.h5" --what energy --width 900 -o "$folder/comet_energy.png" --quiet
"$kith" run "$work/comet.csv" --dt 0.005 --until 62.8 --integrator yoshida8 --quiet -o "$work/better.h5"
"$kith" plot "$work/better.h5" --what orbits --width 900 -o "$folder/comet_better.png" --quiet

# The pictures of docs/howto/planets.md and argon.md.
"$kith" run outer-solar-system --integrator whfast --dt 200 --corrector 17 --kernel lazy --until 36525000 \
    --every 500 --quiet -o "$work/outer.h5"
"$kith" plot "$work/outer.h5" --what elements --coordinates jacobi --width 900 -o "$folder/planets.png" --quiet
"$kith" make fcc -n 2048 --density 0.8442 --temperature 1.44 --quiet -o "$work/crystal.xyz"
"$kith" run "$work/crystal.xyz" --law lennard-jones --cutoff 2.5 --shift force --dt 0.004 --until 4 --every 50 \
    --quiet -o "$work/liquid.h5"
"$kith" convert "$work/liquid.h5" "$work/liquid.xyz" --quiet
"$kith" plot "$work/liquid.xyz" --what distances --cutoff 4 --width 900 -o "$folder/liquid.png" --quiet

# Every kind of picture that is not among those above; kind_scene.png is a browser's, of --what scene.
"$kith" run six --dt 0.001 --until 20 --every 100 --quiet -o "$work/six.h5"
for kind in planes 3d energy; do
    "$kith" plot "$work/six.h5" --what "$kind" --width 640 -o "$folder/kind_$kind.png" --quiet
done
"$kith" plot "$work/six.h5" --what animation --width 320 --frames 1:60 -o "$folder/kind_animation.gif" --quiet
"$kith" make planets --elements 1e-4,1,0.05,0,0,0,2 --elements 1e-4,1.12,0.05,0,0,0,4 --quiet -o "$work/close.csv"
"$kith" megno "$work/close.csv" --until 1000 --quiet -o "$work/close-megno.csv"
"$kith" plot "$work/close-megno.csv" --what megno --width 640 -o "$folder/kind_megno.png" --quiet
"$kith" make uniform-cube -n 500 --seed 1 --quiet -o "$work/cube.csv"
"$kith" plot "$work/cube.csv" --what neighbors --cutoff 0.2 --box 1,1,1 --width 640 -o "$folder/kind_neighbors.png" --quiet
"$kith" pairs "$work/cube.csv" --cutoff 0.2 --quiet -o "$work/graph.mtx"
for kind in spy row-lengths; do
    "$kith" plot "$work/graph.mtx" --what "$kind" --width 480 -o "$folder/kind_$kind.png" --quiet
done

# Two million stars: some minutes on a workstation, half an hour on two cores.
"$kith" make galaxies -n 2000000 --seed 1 --quiet -o "$work/galaxies.tipsy"
"$kith" run "$work/galaxies.tipsy" --dt 0.07 --until 21 --softening 0.05 --solver fmm --error 1e-2 --precision single \
    --every 300 -o "$work/galaxies.h5"
"$kith" plot "$work/galaxies.h5" --what density --width 1100 --height 720 -o "$folder/galaxies.png" --quiet

"$kith" run outer-solar-system --dt 50 --until 36525000 --every 1000 --integrator yoshida8 --quiet -o "$work/planets.h5"
"$kith" plot "$work/planets.h5" --what elements --coordinates jacobi --width 900 -o "$folder/elements.png" --quiet
