# files.gnuplot -- data blocks per get against files, a panel for each class of lookup; `data`: lines of 1 to 16 files.
lookups = "absent-row column-in-none row-in-oldest column-in-oldest"
names(i) = i == 1 ? "a row that is not there" : i == 2 ? "a column that a row lacks" : i == 3 ? "a row that one file has" : "a column that one file has"
set logscale x 2
set logscale y 10
set xrange [0.85:19]
set yrange [0.004:40]
set xtics (1, 2, 4, 8, 16)
set ytics ("0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10)
set multiplot layout 2, 2 margins 0.085, 0.985, 0.105, 0.875 spacing 0.075, 0.13
eval mark(1, 0.12, 1, "NONE")
eval mark(2, 0.28, 2, "ROW")
eval mark(3, 0.43, 3, "ROWCOL")
eval mark(4, 0.60, 4, "ROW_ROWCOL")
eval stroke(5, 0.82, 20, "theory")
do for [panel = 1:4] {
    lookup = word(lookups, panel)
    set title names(panel) offset 0, -0.6
    if (panel > 2) { set xlabel "store files" offset 0, 0.4 } else { unset xlabel }
    if (panel % 2 == 1) { set ylabel "data blocks per get" offset 1, 0 } else { unset ylabel }
    plot for [i = 1:4] data using "files":(of(word(filters, i), lookup, "expected_data")) with lines linestyle 10 + i notitle, \
        for [i = 1:4] data using "files":(of(word(filters, i), lookup, "data_wanted")) with points linestyle i
    unset label
    unset arrow
}
unset multiplot
