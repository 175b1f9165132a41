#!/usr/bin/env bash
# wide_files_test.sh -- import and export of a row cost the same for each of its columns, in every
# format, however many these are: instructions, counted by callgrind.
# Usage: wide_files_test.sh KV-SHELL
set -eu
shell=${1:?usage: wide_files_test.sh KV-SHELL}
if [ -n "${SANITIZE:-}" ] || ! command -v valgrind >/dev/null; then
    echo "left out: instructions are not counted without valgrind, or with sanitizers"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
small=400 large=4000 most=1.5
failed=0

# Instructions of kv-shell with arguments "$@".
count() {
    valgrind --tool=callgrind --callgrind-out-file="$scratch/calls" "$shell" --no-took --no-compaction "$@" \
        >"$scratch/out" 2>&1 || { cat "$scratch/out" >&2 && exit 1; }
    sed -n 's/^totals: //p' "$scratch/calls"
}

# FORMAT COLUMNS: the row as a file.
make_file() {
    case $1 in
    csv | tsv)
        awk -v n="$2" -v separator="$([ "$1" = csv ] && echo , || printf '\t')" 'BEGIN {
            printf "row"
            for (i = 0; i < n; i++) printf "%sf:c%06d", separator, i
            printf "\nr"
            for (i = 0; i < n; i++) printf "%sv", separator
            print "" }'
        ;;
    jsonl) awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++)
            printf "{\"row\":\"r\",\"family\":\"f\",\"qualifier\":\"c%06d\",\"value\":\"v\"}\n", i }' ;;
    hbase) awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "put '\''t'\'', '\''r'\'', '\''f:c%06d'\'', '\''v'\''\n", i }' ;;
    esac
}

# NAME EMPTY SMALL LARGE: what start and end of the program cost is taken off.
check() {
    awk -v name="$1" -v empty="$2" -v small=$(($3 - $2)) -v large=$(($4 - $2)) -v n=$small -v more=$large -v most=$most 'BEGIN {
        wide = large / more > most * small / n
        printf "%-24s %8.0f instructions a column, with ten times as many %8.0f%s\n", name, small / n, large / more, (wide ? ": too many" : "")
        exit wide }' || failed=1
}

new_table() {
    rm -rf "$scratch/db"
    "$shell" --no-took "$scratch/db" -e "create 't', {NAME => 'f', VERSIONS => 3}" >/dev/null
}

for format in csv tsv jsonl hbase; do
    counts=()
    for n in 4 $small $large; do
        new_table
        make_file $format $n >"$scratch/file.$format"
        counts+=("$(count "$scratch/db" import t "$scratch/file.$format")")
    done
    check "import $format" "${counts[@]}"
done


columns() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%sf:c%06d", (i > 0 ? "," : ""), i }'; }

counts=() chosen=()
for n in 4 $small $large; do
    new_table
    make_file csv $n >"$scratch/file.csv"
    "$shell" --no-took "$scratch/db" import t "$scratch/file.csv" >/dev/null 2>&1
    counts+=("$(count "$scratch/db" export t "$scratch/out.csv")")
    chosen+=("$(count "$scratch/db" export t "$scratch/out.csv" --all-versions --columns "$(columns $n)")")
done
check "export csv" "${counts[@]}"
check "export, columns chosen" "${chosen[@]}"

# Between each two puts a marker of the family's versions at a time that no put has.
counts=()
for n in 4 $small $large; do
    new_table
    awk -v n="$n" 'BEGIN { print "row,family,qualifier,timestamp,type,ttl,value"
        for (i = 0; i < n; i++) printf "r,f,,%d,DeleteFamilyVersion,,\nr,f,c%06d,%d,Put,,v\n", 2 * i + 1, i, 2 * i + 2 }' >"$scratch/file.csv"
    "$shell" --no-took "$scratch/db" import t "$scratch/file.csv" >/dev/null 2>&1
    counts+=("$(count "$scratch/db" export t "$scratch/out.csv" --all-versions)")
    [ "$(wc -l <"$scratch/out.csv")" = $((2 * n + 1)) ] || { echo "wide_files_test: not all cells were exported" && exit 1; }
done
check "export, with markers" "${counts[@]}"
[ $failed = 0 ] || exit 1
echo "import and export cost the same for each column"
