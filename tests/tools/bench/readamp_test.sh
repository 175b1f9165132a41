#!/usr/bin/env bash
# readamp_test.sh -- `kv-bench readamp`: its one screen fits on a terminal, and says what its
# figures do; on a small grid every line is as expected, none with more bytes than a filter may
# cost; its CSV has what plots are made of.
# Usage: readamp_test.sh KV-BENCH
set -eu
bench=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export TMPDIR=$directory
fail() {
    echo "readamp_test: $*" >&2
    exit 1
}

# The screen, beside the figures of the same counts, from which the sentence is made once more.
LC_ALL=C "$bench" readamp >"$directory/screen" || fail "a count of the screen is not as expected"
"$bench" readamp --csv >"$directory/screen.csv" || fail "a line of the screen's is not as expected"
[ "$(wc -l <"$directory/screen")" -le 24 ] || fail "the screen has more than 24 lines"
[ "$(LC_ALL=C.UTF-8 wc -L <"$directory/screen")" -le 80 ] || fail "the screen has more than 80 columns"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    { for (i = 1; i <= NF; i++) c[name[i]] = $i; filter = c["filter"]; measured = c["data_wanted"] }
    filter == "NONE" { none[c["lookup"]] = measured; lookups++ }
    filter != "NONE" && (!(c["lookup"] in best) || measured < best[c["lookup"]]) { best[c["lookup"]] = measured }
    { counts++ }
    function worst(a, b) { return best[a] > best[b] ? best[a] : best[b] }
    function short(text) { sub(/0+$/, "", text); sub(/[.]$/, "", text); return text }
    function fewer_times(best) { return sprintf(6 / best < 9.95 ? "%.1f times fewer" : "%.0f times fewer", 6 / best) }
    END { nowhere = worst("absent-row", "absent-column"); if (best["column-in-none"] > nowhere) nowhere = best["column-in-none"]
          one = worst("row-in-oldest", "column-in-oldest")
          printf "What is not there costs %s blocks instead of 6 (%s), what one file has %s (%s), where the filter can tell: ",
              short(sprintf("%.3f", nowhere)), fewer_times(nowhere), short(sprintf("%.2f", one)), fewer_times(one)
          printf "all %d counts are as expected.\n", counts }' "$directory/screen.csv" >"$directory/sentence"
sed -n '/^What /,/\.$/p' "$directory/screen" | paste -sd ' ' | diff "$directory/sentence" - || fail "the sentence is not what the figures say"
# Each measured count stands in the line of its lookup, those of NONE first.
awk -F, 'NR > 1 { counted[$6] = counted[$6] sprintf(" " ($11 < 0.9995 ? "%.3f" : $11 < 9.995 ? "%.2f" : $11 < 99.95 ? "%.1f" : "%.0f"), $11); if (!seen[$6]++) order[++n] = $6 }
    END { for (i = 1; i <= n; i++) print substr(counted[order[i]], 2) }' "$directory/screen.csv" >"$directory/counted"
sed -n 's/^\(a \|scan \)[a-z0-9 ]* \([#|].*\)/\2/p' "$directory/screen" | tr -d '#|' | tr -s ' ' | sed 's/^ //' | diff "$directory/counted" - ||
    fail "the counts of the screen are not those of its CSV"
LC_ALL=C.UTF-8 "$bench" readamp --seed 2 >"$directory/screen"
grep -q '██████ 6.00 ▏ ' "$directory/screen" || fail "with another seed there are no bars"
"$bench" readamp --json "$directory/lines.json" >"$directory/screen"
paste -sd ' ' "$directory/screen" | grep -q 'all 32 counts are as expected' || fail "a file leaves no screen"
"$bench" diff "$directory/lines.json" "$directory/lines.json" >"$directory/moved"
grep -q '^0 of 32 lines' "$directory/moved" || fail "diff does not read the screen's JSON"
"$bench" readamp --files 1 --rows 2000 --gets 20 --lookups newest --no-store >"$directory/grid"
grep -q '^a column that all files have *ROWCOL' "$directory/grid" || fail "an option brings no grid"

"$bench" readamp --csv --files 1,3 --rows 2000 --gets 400 --bits 6 --caches filters+index,all --no-store \
    >"$directory/lines.csv" || fail "a line is not as expected: $(cat "$directory/lines.csv")"
# 2 numbers of files, 4 filters, 10 lookups, 2 caches
[ "$(wc -l <"$directory/lines.csv")" = 161 ] || fail "lines are missing"
"$bench" readamp --csv --files 3 --rows 2000 --gets 400 --bits 6 --cache-bytes 65536,1048576 --no-store \
    >"$directory/lines.csv" || fail "a line of a small cache is not as expected: $(cat "$directory/lines.csv")"
[ "$(wc -l <"$directory/lines.csv")" = 81 ] || fail "lines of small caches are missing"
for column in rate bits_per_key block_bytes gets data_wanted filter_fetched bytes_read_per_get \
    bytes_per_useful_byte expected_data standard_error hbase false_positive_rate outside; do
    head -n 1 "$directory/lines.csv" | grep -q "\b$column\b" || fail "there is no $column"
done
"$bench" readamp --csv --files 2 --rows 2000 --gets 200 --lookups newest --no-store \
    >"$directory/lines.csv" || fail "a line of the CSV is not as expected"
[ "$(wc -l <"$directory/lines.csv")" = 5 ] || fail "the CSV has other lines"
"$bench" readamp --csv --files 2 --rows 2000 --gets 20 --lookups newest >"$directory/stores.csv" || true
grep -q ',compaction' "$directory/stores.csv" || fail "the lines of stores are missing"
awk -F, 'NR == 1 { columns = NF } NF != columns { exit 1 }' "$directory/stores.csv" || fail "a name in the CSV has a comma"
if "$bench" readamp --filters ROWS 2>/dev/null; then fail "an unknown filter passes"; fi
if "$bench" readamp --rows 1999 2>"$directory/refusal"; then fail "too few rows pass"; fi
grep -q -- '--rows is from 2000 on' "$directory/refusal" || fail "how many rows are wanted is not told"
find "$directory" -name 'kv-bench-*' | grep -q . && fail "tables are left behind"
echo "readamp: passed"
