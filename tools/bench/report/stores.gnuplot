# stores.gnuplot -- stores beside Petal, a line for each thing that was measured; `data`: its words, its number from above, store, its number, Petal's
# time (or bytes) divided by the store's, the least and the greatest of the repeats; `conclusion`: the title; `names`: of the stores, in order, with | behind each; `notes`: below them; `better`: what a mark left of Petal says, `worse`:
# right of it.
set datafile separator "\t"
set datafile columnheaders
colour(i) = i == 1 ? 0x0072b2 : i == 2 ? 0x56b4e9 : i == 3 ? 0xd55e00 : i == 4 ? 0x009e73 : 0xcc79a7
shape(i) = i == 1 ? 5 : i == 2 ? 4 : i == 3 ? 7 : i == 4 ? 9 : 13
stats data using "number" nooutput
rows = STATS_max
stats data using "least" nooutput
least = STATS_min < 0.25 ? STATS_min : 0.25
stats data using "greatest" nooutput
most = STATS_max > 4 ? STATS_max : 4
set logscale x 2
set xrange [least / 1.5:most * 1.5]
set xtics ("1/4096" 1.0 / 4096, "1/1024" 1.0 / 1024, "1/256" 1.0 / 256, "1/64" 1.0 / 64, "1/16" 1.0 / 16, "1/4" 0.25, "Petal" 1, "4" 4, "16" 16, "64" 64, "256" 256)
set yrange [rows + 0.6:0.4]
set ytics scale 0 noenhanced
set border 1
set lmargin at screen 0.375
set rmargin at screen 0.975
set tmargin at screen 1 - 126.0 / height
set bmargin at screen 75.0 / height
eval title(conclusion)
behind(list, i) = i == 0 ? 0 : strstrt(substr(list, behind(list, i - 1) + 1, strlen(list)), "|") + behind(list, i - 1)
part(list, i) = substr(list, behind(list, i - 1) + 1, behind(list, i) - 1)
count = 0
do for [i = 1:strlen(names)] { if (substr(names, i, i) eq "|") { count = count + 1 } }
do for [i = 1:count] {
    set label 200 + i "" at screen 0.03 + 0.98 / count * (i - 1), screen 1 - 58.0 / height point pointtype shape(i) pointsize 1.3 linecolor rgb colour(i)
    set label 100 + i part(names, i) at screen 0.045 + 0.98 / count * (i - 1), screen 1 - 58.0 / height left noenhanced font "sans-serif,14"
    set label 300 + i part(notes, i) at screen 0.045 + 0.98 / count * (i - 1), screen 1 - 74.0 / height left noenhanced font "sans-serif,11" textcolor rgb "#555555"
}
set label 2 better at 0.93, graph 1 right offset 0, 0.7 font "sans-serif,13" textcolor rgb "#555555"
set label 3 worse at 1.07, graph 1 left offset 0, 0.7 font "sans-serif,13" textcolor rgb "#555555"
set arrow 1 from 1, graph 0 to 1, graph 1.04 nohead back linecolor rgb "#000000" linewidth 2
set xlabel axis offset 0, 0.3
plot for [i = 1:count] data using (column("store_number") == i ? column("ratio") : NaN):"number" with points pointtype shape(i) pointsize 1.3 linecolor rgb colour(i), \
    for [i = 1:count] data using (column("store_number") == i ? column("ratio") : NaN):"number":"least":"greatest" with xerrorbars pointtype 0 linecolor rgb colour(i), \
    data using (1):"number":ytic(1) with dots linecolor rgb "#ffffff"
