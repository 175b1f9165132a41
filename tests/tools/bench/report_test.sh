#!/bin/sh
# report_test.sh -- the page of tools/bench/report/report.sh, made of tiny grids: well-formed, with its pictures, tables and commit.
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
check "five pictures" count 5 '<svg role="img" aria-label="[^"]'
for name in files rate cache block memory; do
    check "picture $name" count 1 "<figure id=\"$name\">"
done
check "the commit, escaped" count 1 '<dd>abc&lt;&amp;&gt;1</dd>'
check "the lookups" count 10 '^<tr><th>[a-z0-9-]*</th><td class="first'
check "Petal's times" count 22 '^<tr><th>petal</th><td>[0-9][0-9,.]* <small>[0-9][0-9,.]* [.][.] [0-9][0-9,.]*</small></td><td>\([0-9]*[.][0-9]*\|-\)</td>'
check "nothing unfinished" fails grep -E '(^|[^a-z])(nan|inf)([^a-z]|$)' "$page"
check "nothing is left" fails sh -c "ls '$scratch' | grep kv-bench-"
check "nothing from elsewhere" fails grep -E '(src|href)=.?http' "$page"

[ $failed -eq 0 ] && echo "bench_report: passed"
exit $failed
