# rate.gnuplot -- the share of absent keys that a filter lets pass, against its bits; below, through what was expected. `data`: one file,
# so that a get asks one filter and reads a block when that errs: its blocks and their standard error are the filter's.
lookup = "absent-column"
stats data using (4 * column("standard_error") / column("expected_data")) nooutput
margin = 1.5 * STATS_max
low = margin < 1 ? 1 - margin : 0
set xrange [3.5:17]
set xtics 4, 2, 16
set multiplot
set lmargin at screen 0.105
set rmargin at screen 0.985
set tmargin at screen 0.90
set bmargin at screen 0.42
set logscale y 10
set yrange [0.0002:0.3]
set ytics ("0.03 %%" 0.0003, "0.1 %%" 0.001, "0.3 %%" 0.003, "1 %%" 0.01, "3 %%" 0.03, "10 %%" 0.1, "30 %%" 0.3)
set format x ""
set ylabel "absent keys let pass" offset 0.5, 0
eval stroke(1, 0.10, 21, "0.6185 to the power of bits")
eval stroke(2, 0.42, 20, "512-bit lines")
eval mark(3, 0.63, 2, "ROW")
eval mark(4, 0.72, 3, "ROWCOL")
eval mark(5, 0.84, 4, "ROW_ROWCOL")
plot 0.6185 ** x with lines linestyle 21, \
    data using (of("ROW", lookup, "bits_per_key")):"false_positive_rate_expected" with lines linestyle 20, \
    for [i = 2:4] data using (of(word(filters, i), lookup, "bits_per_key")):"data_wanted":(4 * column("standard_error")) \
        with yerrorbars linestyle i
unset logscale y
set tmargin at screen 0.37
set bmargin at screen 0.11
set yrange [low:1 + margin]
set ytics margin > 0.6 ? 0.5 : margin > 0.25 ? 0.2 : 0.1
set format x "%g"
set format y "%.2f"
set xlabel "bits per key" offset 0, 0.3
set ylabel "measured / theory" offset 0.5, 0
unset label
unset arrow
plot 1 with lines linecolor rgb "#000000" linewidth 2, \
    for [i = 2:4] data using (of(word(filters, i), lookup, "bits_per_key") + 0.14 * (i - 3)):(column("data_wanted") / column("expected_data")) \
        :(4 * column("standard_error") / column("expected_data")) with yerrorbars linestyle i
unset multiplot
