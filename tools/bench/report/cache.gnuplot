# cache.gnuplot -- blocks fetched from files against the size of the cache. `data`: gets of rows that the oldest of some files has, with the
# filters NONE and ROW.
#
# Theory: a cache for everything, with all that is asked equally often, holds what fits. NONE asks for blocks of all files. ROW asks the filters of all but the
# oldest file, and the oldest file's blocks: filters go first, but for an eighth of the cache; what they leave is for the data.
lookup = "row-in-oldest"
stats data using (of("ROW", lookup, "filter_bytes")) nooutput
filter_bytes = STATS_max
stats data using (of("ROW", lookup, "raw_data_bytes")) nooutput
data_bytes = STATS_max
stats data using "files" nooutput
files = STATS_max
stats data using (of("ROW", lookup, "expected_data")) nooutput
row_blocks = STATS_max
stats data using "cache_bytes" nooutput
most = STATS_max
positive(x) = x > 0 ? x : 0
least(a, b) = a < b ? a : b
for_filters(cache) = least(filter_bytes, cache * 7 / 8)
# The last file is not asked by its filter: what it would cost to load is more than it can save.
filters_missing(cache) = (files - 1) * (1 - for_filters(cache) / filter_bytes)
row_missing(cache) = row_blocks * positive(1 - (cache - for_filters(cache)) / (data_bytes / files))
none_missing(cache) = files * positive(1 - cache / data_bytes)
set logscale x 2
set xrange [60000:most * 1.1]
set yrange [0:files * 1.22]
set ytics 1
set samples 500
set xtics ("" 1)
do for [power = 16:30] { set xtics add (bytes(2 ** power) 2 ** power) }
set lmargin at screen 0.075
set rmargin at screen 0.97
set tmargin at screen 0.90
set bmargin at screen 0.12
set xlabel "cache size" offset 0, 0.2
set ylabel "blocks fetched per get" offset 0.5, 0
knee(n, at, text) = sprintf("set arrow %d from %g, graph 0 to %g, graph 0.92 nohead back linecolor rgb '#777777' dashtype (2, 4); set label %d \"%s\" at %g, graph 0.96 center font ',14' textcolor rgb '#444444'", n, at, at, n, text, at)
eval knee(1, filter_bytes * 8 / 7, "filters fit")
eval knee(2, filter_bytes + data_bytes / files, "and the oldest file's data")
eval knee(3, data_bytes, "all data fits")
eval mark(1, 0.12, 1, "NONE: data")
eval mark(2, 0.35, 3, "ROW: filters")
eval mark(3, 0.58, 2, "ROW: data")
eval stroke(4, 0.82, 20, "theory")
plot none_missing(x) with lines linestyle 11 linewidth 1.5 notitle, filters_missing(x) with lines linestyle 13 notitle, row_missing(x) with lines linestyle 12 notitle, \
    data using "cache_bytes":(of("NONE", lookup, "data_fetched")) with points linestyle 1, \
    data using "cache_bytes":(of("ROW", lookup, "filter_fetched")) with points linestyle 3, \
    data using "cache_bytes":(of("ROW", lookup, "data_fetched")) with points linestyle 2
