#!/bin/sh
# report.sh -- runs kv-bench readamp and quick, and makes one HTML page of it, with its pictures
# inside. What a picture says stands above it, made of the figures that it is drawn from.
#
#     tools/bench/report/report.sh KV-BENCH DIR [full | quick | tiny]
#
# DIR is made if need be; what a run makes there replaces what the run before made: index.html, and
# beside it what it was made from: a CSV and an SVG for each picture, the commands, the text and
# JSON of quick. Each number on the page comes from these. Wants gnuplot. Databases are made, and
# removed, in TMPDIR. BENCH_COMMIT: what was built; else git is asked. BENCH_STORES: those that are
# compared, else all that are built in.
# Exit status 1: something could not be run or drawn. A measurement that is not as expected is said
# on the page, and on stderr.
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
# gets: of a line of the table, of the picture of files and that of memory, of that of rates;
# cache_rows: of a file, where caches are compared
case $size in
full) rows=10000 gets=5000 many_gets=20000 rate_rows=100k rate_gets=500k cache_rows=50k files=1,2,3,4,6,8,12,16 \
    bits=4,6,8,10,12,14,16 blocks='1024 2048 4096 8192 16384 32768 65536' quick='--num 300k --gets 150k' ;;
quick) rows=5000 gets=1000 many_gets=4000 rate_rows=50k rate_gets=100k cache_rows=20k files=1,2,4,8,16 \
    bits=4,8,12,16 blocks='1024 4096 16384 65536' quick='--num 100k --gets 50k --repeats 3 --synced 200' ;;
tiny) rows=2000 gets=100 many_gets=200 rate_rows=2000 rate_gets=2000 cache_rows=4000 files=1,2 \
    bits=4,8 blocks='1024 4096' quick='--num 2000 --gets 200 --repeats 3 --synced 2 --wait 0' all_bits=4,8 ;;
*)
    echo "bench-report: $size is none of full, quick, tiny" >&2
    exit 2
    ;;
esac
mkdir -p "$out"
quick="--store ${BENCH_STORES:-all} $quick"
rm -f "$out"/index.html "$out"/*.csv "$out"/*.tsv "$out"/glance.txt "$out"/*.svg "$out"/compare.txt "$out"/compare.json "$out"/commands
commit=${BENCH_COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
export BENCH_COMMIT="$commit"

# ---- measuring ----

# readamp NAME OPTION..: its lines into NAME.csv, behind those that are there. Status 1 says that
# lines are not as expected; the page will say so.
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
    echo "kv-bench readamp" >>"$out/commands"
    "$bench" readamp >"$out/glance.txt" || [ $? = 1 ]
    "$bench" readamp --csv >"$out/glance.csv" || [ $? = 1 ]
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

# over NAME PROGRAM..: awk over a CSV with a line's columns by name: c["files"].
over() {
    file=$1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next } { for (i = 1; i <= NF; i++) c[name[i]] = $i } '"$2" "$out/$file.csv"
}

# ---- what is drawn of readamp's screen, and of the stores ----

# What the screen says of its figures, without how far it is to be expected.
glance_conclusion() { paste -sd ' ' "$out/glance.txt" | sed 's/.*\(What is not there.*where the filter can tell\):.*/\1/'; }

glance_bars() {
    over glance '
    BEGIN { OFS = "\t"; print "words", "number", "filter", "filter_number", "share", "counted", "expected_share", "hbase_share" }
    !(c["words"] in number) { number[c["words"]] = ++lookups }
    !(c["filter"] in filter) { filter[c["filter"]] = ++filters }
    c["filter"] == "NONE" { none[c["words"]] = c["data_wanted"] }
    { m = c["data_wanted"]; n = none[c["words"]]
      print c["words"], number[c["words"]], c["filter"], filter[c["filter"]], m / n, sprintf(m < 0.9995 ? "%.3f" : m < 9.995 ? "%.2f" : m < 99.95 ? "%.1f" : "%.0f", m),
          c["expected_data"] / n, c["hbase"] == "" ? "NaN" : c["hbase"] / n }' >"$out/glance.tsv"
}

# The median of some numbers; `least` and `greatest` are set beside it.
spread='function median(list,  i, j, t, n, v) {
        n = split(list, v, " ")
        for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        least = v[1]
        greatest = v[n]
        return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    }'

