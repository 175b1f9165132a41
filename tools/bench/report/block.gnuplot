# block.gnuplot -- bytes read for each byte returned, against the block size. `data`: gets of a row that the oldest of some files has, and short scans.
#
# Theory: the blocks expected, each of the block size as it is stored (compressed), through what was returned.
theory(filter, lookup) = of(filter, lookup, "expected_data") * column("block_bytes") * column("data_bytes") / column("raw_data_bytes") \
    / column("bytes_returned_per_get")
set logscale x 2
set logscale y 10
set xrange [900:75000]
set yrange [3:10000]
set xtics ("" 1)
do for [power = 10:16] { set xtics add (bytes(2 ** power) 2 ** power) }
set ytics ("1" 1, "10" 10, "100" 100, "1,000" 1000, "10,000" 10000)
set lmargin at screen 0.105
set rmargin at screen 0.97
set tmargin at screen 0.90
set bmargin at screen 0.12
set xlabel "block size" offset 0, 0.2
set ylabel "bytes read per byte returned" offset 0.5, 0
eval mark(1, 0.12, 1, "get, NONE")
eval mark(2, 0.35, 2, "get, ROW")
eval mark(3, 0.58, 3, "scan of ten rows")
eval stroke(4, 0.82, 20, "theory")
plot data using "block_bytes":(theory("NONE", "row-in-oldest")) with lines linestyle 11 notitle, \
    data using "block_bytes":(theory("ROW", "row-in-oldest")) with lines linestyle 12 notitle, \
    data using "block_bytes":(theory("ROW", "scan-short")) with lines linestyle 13 notitle, \
    data using "block_bytes":(of("NONE", "row-in-oldest", "bytes_per_useful_byte")) with points linestyle 1, \
    data using "block_bytes":(of("ROW", "row-in-oldest", "bytes_per_useful_byte")) with points linestyle 2, \
    data using "block_bytes":(of("ROW", "scan-short", "bytes_per_useful_byte")) with points linestyle 3
