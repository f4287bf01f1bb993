# The picture of pagerank.c, its own eleven pages:
#     pagerank - ranks.csv && gnuplot -e "csv='ranks.csv'; png='pagerank.png'" pagerank.gp
if (!exists("csv")) csv = 'ranks.csv'
if (!exists("png")) png = 'pagerank.png'

$place << EOD
A 1.2 6.6
B 4.6 6.2
C 8.6 6.2
D 1.2 3.9
E 5.3 3.1
F 8.7 3.6
G 1.9 1.2
H 3.4 0.3
I 7.4 0.2
J 8.6 0.9
K 9.4 2.0
EOD
links = "BC CB DA DB EB ED EF FB FE GB GE HB HE IB IE JE KE"

set terminal pngcairo enhanced size 1000,720 font 'Sans,15' background '#fbfaf7'
set output png
set datafile separator ','
array rank[11]
stats csv using (rank[int($0) + 1] = $1) every ::1 nooutput
set datafile separator whitespace
array px[11]
array py[11]
stats $place using (px[int($0) + 1] = $2) nooutput
stats $place using (py[int($0) + 1] = $3) nooutput
letter(k) = substr("ABCDEFGHIJK", k, k)
number(c) = strstrt("ABCDEFGHIJK", c)
radius(k) = 0.22 + 1.35 * sqrt(rank[k])

set title "PageRank: a page matters if pages that matter link to it" offset 0,-0.5
unset border
unset tics
unset key
set size ratio -1
set xrange [0:10]
set yrange [-0.6:7.6]
do for [link in links] {
    a = number(substr(link, 1, 1))
    b = number(substr(link, 2, 2))
    dx = px[b] - px[a]
    dy = py[b] - py[a]
    d = sqrt(dx * dx + dy * dy)
    # Links that go both ways stand side by side.
    back = strstrt(links, substr(link, 2, 2) . substr(link, 1, 1)) > 0
    ox = back ? -0.13 * dy / d : 0
    oy = back ? 0.13 * dx / d : 0
    set arrow from px[a] + ox + dx / d * radius(a), py[a] + oy + dy / d * radius(a) \
        to px[b] + ox - dx / d * (radius(b) + 0.06), py[b] + oy - dy / d * (radius(b) + 0.06) \
        linewidth 1.6 linecolor rgb '#8a8f98' size 0.18,22 filled front
}
set palette defined (0 '#cfe3f1', 0.3 '#6baed6', 1 '#08519c')
unset colorbox
set style fill solid 1 border linecolor rgb '#2f4a66'
do for [k = 1:11] {
    set label letter(k) at px[k], py[k] + (rank[k] > 0.06 ? 0.14 : 0) center front \
        font (rank[k] > 0.2 ? 'Sans Bold,22' : 'Sans Bold,14') \
        textcolor rgb (rank[k] > 0.2 ? '#ffffff' : '#10263c')
    set label (rank[k] > 0.06 ? sprintf('%.1f %%', 100 * rank[k]) : '') at px[k], py[k] - 0.28 \
        center front font 'Sans,12' textcolor rgb (rank[k] > 0.2 ? '#e6eef7' : '#10263c')
}
plot sample [k = 1:11:1] '+' using (px[int($1)]):(py[int($1)]):(radius(int($1))):(rank[int($1)]) \
    with circles fillcolor palette
