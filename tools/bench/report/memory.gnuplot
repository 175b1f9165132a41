# memory.gnuplot -- data blocks per get against the memory that filters take, a panel for each of two classes of lookup. `data`: filters of 4 to 16
# bits a key.
lookups = "absent-row column-in-none"
names(i) = i == 1 ? "a row that is not there" : "a column that a row lacks"
share(filter, lookup) = 100 * of(filter, lookup, "filter_bytes") / column("raw_data_bytes")
stats data using (100 * column("filter_bytes") / column("raw_data_bytes")) nooutput
set xrange [-0.3:STATS_max * 1.05]
set logscale y 10
set yrange [0.001:12]
set ytics ("0.001" 0.001, "0.01" 0.01, "0.1" 0.1, "1" 1, "6" 6)
set xlabel "filter memory, % of the data" offset 0, 0.3
set multiplot layout 1, 2 margins 0.085, 0.985, 0.12, 0.85 spacing 0.07, 0.1
eval mark(1, 0.12, 1, "NONE")
eval mark(2, 0.28, 2, "ROW")
eval mark(3, 0.43, 3, "ROWCOL")
eval mark(4, 0.60, 4, "ROW_ROWCOL")
eval stroke(5, 0.82, 20, "theory")
do for [panel = 1:2] {
    lookup = word(lookups, panel)
    set title names(panel) offset 0, -0.6
    if (panel == 1) { set ylabel "data blocks per get" offset 1.5, 0 } else { unset ylabel }
    plot for [i = 2:4] data using (share(word(filters, i), lookup)):"expected_data" with lines linestyle 10 + i notitle, \
        for [i = 1:4] data using (share(word(filters, i), lookup)):"data_wanted" with points linestyle i
    unset label
    unset arrow
}
unset multiplot
