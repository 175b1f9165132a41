#!/usr/bin/env bash
# readamp_test.sh -- `kv-bench readamp` on a small grid: every line as expected, none with more bytes than a filter may cost; its
# JSON has what plots are made of. Usage: readamp_test.sh KV-BENCH
set -eu
bench=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export TMPDIR=$directory
fail() {
    echo "readamp_test: $*" >&2
    exit 1
}

"$bench" readamp --json --files 1,3 --rows 2000 --gets 400 --rates 0.05 --caches none,filters,filters+index,10%,all --no-store \
    >"$directory/lines.json" || fail "a line is not as expected: $(grep '"outside": true\|"more_bytes": true' "$directory/lines.json")"
# 2 numbers of files, 4 filters, 10 lookups, 5 caches
[ "$(grep -c '"filter":' "$directory/lines.json")" = 400 ] || fail "lines are missing"
for column in rate bits_per_key block_bytes gets files_considered skipped_bloom data_wanted filter_fetched bytes_read_per_get \
    bytes_per_useful_byte expected_data standard_error hbase false_positive_rate false_share us_per_get outside; do
    grep -q "\"$column\": " "$directory/lines.json" || fail "there is no $column"
done
"$bench" readamp --csv --files 2 --rows 2000 --gets 200 --lookups newest --without found-newer,bloom --no-store \
    >"$directory/lines.csv" || fail "without two reasons a line is not as expected"
[ "$(wc -l <"$directory/lines.csv")" = 5 ] || fail "the CSV has other lines"
if "$bench" readamp --filters ROWS 2>/dev/null; then fail "an unknown filter passes"; fi
if "$bench" readamp --rows 1999 2>"$directory/refusal"; then fail "too few rows pass"; fi
grep -q -- '--rows is from 2000 on' "$directory/refusal" || fail "how many rows are wanted is not told"
find "$directory" -name 'kv-bench-*' | grep -q . && fail "tables are left behind"
echo "readamp: passed"
