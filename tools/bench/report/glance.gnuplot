# glance.gnuplot -- blocks that lookups read under each filter, as a share of those without; `data`: lookup, its number from above, filter, its number, share,
# what was counted, expected share, HBase's share (nothing: not known); `conclusion`: the title.
set datafile separator "\t"
set datafile columnheaders
unset grid
set grid xtics back linecolor rgb "#dddddd" linewidth 1
colour(i) = i == 1 ? 0x000000 : i == 2 ? 0x0072b2 : i == 3 ? 0xd55e00 : 0x009e73
# A lookup has a unit of height, a filter a fifth of that.
place(number, filter) = number + 0.2 * (filter - 2.5)
# A number stands behind its bar, and behind HBase's mark where that would be in its way.
behind(share, hbase) = hbase > share && hbase < share + 0.06 ? hbase : share
stats data using "hbase_share" nooutput
most = STATS_max > 1 ? STATS_max : 1
stats data using "number" nooutput
set yrange [STATS_max + 0.55:0.35]
set xrange [0:most + 0.1]
set xtics ("0" 0, "25 %%" 0.25, "50 %%" 0.5, "75 %%" 0.75, "as without" 1, "150 %%" 1.5)
set ytics scale 0 noenhanced
set border 1
set lmargin at screen 0.265
set rmargin at screen 0.975
set tmargin at screen 0.865
set bmargin at screen 0.085
eval title(conclusion)
set label 2 "BLOOMFILTER:" at screen 0.02, screen 0.905 left noenhanced
box(n, x, i, text) = sprintf('set object %d rectangle from screen %g, screen 0.892 to screen %g, screen 0.918 fillcolor rgb %d fillstyle solid noborder; ', \
    n, x, x + 0.022, colour(i)) . sprintf('set label %d "%s" at screen %g, screen 0.905 left noenhanced', 10 + n, text, x + 0.03)
eval box(1, 0.19, 1, "NONE")
eval box(2, 0.285, 2, "ROW")
eval box(3, 0.37, 3, "ROWCOL")
eval box(4, 0.485, 4, "ROW_ROWCOL")
set arrow 20 from screen 0.66, screen 0.888 to screen 0.66, screen 0.922 nohead linecolor rgb "#e69f00" linewidth 3
set label 20 "expected" at screen 0.672, screen 0.905 left
set label 21 "HBase 2.6" at screen 0.80, screen 0.905 left point pointtype 6 pointsize 1.1 linewidth 1.6 linecolor rgb "#777777" offset 1.2, -0.3
set xlabel "data blocks read, of those without a Bloom filter; numbers: blocks a lookup" offset 0, 0.3
plot data using (0):(place(column("number"), column("filter_number"))):(0):"share":(place(column("number"), column("filter_number")) - 0.085) \
        :(place(column("number"), column("filter_number")) + 0.085):(colour(column("filter_number"))) with boxxyerror fillstyle solid noborder linecolor rgb variable, \
    data using "expected_share":(place(column("number"), column("filter_number")) - 0.09):(0):(0.18) with vectors nohead linecolor rgb "#e69f00" linewidth 3, \
    data using "hbase_share":(place(column("number"), column("filter_number"))) with points pointtype 6 pointsize 1.1 linewidth 1.6 linecolor rgb "#777777", \
    data using (behind(column("share"), column("hbase_share"))):(place(column("number"), column("filter_number"))):"counted" with labels left offset 1.1, 0 font "sans-serif,12" noenhanced, \
    data using (0):"number":ytic(1) with dots linecolor rgb "#ffffff"