# The results of quick, a line each: kind, what was measured, as people call it, store; then the
# values of its repeats: rates or bytes, latencies of 50 and 99 %, processor time, and Petal's time
# or bytes through the store's.
store_results() {
    awk 'BEGIN { OFS = "\t" }
    function text(line) { sub(/^[^:]*: "/, "", line); sub(/",?$/, "", line); return line }
    /^ "results"/ { inside = 1 }
    !inside { next }
    /^   "operation": / { operation = text($0); split("", values) }
    /^   "store": / { store = text($0) }
    /^   "[a-z0-9_]+": \[/ { metric = $1; gsub(/[":]/, "", metric); next }
    /\]/ { metric = "" }
    metric != "" && $1 !~ /null/ { sub(/,/, ""); values[metric] = values[metric] $1 " " }
    /^   "words": / {
        unit = "per_unit" in values
        measured = values[unit ? "per_unit" : "per_second"]
        if (measured == "") next
        if (store == "petal") petal[operation] = measured
        ratios = ""
        n = split(measured, other, " ")
        split(petal[operation], own, " ")
        if (store != "petal")
            for (i = 1; i <= n; i++) if (other[i] > 0 && own[i] > 0) ratios = ratios (unit ? own[i] / other[i] : other[i] / own[i]) " "
        print unit ? "bytes" : operation ~ /^(fill|put|open)/ ? "writes" : "reads", text($0), store, measured,
            values["p50_us"], values["p99_us"], values["cpu_us_per_operation"], ratios
    }' "$out/compare.json" >"$out/results.tsv"
}

# What the stores' pictures show: kind, what was measured, store, Petal's time (or bytes) divided by
# the store's, the least and the greatest of the repeats, and all of them.
store_ratios() {
    awk -F '\t' "BEGIN { OFS = FS } $spread"'
        $8 != "" { middle = median($8); print $1, $2, $3, middle, least, greatest, $8 }' "$out/results.tsv" >"$out/stores.tsv"
}

store_name() {
    case $1 in
    rocksdb) echo RocksDB ;;
    rocksdb-tuned) echo 'tuned RocksDB' ;;
    leveldb) echo LevelDB ;;
    lmdb) echo LMDB ;;
    petal) echo Petal ;;
    *) echo "$1" ;;
    esac
}

# asserts STORE: whether its library carries assertions, in words.
asserts() {
    awk -v store="\"$1\"," '/"name": / { name = $2 } name == store && /"assertions": true/ { print "assertions on"; exit } /^ "results"/ { exit }' "$out/compare.json"
}

# Stores with a comma between them, but Petal.
rivals() { cut -f 3 "$out/stores.tsv" | awk '!seen[$0]++'; }

# The store that is first in most rows of a kind, and the others that are in some. First is a store
# that is ahead of each other one in each repeat, of three at least; else nobody is.
stores_conclusion() {
    awk -F '\t' -v kind="$1" -v what="$2" -v best="$3" '
    NR == FNR { people[$1] = $2; next }
    $1 == kind {
        if (!($2 in first)) { first[$2] = "petal"; repeats[$2] = split($7, v, " "); n++; for (i = 1; i <= repeats[$2]; i++) most[$2, i] = 1 }
        count = split($7, v, " ")
        if (count < 3) repeats[$2] = 0
        for (i = 1; i <= count; i++) {
            if (v[i] >= most[$2, i]) { above = v[i] > most[$2, i] ? $3 : "nobody"; most[$2, i] = v[i] } else above = winner[$2, i] == "" ? "petal" : winner[$2, i]
            winner[$2, i] = above
        }
    }
    END {
        for (words in first) {
            for (i = 2; i <= repeats[words]; i++) if (winner[words, i] != winner[words, 1]) winner[words, 1] = "nobody"
            first[words] = repeats[words] < 3 ? "nobody" : winner[words, 1]
        }
        for (words in first) if (first[words] != "nobody") wins[first[words]]++; else undecided++
        left = n - undecided
        if (left == 0) text = sprintf("No store %s: undecided in %d of %d %s", best, n, n, what)
        while (left > 0) {
            next_one = ""
            for (store in wins)
                if (wins[store] > 0 && (next_one == "" || wins[store] > wins[next_one] || (wins[store] == wins[next_one] && store < next_one))) next_one = store
            if (text == "") text = sprintf("%s %s in %d of %d %s", people[next_one], best, wins[next_one], n, what)
            else text = text sprintf(", %s in %d", people[next_one], wins[next_one])
            left -= wins[next_one]
            wins[next_one] = 0
        }
        if (undecided > 0 && undecided < n) text = text sprintf("; undecided in %d", undecided)
        print text
    }' "$out/store_names" "$out/stores.tsv"
}

