# The picture of cluster.c:
#     cluster 2000 cluster.csv && gnuplot -e "csv='cluster.csv'; png='cluster.png'" cluster.gp
if (!exists("csv")) csv = 'cluster.csv'
if (!exists("png")) png = 'cluster.png'

set terminal pngcairo size 540,540 background '#04060d'
set output png
set datafile separator ','
set size ratio -1
set margins 0,0,0,0
set xrange [-2.2:2.2]
set yrange [-2.2:2.2]
unset border
unset tics
unset key
# Each star is a bright point in a faint halo; few are large.
set palette defined (0 '#ffb37a', 0.45 '#ffe9d0', 0.7 '#ffffff', 1 '#a8c6ff')
unset colorbox
seed = rand(7)
plot csv using "x":"y" with points pointtype 7 pointsize 1.3 linecolor rgb '#e87088b8', \
     csv using "x":"y":(0.2 + 0.55 * rand(0) ** 6):(rand(0)) \
         with points pointtype 7 pointsize variable linecolor palette
