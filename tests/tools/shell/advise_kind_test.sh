#!/usr/bin/env bash
# advise_kind_test.sh -- advise speaks of BLOOMFILTER_KIND RIBBON where filters take a tenth of the
# cache and stand in outputs of compactions of all files, foretells what they then take to a
# twentieth, and says no more of it once they are so.
# Usage: advise_kind_test.sh KV-SHELL
set -eu
shell=${1:?usage: advise_kind_test.sh KV-SHELL}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rows=20000
failed=0

# CACHE COMMAND ..: on the database.
run() {
    printf '%s\n' "${@:2}" | "$shell" --no-took --no-compaction --seed 1 --cache "$1" "$scratch/db" 2>&1
}

# TEXT PATTERN WANTED: is it in the text?
expect() {
    if [ "$(grep -c -- "$2" <<<"$1")" != "$3" ]; then
        echo "$4: not $3 times '$2' in:" && echo "$1"
        failed=1
    fi
}

# The bytes in front of the word filter in stats.
filter_bytes() {
    run 256KB "stats 't'" | sed -n 's/^ f file .* index, \([0-9]*\) filter;.*/\1/p'
}

awk -v n=$rows 'BEGIN { print "row,f:q"; for (i = 0; i < n; i++) printf "row%08d,%08d%08d\n", 7 * i, i * 7919 % 99991, i * 104729 % 99989 }' >"$scratch/rows.csv"
run 256KB "create 't', {NAME => 'f', COMPRESSION => 'NONE', BLOCKSIZE => 4096}" "import 't', '$scratch/rows.csv'" "flush 't'" >/dev/null
expect "$(run 256KB "advise 't', {SAMPLE => 50}")" RIBBON 0 "a flushed file"
run 256KB "major_compact 't'" >/dev/null
expect "$(run 64MB "advise 't', {SAMPLE => 50}")" RIBBON 0 "a large cache"
advice=$(run 256KB "advise 't', {SAMPLE => 50}")
expect "$advice" "f BLOOMFILTER_KIND RIBBON .* bytes of filters" 1 "what it would take"
expect "$advice" "alter 't', {NAME => 'f'.*BLOOMFILTER_KIND => 'RIBBON'}; major_compact 't', 'f'" 1 "the advice"
foretold=$(sed -n 's/^ f BLOOMFILTER_KIND RIBBON .* \([0-9]*\) bytes of filters/\1/p' <<<"$advice")
before=$(filter_bytes)
run 256KB "alter 't', {NAME => 'f', BLOOMFILTER_KIND => 'RIBBON'}" "major_compact 't'" >/dev/null
expect "$(run 256KB "advise 't', {SAMPLE => 50}")" BLOOMFILTER_KIND 0 "RIBBON as it is"
after=$(filter_bytes)
if [ $((after * 4)) -gt $((before * 3)) ] || [ $((after * 20)) -gt $((foretold * 21)) ] || [ $((after * 20)) -lt $((foretold * 19)) ]; then
    echo "filters of $before bytes were foretold to take $foretold, and take $after"
    failed=1
fi
[ "$failed" = 0 ] && echo "advise_kind_test: $before bytes of filters, $foretold foretold, $after as RIBBON"
exit "$failed"
