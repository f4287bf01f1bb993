# The picture of kriging.c:
#     kriging 2000 surface.csv && gnuplot -e "csv='surface.csv'; png='kriging.png'" kriging.gp
if (!exists("csv")) csv = 'surface.csv'
if (!exists("png")) png = 'kriging.png'

set terminal pngcairo enhanced size 800,560 font 'Sans,14'
set output png
set datafile separator ','
set title "Franke's surface from 2000 scattered heights, without the matrix of all pairs" offset 0,-1
set view 56,135
set xrange [0:1]
set yrange [0:1]
set zrange [0:1.25]
set xyplane 0
set xtics 0.25 offset 0,-0.3
set ytics 0,0.25,0.75 offset 0.5,-0.3
set ztics 0.5
set border 4095 linecolor rgb '#c0c0c0' linewidth 0.5
set palette defined (0 '#08306b', 0.25 '#2b8cbe', 0.5 '#7bccc4', 0.7 '#ffffcc', 0.85 '#fd8d3c', 1 '#b10026')
set cbrange [0:1.2]
set pm3d depthorder lighting specular 0.2
unset colorbox
unset key
# A surface wants an empty line after each row of its grid.
rows = "< awk -F, 'NR > 1 { print; if ((NR - 1) % 101 == 0) print \"\" }' " . csv
splot rows using 1:2:3 with pm3d
