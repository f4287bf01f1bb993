# The picture of crystal.cpp:
#     crystal 8 shells.csv && gnuplot -e "csv='shells.csv'; png='crystal.png'" crystal.gp
if (!exists("csv")) csv = 'crystal.csv'
if (!exists("png")) png = 'crystal.png'

set terminal pngcairo enhanced size 1200,560 font 'Sans,14' background '#ffffff'
set output png
set palette defined (0 '#303030', 1 '#d1495b', 2 '#edae49', 3 '#66a182', 4 '#2e86ab', 5 '#7d5ba6')
set cbrange [0:5]
unset colorbox
unset key
# Distances are the roots of halves: the number of a shell is twice the square.
shell(d) = floor(2 * d * d + 0.5)
set multiplot title 'The neighbors of an atom in a face-centered cubic crystal' font 'Sans,17'

# Balls that nearly touch, cut open through the atom itself: the half with dx + dy <= 0, turned by 25 and
# 20 degrees, those at the back first.
turned = "< awk -F, '{ if (NR == 1) $1 = $2 = $3 = $4 = 0; if ($1 + $2 < 0.01) { " \
    . "x = 0.906 * $1 - 0.423 * $2; y = 0.423 * $1 + 0.906 * $2; " \
    . "print -0.940 * y - 0.342 * $3, -x, 0.940 * $3 - 0.342 * y, $4 } }' " . csv . " | sort -gr"
set margins screen 0.02, screen 0.46, screen 0.03, screen 0.91
set size ratio -1
unset border
unset tics
set xrange [-2:2]
set yrange [-2:2]
set style fill solid 1 border linecolor rgb '#404040'
larger(depth) = 1 / (1 + 0.12 * depth)
plot turned using ($2 * larger($1)):($3 * larger($1)):(0.33 * larger($1)):($4 == 0 ? 0 : shell($4)) \
    with circles fillcolor palette

set margins screen 0.56, screen 0.97, screen 0.14, screen 0.86
set size noratio
set border 3
set xlabel "distance  (in sides of the cube)"
set ylabel 'neighbors'
set xrange [0.6:1.68]
set yrange [0:27]
set ytics 6 nomirror
set xtics nomirror ('√½' sqrt(0.5), '1' 1, '√1.5' sqrt(1.5), '√2' sqrt(2), '√2.5' sqrt(2.5))
set style fill solid 1 noborder
set boxwidth 0.06
set datafile separator ','
array count[5]
do for [k = 1:5] {
    stats csv using (shell($4) == k ? 1 : NaN) skip 1 nooutput
    count[k] = STATS_records
    set label sprintf('%d', count[k]) at sqrt(k / 2.0), count[k] + 1.2 center
}
plot sample [k = 1:5:1] '+' using (sqrt($1 / 2)):(count[int($1)]):(int($1)) with boxes fillcolor palette
unset multiplot
