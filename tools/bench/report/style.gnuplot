# style.gnuplot -- what all pictures of tools/bench/report/report.sh have in common; loaded before each of them, with `svg`, the file to draw; its height, if it is not 640, in `height`.
#
# Data: the CSV of `kv-bench readamp`, or what report.sh makes of it and of the results of `quick`, with tabs. Colours are Okabe and Ito's, which people tell apart whatever colours they see; marks differ in shape, too,
# so that lines on top of each other stay visible.
if (!exists("height")) height = 640
set terminal svg size 1000,height dynamic enhanced rounded font "sans-serif,16" background "#ffffff"
set output svg
set datafile separator ","
set datafile columnheaders
set datafile missing NaN
set grid back linecolor rgb "#dddddd" linewidth 1
set border 3 linecolor rgb "#444444"
set tics nomirror scale 0.6

# Marks 1 to 4: NONE, ROW, ROWCOL, ROW_ROWCOL; 11 to 14: theory of the same.
set style line 1 linecolor rgb "#000000" linewidth 1.6 pointtype 4 pointsize 1.5
set style line 2 linecolor rgb "#0072b2" linewidth 1.6 pointtype 6 pointsize 1.1
set style line 3 linecolor rgb "#d55e00" linewidth 1.6 pointtype 2 pointsize 1.0
set style line 4 linecolor rgb "#009e73" linewidth 1.6 pointtype 1 pointsize 1.0
set style line 11 linecolor rgb "#000000" linewidth 3.0 dashtype solid
set style line 12 linecolor rgb "#0072b2" linewidth 2.2 dashtype solid
set style line 13 linecolor rgb "#d55e00" linewidth 1.6 dashtype (8, 5)
set style line 14 linecolor rgb "#009e73" linewidth 1.6 dashtype (3, 4)
filters = "NONE ROW ROWCOL ROW_ROWCOL"

# Column `name` where the line is of that filter and lookup.
of(filter, lookup, name) = strcol("filter") eq filter && strcol("lookup") eq lookup ? column(name) : NaN

# Commands for an entry of the legend, above all else; 0 to 1 from left to right: a mark, or a line.
mark(number, x, style, text) = sprintf('set label %d "%s" at screen %g, screen 0.965 left noenhanced point linestyle %d offset 1.2, -0.35', \
    100 + number, text, x, style)
stroke(number, x, style, text) = sprintf('set arrow %d from screen %g, screen 0.965 to screen %g, screen 0.965 nohead linestyle %d; ', \
    100 + number, x, x + 0.045, style) . sprintf('set label %d "%s" at screen %g, screen 0.965 left noenhanced', 100 + number, text, x + 0.055)
set style line 20 linecolor rgb "#777777" linewidth 2 dashtype solid
set style line 21 linecolor rgb "#999999" linewidth 2 dashtype (10, 6)
bytes(number) = number < 2 ** 20 ? sprintf("%d KiB", number / 1024) : sprintf("%d MiB", number / 2 ** 20)
unset key
# The title, above all else: what the picture says. A long one is broken in two lines where the words near its middle are.
space(text, from) = from < 2 || substr(text, from, from) eq " " ? from : space(text, from - 1)
broken(text, at) = substr(text, 1, at - 1) . "\\n" . substr(text, at + 1, strlen(text))
lines(text) = strlen(text) > 80 ? broken(text, space(text, strlen(text) / 2 + 6)) : text
title(text) = sprintf('set label 99 "%s" at screen 0.02, screen 1 - %d.0 / height left noenhanced font "sans-serif,%d"', lines(text), \
    strlen(text) > 80 ? 18 : 26, strlen(text) > 150 ? 2800 / strlen(text) : strlen(text) > 80 ? 18 : 20)
