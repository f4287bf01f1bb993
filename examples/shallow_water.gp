# The picture of shallow_water.c:
#     shallow_water wet -o water.csv && gnuplot -e "csv='water.csv'; png='water.png'" shallow_water.gp
if (!exists("csv")) csv = 'shallow_water.csv'
if (!exists("png")) png = 'shallow_water.png'

set terminal pngcairo enhanced size 1200,600 font 'Sans,15' linewidth 1.5
set output png
set datafile separator ','
set title '1.6 s after a dam broke: smoothed particles and the exact solution'
set xlabel 'x  (m)'
set ylabel 'depth  (m)'
set xrange [0:20]
set yrange [0:1.1]
set grid linecolor rgb '#d0d0d0' linewidth 0.7
set key top right
plot csv using 1:2 skip 1 with filledcurves y1=0 linecolor rgb '#9fc8e6' title 'kith', \
     '' using 1:2 skip 1 with lines linewidth 1.5 linecolor rgb '#0072b2' notitle, \
     '' using 1:3 skip 1 with lines dashtype 2 linewidth 1.5 linecolor rgb '#000000' title 'exact'