# draw_stores KIND WORD BEST AXIS BETTER WORSE
draw_stores() {
    awk -F '\t' -v kind="$1" 'BEGIN { OFS = "\t"; print "words", "number", "store", "store_number", "ratio", "least", "greatest" }
        !($3 in store) { store[$3] = ++stores }
        $1 == kind { if (!($2 in number)) number[$2] = ++rows; print $2, number[$2], $3, store[$3], $4, $5, $6 }' "$out/stores.tsv" >"$out/stores-$1.tsv"
    lines=$(cut -f 2 "$out/stores-$1.tsv" | sort -n | tail -n 1)
    draw_one "stores-$1" stores "height=$((214 + 36 * lines)); names='$(for store in $(rivals); do printf '%s|' "$(store_name "$store")"; done)'; \
        notes='$(for store in $(rivals); do printf '%s|' "$(asserts "$store")"; done)'; conclusion='$(stores_conclusion "$1" "$2" "$3")'; axis='$4'; better='$5'; worse='$6'"
}

# draw_one NAME KIND SETTINGS: the picture NAME, by the rules of KIND. Ids are made its own, since
# all pictures stand in one page.
draw_one() {
    data=$out/$1.csv
    [ ! -e "$out/$1.tsv" ] || data=$out/$1.tsv
    gnuplot -e "data='$data'; svg='$out/$1.svg'; $3" "$here/style.gnuplot" "$here/$2.gnuplot" || {
        echo "bench-report: gnuplot does not draw $1" >&2
        exit 1
    }
    sed -i -e "s/id=\(['\"]\)/id=\1$1-/g" -e "s/href='#/href='#$1-/g" -e "s/url(#/url(#$1-/g" "$out/$1.svg"
}

draw() {
    glance_bars
    draw_one glance glance "height=760; conclusion='$(glance_conclusion)'"
    store_results
    store_ratios
    for store in petal $(rivals); do printf '%s\t%s\n' "$store" "$(store_name "$store")"; done >"$out/store_names"
    if [ -s "$out/stores.tsv" ]; then
        draw_stores reads 'kinds of reads' 'is the fastest' 'speed, Petal = 1' 'slower than Petal' 'faster'
        draw_stores writes 'kinds of writes and opens' 'is the fastest' 'speed, Petal = 1' 'slower than Petal' 'faster'
        draw_stores bytes 'counts of bytes' 'takes the fewest' "Petal''s bytes through the store''s" 'more bytes than Petal' 'fewer'
    fi
    for name in files rate cache block memory; do draw_one $name $name ''; done
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

# How far off its lines of data blocks are.
agreement() {
    over "$1" '{ lines++; d = c["data_wanted"] - c["expected_data"]; if (d < 0) d = -d
        if (c["standard_error"] > 0) { far = d / c["standard_error"]; if (far > most) most = far } else if (d > 1e-9) bad++ }
        END { printf "Of %d measured lines, those that chance has a part in are at most %.1f standard errors from theory; ", lines, most
            if (bad) printf "%d of the others differ.", bad; else printf "the others are as theory has them." }'
}

# The screen's picture, and the stores', which open the page.
first_figures() {
    echo '<h2>At a glance</h2>'
    picture glance "$(glance_conclusion)" <<END
Data blocks that a lookup reads of $(over glance '{ print c["files"]; exit }') store files, each of which may have the row, as a share of what it reads without a
Bloom filter; the filters let $(over glance 'c["rate"] != "" { print 100 * c["rate"]; exit }')&nbsp;% of absent keys pass. $(paste -sd ' ' "$out/glance.txt" |
        sed 's/.*where the filter can tell: \([^.]*[.]\).*/\1/' | escape)
END
    echo '<h2>Beside other stores</h2>'
    if [ ! -s "$out/stores.tsv" ]; then
        echo '<p id="no-stores">No other store was measured: <code>make bench-deps</code> installs RocksDB, LevelDB and LMDB, <code>make rivals</code> brings RocksDB
and LevelDB without assertions; then <code>make bench-report</code> again.</p>'
        return
    fi
    for kind in reads writes bytes; do
        picture stores-$kind "$(sed -n 's/.*>\(.* in [0-9]* of [0-9]* .*\)<.*/\1/p' "$out/stores-$kind.svg" | head -n 1)" <<END
$(case $kind in
        reads) echo 'Speed of reads of the same keys, by one thread.' ;;
        writes) echo 'Speed of writes of the same pairs, by one thread, and of opening the store.' ;;
        bytes) echo 'Bytes written to files, and on the disk, for a byte of keys and values.' ;;
        esac) Medians of the ratios within repeats; Petal is the line. $([ -z "$(asserts petal)" ] || echo 'Petal had its assertions on.')
