#!/bin/sh
# report.sh -- runs kv-bench readamp and quick, and makes one HTML page of it, with its pictures inside.
#
#     tools/bench/report/report.sh KV-BENCH DIR [full | quick | tiny]
#
# DIR is made if need be; what a run makes there replaces what the run before made: index.html, and beside it what it was made
# from: a CSV and an SVG for each picture, the commands, the text and JSON of quick. Each number on the page comes from these.
# Wants gnuplot. Databases are made, and removed, in TMPDIR. BENCH_COMMIT: what was built; else git is asked.
# Exit status 1: something could not be run or drawn. A measurement that is not as expected is said on the page, and on stderr.
set -eu
export LC_ALL=C
bench=${1:?usage: report.sh KV-BENCH DIR [full | quick | tiny]}
out=${2:?usage: report.sh KV-BENCH DIR [full | quick | tiny]}
size=${3:-full}
here=$(dirname "$0")

command -v gnuplot >/dev/null || {
    echo "bench-report: gnuplot is missing; it draws the pictures. On Debian: make bench-deps, or apt-get install gnuplot-nox" >&2
    exit 1
}
all_bits=4,5,6,7,8,9,10,11,12,13,14,15,16
# gets: of a line of the table, of the picture of files and that of memory, of that of rates; cache_rows: of a file, where caches are compared
case $size in
full) rows=10000 gets=5000 many_gets=20000 rate_rows=100k rate_gets=500k cache_rows=50k files=1,2,3,4,6,8,12,16 \
    bits=4,6,8,10,12,14,16 blocks='1024 2048 4096 8192 16384 32768 65536' quick='--num 300k --gets 150k' ;;
quick) rows=5000 gets=1000 many_gets=4000 rate_rows=50k rate_gets=100k cache_rows=20k files=1,2,4,8,16 \
    bits=4,8,12,16 blocks='1024 4096 16384 65536' quick='--num 100k --gets 50k --repeats 2 --synced 200' ;;
tiny) rows=2000 gets=100 many_gets=200 rate_rows=2000 rate_gets=2000 cache_rows=4000 files=1,2 \
    bits=4,8 blocks='1024 4096' quick='--store petal --num 2000 --gets 200 --repeats 1 --synced 2' all_bits=4,8 ;;
*)
    echo "bench-report: $size is none of full, quick, tiny" >&2
    exit 2
    ;;
