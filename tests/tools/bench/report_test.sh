#!/bin/sh
# report_test.sh -- the page of tools/bench/report/report.sh, made of tiny grids: well-formed, with
# its pictures, tables and commit; what pictures say follows from their figures; without other
# stores it says how to get them.
#
#     tests/tools/bench/report_test.sh KV-BENCH
set -u
export LC_ALL=C
bench=${1:?usage: report_test.sh KV-BENCH}
report=$(dirname "$0")/../../../tools/bench/report/report.sh
scratch=$(mktemp -d "${TMPDIR:-/tmp}/report_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
export TMPDIR="$scratch"
page=$scratch/out/index.html
failed=0

# check NAME COMMAND..: the command succeeds.
check() {
    name=$1
    shift
    if ! "$@" >"$scratch/log" 2>&1; then
        echo "FAILED $name"
        cat "$scratch/log"
        failed=$((failed + 1))
    fi
}
count() { [ "$(grep -c -- "$2" "$page")" = "$1" ]; }
fails() { ! "$@"; }

# Without gnuplot it says so.  A folder with the few programs that come before.
mkdir "$scratch/bin"
ln -s "$(command -v dirname)" "$scratch/bin/dirname"
if PATH=$scratch/bin /bin/sh "$report" "$bench" "$scratch/out" tiny >"$scratch/log" 2>&1 || ! grep -q 'gnuplot is missing' "$scratch/log"; then
    echo "FAILED without gnuplot"
    cat "$scratch/log"
    failed=1
fi
if ! command -v gnuplot >/dev/null; then
    echo "report_test: gnuplot is missing: the page itself is not tested"
    exit $failed
fi
check "a size there is not" fails "$report" "$bench" "$scratch/out" huge
BENCH_COMMIT='abc<&>1' check "the report" "$report" "$bench" "$scratch/out" tiny
[ $failed -eq 0 ] || exit 1

# Every element is closed in its turn, no attribute lacks its value, no bare < or &, no id twice.
cat >"$scratch/form.awk" <<'END'
BEGIN { RS = "<" }
NR == 1 { if ($0 ~ /[^ \n]/) fault("text in front"); next }
function fault(what) { print what ": <" $0; faults++ }
{
    if (!match($0, />/)) { fault("no end"); next }
    tag = substr($0, 1, RSTART - 1)
    text = substr($0, RSTART + 1)
    if (text ~ />/ && open[depth] != "style") fault("bare >")
    gsub(/&[a-z]+;/, "", text)
    if (text ~ /&/) fault("bare &")
    if (tag ~ /^!/) next
    if (match(tag, /[ \n]id=['"][^'"]*/)) { id = substr(tag, RSTART + 5, RLENGTH - 5); if (id in ids) fault("id twice"); ids[id] = 1 }
    name = tag
    sub(/^\//, "", name)
    sub(/[ \n\/].*/, "", name)
    if (name == "script" || name == "img" || name == "link") fault("not in itself")
    if (tag ~ /^\//) { if (open[depth--] != name) fault("closed out of turn") }
    else if (tag !~ /\/[ \n]*$/ && name != "meta" && name != "br") open[++depth] = name
}
END { if (depth != 0) fault("not closed: " open[depth]); exit faults > 0 }
END
check "well-formed" awk -f "$scratch/form.awk" "$page"
titles() { sed -n '/<figure id="'"$1"'"/,/<\/svg>/p' "$page" | grep -cF -- "$2"; }
has_title() { [ "$(titles "$1" "$2")" -ge 1 ]; }
for name in glance files rate cache block memory; do
    check "picture $name" count 1 "<figure id=\"$name\">"
done
check "the screen comes first" sh -c "grep -o '<figure id=\"[a-z]*' '$page' | head -n 1 | grep -q glance"
check "what the screen says" has_title glance "$(LC_ALL=C "$bench" readamp | paste -sd ' ' | sed 's/.*\(What is not there.*where the filter can tell\):.*/\1/')"
check "what the files say" count 1 "<h2>With 2 files what is not there costs $(awk -F, '$1 == "ROW" && $2 == 2 && $6 == "absent-row" { printf "%.3g", $11 }' \
    "$scratch/out/files.csv") blocks instead of 2, "
for said in 'bits a key let [0-9.e-]* % of absent keys pass' 'Fewer than half of the gets read a file where' 'For each byte that a get returns it reads [0-9]' \
    'Filters as large as [0-9.]* % of the data spare [0-9.]* %'; do
    check "a picture is headed by what it says: $said" count 1 "<h2>.*$said"
done
check "lookups as people call them" count 1 '>scan of 10 rows for a column<.*70[.]5'

# Who is first most often, once more, of the results: operation and store to the median of its
# repeats.
stores=$(awk '/"name": / { gsub(/[",]/, ""); print $2 } /^ "results"/ { exit }' "$scratch/out/compare.json")
if [ "$(echo "$stores" | wc -l)" -gt 1 ]; then
    check "pictures" count 9 '<svg role="img" aria-label="[^"]'
    best=$(jq -r '[.results[] | select(.per_second and (.operation | test("^(fill|put|open)") | not))] | group_by(.operation) |
        map(. as $rows | [range(3)] | map(. as $i | $rows | max_by(.per_second[$i]).store) | unique | select(length == 1)[0]) |
        group_by(.) | map([.[0], length]) | max_by(.[1]) | if . == null then " undecided in 13" else " is the fastest in \(.[1])" end' "$scratch/out/compare.json" 2>/dev/null)
    [ -z "$best" ] || check "who is the fastest in most reads, in each repeat" has_title stores-reads "$best of 13 kinds of reads"
    check "what others took is said" count 3 'Others took [0-9.e-]*&nbsp;% of the machine'
    check "a ratio is bold where its range does not hold 1, else marked" sh -c "! sed -n 's/.*<td>\(<b>\)*\([0-9.]*\)\(<.b>\)* *~* <small>(\([0-9.]*\) [.][.] \([0-9.]*\))<.small><.td>.*/\1 \4 \5/p' '$page' |
        awk '\$1 == \"<b>\" && \$2 < 1 && \$3 > 1 || \$1 != \"<b>\" && (\$1 > 1 || \$2 < 1) { found = 1 } END { exit !found }'"
    check "who has assertions" has_title stores-reads 'assertions on'
    check "rows as people call them" has_title stores-reads 'look up a missing key, from disk'
    check "all that is written" has_title stores-writes 'write a pair, on the medium'
    check "bytes" has_title stores-bytes 'bytes on disk per byte put'
fi
check "the commit, escaped" count 1 '<dd>abc&lt;&amp;&gt;1</dd>'
check "the lookups" count 10 '^<tr><th>[a-z0-9 ]*</th><td class="first'
check "Petal's times" count 22 '^<tr><th>petal</th><td>[0-9][0-9,.]* <small>[0-9][0-9,.]* [.][.] [0-9][0-9,.]*</small></td><td>\([0-9]*[.][0-9]*\|-\)</td>'
# The table of stores has the results and nothing else: a heading for each thing that was measured,
# a line for each store below it, marked by whether the store asserts; what quick says of itself
# stands above it.
kinds=$(sed -n 's/^   "words": "\(.*\)"$/\1/p' "$scratch/out/compare.json" | sort -u)
sed -n 's/^<tr class="group"><th colspan="7">\(.*\)<\/th><\/tr>$/\1/p' "$page" | sort >"$scratch/kinds"
check "the table's headings" sh -c "[ \"\$(cat '$scratch/kinds')\" = '$kinds' ]"
check "a line for each result" count "$(grep -c '^   "store": ' "$scratch/out/compare.json")" '^<tr><th>[a-z-]*</th><td>[0-9]'
marked=0
grep -A 3 '"name": "petal"' "$scratch/out/compare.json" | grep -q '"assertions": true' && marked=22
check "Petal's assertions are said in each of its lines" count $marked '^<tr><th>petal</th>.*<td class="text">assertions on</td></tr>$'
sed -n '/Beside other stores, in figures/,/<table>/p' "$page" >"$scratch/above"
for said in 'pairs of 16 + 100 bytes' '^blocks of 4 KiB, cache' '^petal: this build'; do
    check "what quick says of itself: $said" grep -q "$said" "$scratch/above"
done
check "the table's own lines are not among it" fails grep '^look up' "$scratch/above"
check "nothing unfinished" fails grep -E '(^|[^a-z])(nan|inf)([^a-z]|$)' "$page"
check "nothing is left" fails sh -c "ls '$scratch' | grep kv-bench-"
check "nothing from elsewhere" fails grep -E '(src|href)=.?http' "$page"

BENCH_STORES=petal check "without other stores" "$report" "$bench" "$scratch/out" tiny
check "no other stores" count 1 '<p id="no-stores">No other store was measured: <code>make bench-deps</code>'
check "six pictures" count 6 '<svg role="img" aria-label="[^"]'
check "well-formed without other stores" awk -f "$scratch/form.awk" "$page"

[ $failed -eq 0 ] && echo "bench_report: passed"
exit $failed
