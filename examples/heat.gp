# The picture of heat.c:
#     heat 60 cpu heat.csv && gnuplot -e "csv='heat.csv'; png='heat.png'" heat.gp
if (!exists("csv")) csv = 'heat.csv'
if (!exists("png")) png = 'heat.png'

set terminal pngcairo enhanced size 1260,480 font 'Sans,14' background '#ffffff'
set output png
set datafile separator ','
set multiplot layout 1,3 margins 0.02,0.9,0.06,0.86 spacing 0.02,0 \
    title "Heat flows out of a cube: the middle plane" font 'Sans,17'
set size ratio 1
set xrange [0:1]
set yrange [0:1]
set cbrange [-0.2:1.6]
unset tics
unset key
unset colorbox
set palette defined (0 '#1b0c41', 0.2 '#4a0c6b', 0.4 '#a52c60', 0.6 '#e35933', 0.8 '#f98c0a', 1 '#fcffa4')
stats csv using 1 every ::1 nooutput
points = STATS_records / 3
do for [k = 0:2] {
    set title sprintf("t = %s", word("0 0.005 0.02", k + 1)) offset 0,-0.6
    if (k == 2) { set colorbox user origin 0.915,0.06 size 0.018,0.8; set cbtics 0.4 nomirror }
    plot csv every ::(1 + k * points)::((k + 1) * points) using 2:3:4 with image
}
unset multiplot
