# The picture of pluto_resonance.c:
#     pluto_resonance pluto.csv && gnuplot -e "csv='pluto.csv'; png='pluto.png'" pluto_resonance.gp
if (!exists("csv")) csv = 'pluto_resonance.csv'
if (!exists("png")) png = 'pluto_resonance.png'

set terminal pngcairo enhanced size 1200,700 font 'Sans,15' linewidth 1.5
set output png
set datafile separator ','
set title "Pluto's resonance with Neptune: the angle swings about 180° and never goes round"
set xlabel 'time  (1000 years)'
set ylabel '{/Symbol f} = 3 {/Symbol l}_P − 2 {/Symbol l}_N − ϖ_P   (degrees)'
set xrange [0:100]
set yrange [0:360]
set ytics 60
set grid linecolor rgb '#d0d0d0' linewidth 0.7
set key off
set arrow from 0,180 to 100,180 nohead dashtype 2 linecolor rgb '#606060'
plot csv using ($1/1000):2 skip 1 with lines linewidth 1.5 linecolor rgb '#0072b2'