esac
mkdir -p "$out"
rm -f "$out"/index.html "$out"/*.csv "$out"/*.svg "$out"/compare.txt "$out"/compare.json "$out"/commands
commit=${BENCH_COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
export BENCH_COMMIT="$commit"

# ---- measuring ----

# readamp NAME OPTION..: its lines into NAME.csv, behind those that are there. Status 1 says that lines are not as expected; the page will say so.
readamp() {
    name=$1
    shift
    echo "  kv-bench readamp $*" >&2
    echo "kv-bench readamp $*" >>"$out/commands"
    status=0
    "$bench" readamp --csv --no-store "$@" >"$out/lines" || status=$?
    [ $status -le 1 ] || exit 1
    if [ -s "$out/$name.csv" ]; then sed 1d "$out/lines" >>"$out/$name.csv"; else cp "$out/lines" "$out/$name.csv"; fi
    rm "$out/lines"
}

measure() {
    readamp table --files 6 --rows $rows --gets $gets --caches filters+index
    readamp files --files $files --lookups absent-row,column-in-none,row-in-oldest,column-in-oldest --rows $rows --gets $many_gets --caches all
    readamp rate --files 1 --filters ROW,ROWCOL,ROW_ROWCOL --lookups absent-column --bits $all_bits --rows $rate_rows --gets $rate_gets
    # Caches from 64 KiB to beyond the data, in equal ratios.
    readamp cache --files 6 --filters NONE,ROW --lookups row-in-oldest --rows $cache_rows --gets $many_gets \
        --cache-bytes "$(awk 'BEGIN { for (i = 0; i < 16; i++) printf "%s%d", i ? "," : "", 65536 * 2 ^ (i * 0.6) }')"
    for block in $blocks; do
        readamp block --files 6 --filters NONE,ROW --lookups row-in-oldest,scan-short --rows $rows --gets $gets --block-size "$block"
    done
    readamp memory --files 6 --lookups absent-row,column-in-none --bits $bits --rows $rows --gets $many_gets --caches all
    # shellcheck disable=SC2086
    {
        echo "  kv-bench quick $quick" >&2
        echo "kv-bench quick $quick" >>"$out/commands"
        "$bench" quick $quick --json "$out/compare.json" >"$out/compare.txt"
    }
}

# Ids are made the picture's own, since all pictures stand in one page.
draw() {
    for name in files rate cache block memory; do
        gnuplot -e "data='$out/$name.csv'; svg='$out/$name.svg'" "$here/style.gnuplot" "$here/$name.gnuplot" || {
            echo "bench-report: gnuplot does not draw $name" >&2
            exit 1
        }
        sed -i -e "s/id=\(['\"]\)/id=\1$name-/g" -e "s/href='#/href='#$name-/g" -e "s/url(#/url(#$name-/g" "$out/$name.svg"
    done
}

# ---- the page ----

escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }

# A line of the list of what it was measured on.
fact() { printf '<dt>%s</dt><dd>%s</dd>\n' "$1" "$(printf '%s' "$2" | escape)"; }

# The picture without what a file of its own begins with; text for those who cannot see it.
picture() {
    printf '<figure id="%s">\n' "$1"
    sed -e '1,/<svg/ { /<svg/!d; }' -e '/<title>Gnuplot/d' -e '/<desc>Produced/d' -e "s/<svg/<svg role=\"img\" aria-label=\"$2\"/" "$out/$1.svg"
    printf '<figcaption>'
    cat
    printf '</figcaption>\n</figure>\n'
}

# over NAME PROGRAM..: awk over a CSV with a line's columns by name: c["files"].
over() {
    file=$1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next } { for (i = 1; i <= NF; i++) c[name[i]] = $i } '"$2" "$out/$file.csv"
}

# How far off its lines of data blocks are.
agreement() {
    over "$1" '{ lines++; d = c["data_wanted"] - c["expected_data"]; if (d < 0) d = -d
        if (c["standard_error"] > 0) { far = d / c["standard_error"]; if (far > most) most = far } else if (d > 1e-9) bad++ }
        END { printf "Of %d measured lines, those that chance has a part in are at most %.1f standard errors from theory; ", lines, most
            if (bad) printf "%d of the others differ.", bad; else printf "the others are as theory has them." }'
}

figures() {
    echo '<h2>Files</h2>'
    picture files "data blocks per get against store files" <<END
Data blocks wanted per get (from cache or file; logarithmic), for each kind of filter, against the files that the row's family has. Marks: measured;
lines: theory. With F files and a filter that errs with p = $(over files 'c["rate"] != "" { print c["rate"]; exit }'), a filter that can tell
leaves F&nbsp;p blocks where nothing is to be found and 1&nbsp;+&nbsp;(F&nbsp;−&nbsp;1)&nbsp;p where the oldest file has it; without one, or with
one that cannot tell, each file is read: F. ROW cannot tell columns apart, and ROWCOL cannot answer for a whole row. $(agreement files)
END
    echo '<h2>Error rate</h2>'
    picture rate "false positives against bits per key" <<END
The share of absent keys that one file's filter lets pass, against the bits it has per key; below, the same through theory, the filters a little
apart so that they can be seen. Bars: four standard errors. Broken line: an ideal Bloom filter, 0.6185 to the power of bits. Solid line: theory for filters whose
bits for a key lie in one line of 512, so that a question costs one cache miss; lines that happen to be full let more pass, the more so the
lower the rate: at $(over rate 'c["bits_per_key"] + 0 > most { most = c["bits_per_key"] + 0; p = c["false_positive_rate_expected"] }
    END { printf "%.1f bits a key %.2f times as much", most, p / 0.6185 ^ most }'). $(agreement rate)
END
    echo '<h2>Cache</h2>'
    picture cache "blocks fetched per get against cache size" <<END
Blocks fetched from files per get of a row that only the oldest of $(over cache '{ print c["files"]; exit }') files has, against the size of a cache that holds
everything it can. With a ROW filter there are two knees. Filters come first: $(over cache 'c["filter_bytes"] > 0 { printf "%.0f KiB", c["filter_bytes"] / 1024; exit }')
of them, and an eighth of the cache is kept from them. Then the blocks of the one file that has the row come in. Without a filter the blocks of all files,
$(over cache '{ printf "%.1f MiB", c["raw_data_bytes"] / 1048576; exit }'), must fit before gets read nothing. Lines: a cache of which
each byte is of use, 1&nbsp;−&nbsp;size&nbsp;/&nbsp;asked. A real one lies above near the knees, since its blocks have heads, and blocks that were asked for once, by error, are in it, too.
END
    echo '<h2>Block size</h2>'
    picture block "bytes read per byte returned against block size" <<END
Bytes read from files for each byte of key and value returned, filters and index in the cache, data blocks not: gets of a row that only the oldest of
$(over block '{ print c["files"]; exit }') files has, and scans of ten rows. Theory: the blocks that are expected, times the size of a block as it is stored
(compressed to $(over block 'c["block_bytes"] == 4096 { printf "%.0f&nbsp;%% at 4 KiB", 100 * c["data_bytes"] / c["raw_data_bytes"]; exit }')), through what is
returned. A get is the dearer the larger the block, in proportion; a filter spares the other files' blocks; a scan uses more of each block it reads. $(agreement block)
END
    echo '<h2>Memory</h2>'
    picture memory "data blocks per get against filter memory" <<END
What memory for filters buys: data blocks wanted per get (logarithmic) with $(over memory '{ print c["files"]; exit }') files, against the size of all filters as a share of
the data (keys and values, not compressed), with $(echo "$bits" | sed 's/,/, /g') bits per key. Each two bits more divide the needless blocks by $(over memory 'c["filter"] == "ROW" && c["lookup"] == "absent-row" { if (!first) { first = c["expected_data"]; from = c["bits_per_key"] } last = c["expected_data"]; to = c["bits_per_key"] }
    END { printf "%.1f", (first / last) ^ (2 / (to - from)) }'). ROW_ROWCOL answers both
questions and takes twice the memory here, where each row has one column. $(agreement memory)
END
}

# A row for each lookup; for each filter what was measured, theory, HBase.
readamp_table() {
    over table '
    { if (!(c["lookup"] in seen)) { seen[c["lookup"]] = 1; lookups[++n] = c["lookup"] }
      k = c["lookup"] SUBSEP c["filter"]; data[k] = c["data_wanted"]; theory[k] = c["expected_data"]; hbase[k] = c["hbase"]; if (c["hbase"] != "") known[c["filter"]] = 1; off[k] = c["outside"] == "true" }
    function number(text) { return text == "" ? "–" : text + 0 >= 100 ? sprintf("%.1f", text) : sprintf("%.4g", text) }
    END {
        split("NONE ROW ROWCOL ROW_ROWCOL", filters, " ")
        print "<div class=\"wide\"><table><thead><tr><th rowspan=\"2\">lookup</th>"
        for (i = 1; i <= 4; i++) printf "<th colspan=\"%d\" class=\"first\">%s</th>", 2 + known[filters[i]], filters[i]
        printf "</tr>\n<tr>"
        for (i = 1; i <= 4; i++) printf "<th class=\"first\">measured</th><th>theory</th>%s", known[filters[i]] ? "<th>HBase</th>" : ""
        print "</tr></thead><tbody>"
        for (l = 1; l <= n; l++) {
            printf "<tr><th>%s</th>", lookups[l]
            for (i = 1; i <= 4; i++) {
                k = lookups[l] SUBSEP filters[i]
                printf "<td class=\"first%s\">%s</td><td>%s</td>", off[k] ? " off" : "", number(data[k]), number(theory[k])
                if (known[filters[i]]) printf "<td>%s</td>", number(hbase[k])
            }
            print "</tr>"
        }
        print "</tbody></table></div>"
    }'
}

# The text of kv-bench quick as a table: operations, below each its stores.
compare_table() {
    escape <"$out/compare.txt" | awk '
    function grouped(n,  text) {
        if (n < 100)
            return sprintf("%.4g", n)
        text = sprintf("%d", n + 0.5)
        while (match(text, /[0-9][0-9][0-9][0-9](,|$)/))
            text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
        return text
    }
    !lines && /^ +[a-z-]+: .*assertions on/ { sub(/:/, "", $1); asserts[$1] = 1 }
    /^blocks of/ { lines = 1; next }
    !lines || NF == 0 || / store +per second/ { next }
    /^[^ ]/ { printf "<tr class=\"group\"><th colspan=\"7\">%s</th></tr>\n", $0; next }
    {
        range = ratio = ""
        match($0, /\([^)]*\)/)
        rest = substr($0, RSTART + RLENGTH)
        split(substr($0, RSTART + 1, RLENGTH - 2), f, " ")
        range = grouped(f[1]) " .. " grouped(f[3])
        sub(/ *BEHIND/, "", rest)
        sub(/ *\([^)]*assertions[^)]*\)/, "", rest)
        sub(/ *[0-9.]+ x one thread/, "", rest)
        split(rest, f, " ")
        if (match(rest, /[0-9.]+ \(.*\)/)) ratio = substr(rest, RSTART, RLENGTH)
        if (match(ratio, /\(/)) { n = RSTART; range_of_ratio = substr(ratio, n); ratio = substr(ratio, 1, n - 2) } else range_of_ratio = ""
        printf "<tr><th>%s</th><td>%s <small>%s</small></td><td>%s</td><td>%s</td><td>%s</td><td>%s <small>%s</small></td><td class=\"text\">%s</td></tr>\n",
            $1, grouped($2), range, f[1], f[2], f[3], ratio == "" ? "" : "<b>" ratio "</b>", range_of_ratio, asserts[$1] ? "assertions on" : ""
    }'
}

style() {
    cat <<'END'
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0.3rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; } dt { color: #555; } dd { margin: 0; }
figure { margin: 1rem 0; break-inside: avoid; } figure svg { width: 100%; height: auto; display: block; }
figcaption, p, li { max-width: 50rem; } figcaption { color: #333; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.45rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
tbody th, td.text { text-align: left; font-weight: normal; } thead th { vertical-align: bottom; }
th[colspan] { text-align: center; } tr.group th { text-align: left; font-weight: bold; padding-top: 0.7rem; }
.first { border-left: 1px solid #bbb; } td.off { background: #ffe0c0; font-weight: bold; } small { color: #666; }
code, pre { font-size: 0.875rem; } pre { overflow-x: auto; background: #f5f5f5; padding: 0.6rem; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } table { font-size: 8px; } th, td { padding: 0.1rem 0.25rem; } h2 { break-after: avoid; } }
</style>
END
}

page() {
    outside=$(for name in table files rate cache block memory; do over $name 'c["outside"] == "true" { print }'; done | wc -l)
    total=$(for name in table files rate cache block memory; do over $name '{ print }'; done | wc -l)
    more=$(for name in table files rate cache block memory; do over $name 'c["more_bytes"] == "true" { print }'; done | wc -l)
    echo '<!DOCTYPE html>'
    echo '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    echo "<title>Petal: what reads cost</title>"
    style
    cat <<END
</head><body>
<h1>Petal: what reads cost</h1>
<p>Petal is an embedded log-structured store with HBase's data model. This page counts what its reads read, by filter, files, block size and cache, and sets
each count beside the value that theory gives. At the end it is timed beside other stores.</p>
<p><b>$((total - outside)) of $total</b> lines of counts are as expected, within four standard errors where chance has a part; in $more lines a filter made a lookup
read more bytes than it may.</p>
<dl>
END
    fact commit "$commit"
    fact date "$(date -u '+%Y-%m-%d %H:%M UTC')"
    fact size "$size"
    fact processor "$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null)"
    fact cores "$(getconf _NPROCESSORS_ONLN)"
    fact memory "$(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' /proc/meminfo 2>/dev/null)"
    fact kernel "$(uname -sr)"
    fact 'file system' "$(df -T "${TMPDIR:-/tmp}" 2>/dev/null | awk 'END { print $2 }')"
    echo '</dl>'
    figures
    cat <<END
<h2>Six files, every lookup</h2>
<p>Data blocks wanted per read, $(over table '{ print c["files"]; exit }') files, error rate $(over table 'c["rate"] != "" { print c["rate"]; exit }') a file, beside theory and what HBase 2.6 was
counted to read with as many files and that rate (–: not known). columns-200 asks one row for 200 columns; a scan is one read. A coloured field is not as expected. $(agreement table)</p>
END
    readamp_table
    cat <<END
<h2>Beside other stores</h2>
<p>Each store as the lists below say; medians, behind them the least and the greatest of the repeats. The ratio is Petal's time, or count, through the store's, so less than 1
says that Petal is ahead. "assertions on": the library was built with its assertions, as distributions do, and would be faster without.
Times are of this machine in the state it was in; the counts above do not depend on it.</p>
<pre>$(sed '/^blocks of/,$d' "$out/compare.txt" | escape | fold -s -w 110)</pre>
<div class="wide"><table><thead><tr><th>store</th><th>operations a second</th><th>p50 µs</th><th>p99 µs</th><th>CPU µs</th><th>Petal / this</th><th></th></tr></thead><tbody>
END
    compare_table
    echo '</tbody></table></div>'
    echo '<h2>Commands</h2>'
    printf '<pre>%s</pre>\n</body></html>\n' "$(escape <"$out/commands" | fold -s -w 110)"
    if [ "$outside" -gt 0 ] || [ "$more" -gt 0 ]; then
        echo "bench-report: $outside of $total lines are not as expected, $more read more bytes than a filter may cost" >&2
    fi
}

measure
draw
page >"$out/index.html"
echo "bench-report: $out/index.html"