Bars: from the least to the greatest ratio of the repeats; where one crosses Petal's line, neither store is ahead. What each row is stands in the
table at the end of the page. Others took $(others) of the machine's processor time meanwhile.
END
    done
}

# The share of the machine's processor time that others took while stores were measured.
others() { awk '/^ "others": / { sub(/,/, ""); printf "%.2g&nbsp;%%", 100 * $2; known = 1; exit } END { if (!known) print "an unknown share" }' "$out/compare.json"; }

# What the picture below it says.
heading() { printf '<h2>%s</h2>\n' "$(printf '%s' "$1" | escape)"; }

figures() {
    heading "$(over files '{ files = c["files"] + 0 > files ? c["files"] + 0 : files; m[c["lookup"], c["filter"], c["files"]] = c["data_wanted"] }
        END { printf "With %d files what is not there costs %.3g blocks instead of %.3g, what one file has %.3g, where the filter can tell", files,
            m["absent-row", "ROW", files], m["absent-row", "NONE", files], m["column-in-oldest", "ROWCOL", files] }')"
    picture files "data blocks per get against store files" <<END
Data blocks wanted per get (from cache or file; logarithmic), for each kind of filter, against the files that the row's family has. Marks: measured;
lines: theory. With F files and a filter that errs with p = $(over files 'c["rate"] != "" { print c["rate"]; exit }'), a filter that can tell
leaves F&nbsp;p blocks where nothing is to be found and 1&nbsp;+&nbsp;(F&nbsp;−&nbsp;1)&nbsp;p where the oldest file has it; without one, or with
one that cannot tell, each file is read: F. ROW cannot tell columns apart, and ROWCOL cannot answer for a whole row. $(agreement files)
END
    heading "$(over rate 'c["filter"] == "ROW" { if (!first) { first = c["bits_per_key"]; much = c["data_wanted"] } last = c["bits_per_key"]; little = c["data_wanted"] }
        END { printf "%.0f bits a key let %.2g %% of absent keys pass, %.0f bits %.2g %%", first, 100 * much, last, 100 * little }')"
    picture rate "false positives against bits per key" <<END
The share of absent keys that one file's filter lets pass, against the bits it has per key; below, the same through theory, the filters a little
apart so that they can be seen. Bars: four standard errors. Broken line: an ideal Bloom filter, 0.6185 to the power of bits. Solid line: theory for filters whose
bits for a key lie in one line of 512, so that a question costs one cache miss; lines that happen to be full let more pass, the more so the
lower the rate: at $(over rate 'c["bits_per_key"] + 0 > most { most = c["bits_per_key"] + 0; p = c["false_positive_rate_expected"] }
    END { printf "%.1f bits a key %.2f times as much", most, p / 0.6185 ^ most }'). $(agreement rate)
END
    heading "$(over cache '{ fetched = c["data_fetched"] + c["filter_fetched"]; size = c["cache_bytes"] + 0; f = c["filter"]
        if (fetched >= 0.5) enough[f] = 0; else if (!enough[f]) enough[f] = size; if (size > largest) largest = size }
        function text(f) { return enough[f] ? sprintf("%.1f MiB", enough[f] / 1048576) : sprintf("more than %.0f MiB", largest / 1048576) }
        END { printf "Fewer than half of the gets read a file where the cache has %s with ROW, %s without a filter", text("ROW"), text("NONE") }')"
    picture cache "blocks fetched per get against cache size" <<END
Blocks fetched from files per get of a row that only the oldest of $(over cache '{ print c["files"]; exit }') files has, against the size of a cache that holds
everything it can. With a ROW filter there are two knees. Filters come first: $(over cache 'c["filter_bytes"] > 0 { printf "%.0f KiB", c["filter_bytes"] / 1024; exit }')
of them, and an eighth of the cache is kept from them. Then the blocks of the one file that has the row come in. Without a filter the blocks of all files,
$(over cache '{ printf "%.1f MiB", c["raw_data_bytes"] / 1048576; exit }'), must fit before gets read nothing. Lines: a cache of which
each byte is of use, 1&nbsp;−&nbsp;size&nbsp;/&nbsp;asked. A real one lies above near the knees, since its blocks have heads, and blocks that were asked for once, by error, are in it, too.
END
    heading "$(over block 'c["lookup"] == "row-in-oldest" && c["filter"] == "ROW" { b = c["block_bytes"] + 0; r[b] = c["bytes_per_useful_byte"]
            if (!least || b < least) least = b; if (b > most) most = b }
        END { printf "For each byte that a get returns it reads %.3g with blocks of %d KiB, %.3g with %d KiB", r[least], least / 1024, r[most], most / 1024 }')"
    picture block "bytes read per byte returned against block size" <<END
Bytes read from files for each byte of key and value returned, filters and index in the cache, data blocks not: gets of a row that only the oldest of
$(over block '{ print c["files"]; exit }') files has, and scans of ten rows. Theory: the blocks that are expected, times the size of a block as it is stored
(compressed to $(over block 'c["block_bytes"] == 4096 { printf "%.0f&nbsp;%% at 4 KiB", 100 * c["data_bytes"] / c["raw_data_bytes"]; exit }')), through what is
returned. A get is the dearer the larger the block, in proportion; a filter spares the other files' blocks; a scan uses more of each block it reads. $(agreement block)
END
    heading "$(over memory 'c["lookup"] == "absent-row" && c["filter"] == "ROW" { share = 100 * c["filter_bytes"] / c["raw_data_bytes"]; spared = 100 * (1 - c["data_wanted"] / c["files"]) }
        END { printf "Filters as large as %.2g %% of the data spare %.4g %% of the blocks of a row that is not there", share, spared }')"
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
    { if (!(c["lookup"] in seen)) { seen[c["lookup"]] = c["words"]; lookups[++n] = c["lookup"] }
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
            printf "<tr><th>%s</th>", seen[lookups[l]]
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

# What quick says in front of its table, and each store's settings.
compare_settings() {
    awk '/^ +petal / { exit } NR > 1 { print before } { before = $0 }' "$out/compare.txt"
    awk -F'"' '$2 == "name" { name = $4 } $2 == "describe" { print name ": " $4 } /^ "results"/ { exit }' "$out/compare.json"
}

# The results of quick as a table: what was measured, below each its stores.
compare_table() {
    for store in $(cut -f 3 "$out/results.tsv" | sort -u); do printf '%s\t%s\n' "$store" "$(asserts "$store")"; done >"$out/store_asserts"
    awk -F '\t' "$spread"'
    function grouped(n,  text) {
        if (n < 100)
            return sprintf("%.4g", n)
        text = sprintf("%d", n + 0.5)
        while (match(text, /[0-9][0-9][0-9][0-9](,|$)/))
            text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
        return text
    }
    function digits(list) { return list == "" ? "-" : sprintf("%.2f", median(list)) }
    NR == FNR { asserts[$1] = $2; next }
    !($2 in lines) { words[++count] = $2 }
    {
        line = sprintf("<tr><th>%s</th><td>%s <small>%s .. %s</small></td><td>%s</td><td>%s</td><td>%s</td>", $3, grouped(median($4)), grouped(least),
            grouped(greatest), digits($5), digits($6), digits($7))
        if ($8 == "") line = line "<td></td>"
        else {
            middle = median($8)
            decided = split($8, all, " ") >= 3 && (least > 1 || greatest < 1)
            line = line sprintf("<td>%s%.2f%s <small>(%.2f .. %.2f)</small></td>", decided ? "<b>" : "", middle, decided ? "</b>" : " ~", least, greatest)
        }
        lines[$2] = lines[$2] sprintf("%s<td class=\"text\">%s</td></tr>\n", line, asserts[$3])
    }
    END { for (i = 1; i <= count; i++) printf "<tr class=\"group\"><th colspan=\"7\">%s</th></tr>\n%s", words[i], lines[words[i]] }' "$out/store_asserts" "$out/results.tsv"
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
    first_figures
    figures
    cat <<END
<h2>Six files, every lookup</h2>
<p>Data blocks wanted per read, $(over table '{ print c["files"]; exit }') files, error rate $(over table 'c["rate"] != "" { print c["rate"]; exit }') a file, beside theory and what HBase 2.6 was
counted to read with as many files and that rate (–: not known). columns-200 asks one row for 200 columns; a scan is one read. A coloured field is not as expected. $(agreement table)</p>
END
    readamp_table
    cat <<END
<h2>Beside other stores, in figures</h2>
<p>Each store as the lists below say; medians, behind them the least and the greatest of the repeats. The ratio is Petal's time (or count) divided by the store's, so less than 1
says that Petal is ahead; ~: neither is, the range holds 1, or there are fewer than three repeats. "assertions on": the library was built with its assertions, as distributions do, and would be faster without.
Times are of this machine in the state it was in; the counts above do not depend on it.</p>
<pre>$(compare_settings | escape | fold -s -w 110)</pre>
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
