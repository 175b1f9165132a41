#!/bin/sh
# import_test.sh -- kv-shell's import, compare, advise on a file of keys, and exit statuses, and the
# block cache under pressure.
#
#     tests/tools/shell/import_test.sh KV-SHELL
set -u
export TZ=UTC
shell=${1:?usage: import_test.sh KV-SHELL}
. "$(dirname "$0")/../../support/expect.sh"
db=$scratch/db

# Counter $1 in the last output.
counter() {
    awk -v name="$1" '$1 == name { print $2 }' "$scratch/out"
}

# ---- Records: csv --------------------------------------------------------------------------------

cat >"$scratch/index.csv" <<'END'
package,meta:Version,rel:Depends,text:Description,meta:Empty,text:Tag
a,1,"b (>= 2), c","short
 and long
 .
 	with a tab",,
b,2,,,"",
a,3,,,,one
END
expect 'create' 0 'Created table t' "$shell" --no-compaction "$db" -e "create 't', 'meta', 'rel', 'text'"
expect 'import' 0 '^3 records and 7 cells imported' "$shell" --no-compaction "$db" import t "$scratch/index.csv"
expect 'the last of equal fields wins' 0 'value=3$' "$shell" --no-compaction "$db" -e "get 't', 'a', 'meta:Version'"
expect 'continued lines are kept' 0 'value=short\\x0A and long\\x0A .\\x0A \\x09with a tab$' \
    "$shell" --no-compaction "$db" -e "get 't', 'a', 'text:Description'"
expect 'compare' 0 '^input: 2 rows, 6 fields; table: 2 rows, 6 fields; 6 fields compared, 0 differ$' \
    "$shell" --no-compaction "$db" compare t "$scratch/index.csv"
expect 'compare field by field' 0 ' 6 fields compared, 0 differ$' "$shell" --no-compaction "$db" compare --by-field t "$scratch/index.csv"
expect 'a field is in the table only' 0 . "$shell" --no-compaction "$db" -e "put 't', 'a', 'meta:More', 'x'"
expect 'compare sees it' 3 'table: 2 rows, 7 fields; 6 fields compared, 0 differ' "$shell" --no-compaction "$db" compare t "$scratch/index.csv"
expect 'delete it' 0 . "$shell" --no-compaction "$db" -e "deleteall 't', 'a', 'meta:More'"
expect 'compare is content again' 0 '0 differ' "$shell" --no-compaction "$db" compare t "$scratch/index.csv"
expect 'another value' 0 . "$shell" --no-compaction "$db" -e "put 't', 'b', 'meta:Version', '2 '"
expect 'compare sees it, too' 3 'line 6: row b, field meta:Version: differs' "$shell" --no-compaction "$db" compare t "$scratch/index.csv"
expect 'a missing row' 0 . "$shell" --no-compaction "$db" -e "deleteall 't', 'b'"
expect 'compare misses it' 3 'line 6: row b, field meta:Empty: is not in the table' "$shell" --no-compaction "$db" compare t "$scratch/index.csv"

printf 'package,meta:Version\nc,1,2\nd,4\n' >"$scratch/bad.csv"
expect 'a bad record ends the import' 2 'bad.csv:2: there are more values than the first line has columns' \
    "$shell" --no-compaction "$db" import t "$scratch/bad.csv"
expect 'or is passed over' 1 '^1 record and 1 cell imported, 1 bad record passed over' \
    "$shell" --no-compaction "$db" import t "$scratch/bad.csv" --skip-bad
expect 'or by compare, which has what the table has' 3 ' 1 fields compared, 0 differ' \
    "$shell" --no-compaction "$db" compare t "$scratch/bad.csv" --skip-bad
is_true 'it is told once' "$([ "$(grep -c 'bad.csv:2: ' "$scratch/out")" = 1 ] && echo 1)"
expect 'no such family' 1 'Column family nosuch does not exist' \
    sh -c 'sed s/meta/nosuch/ "$3/index.csv" | "$1" --no-compaction "$2" import t -' - "$shell" "$db" "$scratch"
expect 'no line is at fault then' 1 '^0 records and 0 cells imported$' \
    sh -c 'printf "package,nosuch:a\nd,4\n" | "$1" --no-took "$2" import t -' - "$shell" "$db"
is_true 'so none is named' "$([ "$(grep -c 'lines' "$scratch/out")" = 0 ] && echo 1)"
expect 'a row without a key' 2 . \
    sh -c 'printf "package,meta:a\nd,4\n,5\ne,6\n" | "$1" --no-took "$2" import t - && echo not reached' - "$shell" "$db"
same 'the reason comes first' "$scratch/out" <<'END'
kv-shell: -:3: the row's column 'package' is empty
The lines before it are in the table: 1 record and 1 cell imported
END
expect 'nor does it stay' 0 . "$shell" --no-compaction "$db" -e "deleteall 't', 'd'"
expect 'a column left out' 0 '^3 records and 4 cells' \
    "$shell" --no-compaction "$db" import t "$scratch/index.csv" --skip-fields META:version
expect 'columns chosen' 0 '^3 records and 3 cells' \
    "$shell" --no-compaction "$db" import t "$scratch/index.csv" --only-fields meta:Version
expect 'a file whose name tells no format is csv' 0 '^3 records and 7 cells' \
    sh -c 'mv "$3/index.csv" "$3/index" && "$1" --no-compaction "$2" import t "$3/index"' - "$shell" "$db" "$scratch"

# ---- Parts, csv ----------------------------------------------------------------------------------

awk 'BEGIN { print "id,f:a,f:b,f:c,f:d"
             for (i = 0; i < 1000; i++) printf "row%04d,%d,\"x, %d\",y%d,z%d\n", i, i, i * 7, i % 10, i * i }' \
    >"$scratch/rows.csv"
for table in none row rowcol row_rowcol; do
    filter=$(echo $table | tr a-z A-Z)
    expect "create $table" 0 . "$shell" --no-compaction "$db" -e "create '$table', {NAME => 'f', BLOOMFILTER => '$filter', BLOCKSIZE => 1024}"
    for part in 1 2 3 4; do
        expect "part $part" 0 '^1000 records and 1000 cells' \
            "$shell" --no-compaction "$db" import $table "$scratch/rows.csv" --format csv --part $part/4
    done
    expect "four files in $table" 0 'f file ' "$shell" --no-compaction "$db" -e "stats '$table'"
    is_true "four files in $table" "$(($(grep -c '^ f file ' "$scratch/out") == 4))"
    expect "compare $table" 0 'input: 1000 rows, 4000 fields; table: 1000 rows, 4000 fields; 4000 fields compared, 0 differ' \
        "$shell" --no-compaction "$db" compare --by-field $table "$scratch/rows.csv" --format csv
done

# ---- Advice: with NONE the expectation is exact, the others are near it --------------------------

awk 'BEGIN { for (i = 0; i < 1000; i++) printf "row%04dx\n", i }' >"$scratch/absent"
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "row%04d\tf:c\n", i }' >"$scratch/column"
for table in none row rowcol row_rowcol; do
    for list in absent column; do
        expect "advise $table" 0 '^1000 gets, those of the file' \
            "$shell" --no-compaction "$db" -e "advise '$table', KEYS => '$scratch/$list'"
        # A row may lie in two blocks, so a little more than expected can be read.
        is_true "measured blocks are within 5 % or 0.05 of the expected" \
            "$(awk '/BLOOMFILTER .* \(now\)/ { expected = $5 }
                    sub(/.*; measured /, "") { d = $1 - expected; d = d < 0 ? -d : d; n++; bad = d > 0.05 && d > 0.05 * expected }
                    END { print n == 1 && !bad ? 1 : 0 }' "$scratch/out")"
    done
done
expect 'files, and why some are not read' 0 '; 4.000 files, [0-9.]* skipped: found newer; ' \
    "$shell" --no-compaction "$db" -e "advise 'none', KEYS => '$scratch/column'"
expect 'a file of keys that is not there' 1 'cannot open .*: No such file' \
    "$shell" --no-compaction "$db" -e "advise 'none', KEYS => '$scratch/nothing'"

# ---- A cache too small for filters and data ------------------------------------------------------

awk 'BEGIN { print "id,f:a"
             for (i = 0; i < 80000; i++) printf "row%06d,%06d%06d%06d%06d\n", i, i * 7919 % 30011, i * 17 % 1009, i * 31 % 9973, i }' \
    >"$scratch/many.csv"
expect 'create many' 0 . "$shell" --no-compaction "$db" -e "create 'many', {NAME => 'f', BLOCKSIZE => 1024, BLOOMFILTER => 'ROW'}"
expect 'import many' 0 '^80000 records' "$shell" --no-compaction "$db" import many "$scratch/many.csv" --format csv
awk 'BEGIN { srand(7); for (i = 0; i < 3000; i++) printf "get %cmany%c, %crow%06d%c\n", 39, 39, 39, int(rand() * 80000), 39
             print "stats" }' >"$scratch/gets"
expect 'gets with a large cache' 0 cache_capacity "$shell" --no-compaction --no-took "$db" -f "$scratch/gets"
is_true 'all gets found their row' "$(($(grep -c '^1 row' "$scratch/out") == 3000))"
is_true 'a large cache keeps filter chunks and data blocks' \
    "$(($(counter cache_filter_blocks) > 0 && $(counter cache_data_blocks) > 0 && $(counter cache_filter_evicted) == 0 &&
        $(counter filter_fetched) > 0 && $(counter filter_fetched) <= $(counter cache_filter_inserted) && $(counter filter_cached) > 0))"
expect 'gets with a small cache' 0 cache_capacity "$shell" --no-compaction --no-took --cache 64KB "$db" -f "$scratch/gets"
is_true 'all gets found their row again' "$(($(grep -c '^1 row' "$scratch/out") == 3000))"
is_true 'a small cache evicts filter chunks and data blocks, and loads them again' \
    "$(($(counter cache_filter_evicted) > 0 && $(counter cache_data_evicted) > 0 &&
        $(counter filter_fetched) > $(counter cache_filter_blocks)))"

# ---- What a file's name and its first bytes tell -------------------------------------------------

expect 'create named' 0 'Created table named' "$shell" --no-compaction "$db" -e "create 'named', 'f'"
for format in csv tsv jsonl hbase; do
    expect "export .$format" 0 '^80000 cells' "$shell" --no-compaction "$db" export many "$scratch/named.$format"
    expect "import .$format by its name" 0 '^80000 records' "$shell" --no-compaction "$db" import named "$scratch/named.$format"
    printf '\357\273\277' | cat - "$scratch/named.$format" >"$scratch/marked"
    expect "import $format with a byte order mark" 0 '^80000 records' \
        "$shell" --no-compaction "$db" import named "$scratch/marked" --format $format
done
expect 'upper case' 0 '^80000 cells' "$shell" --no-compaction "$db" export many "$scratch/named.CSV"
is_true 'they are what the options would give' "$(($(head -c 11 "$scratch/named.CSV" | grep -c '^row,family') == 1 &&
    $(head -n 1 "$scratch/named.tsv" | grep -c 'family	qualifier') == 1 && $(head -n 1 "$scratch/named.jsonl" | grep -c '^{') == 1 &&
    $(grep -c '^put ' "$scratch/named.hbase") == 80000))"
expect 'an option is stronger' 2 'named.csv:1: byte 1: a line must be a JSON object' \
    "$shell" --no-compaction "$db" import named "$scratch/named.csv" --format jsonl
printf '\357\273x' >"$scratch/half.jsonl"
expect 'half a byte order mark' 2 'half.jsonl:1: byte 1: a line must be a JSON object' "$shell" --no-compaction "$db" import named "$scratch/half.jsonl"
printf '\357' >"$scratch/half.jsonl"
expect 'a third of one' 2 'half.jsonl:1: byte 1: a line must be a JSON object' "$shell" --no-compaction "$db" import named "$scratch/half.jsonl"
printf '\357\273\277list\r\n' >"$scratch/marked"
expect 'a script with a byte order mark' 0 '^named$' "$shell" --no-compaction "$db" -f "$scratch/marked"

# ---- A directory in a file's place ---------------------------------------------------------------

for format in csv tsv jsonl hbase; do
    expect "import a directory as $format" 3 'failed: Is a directory' "$shell" --no-compaction "$db" import named "$scratch" --format $format
done
for format in csv tsv; do
    expect "a part of it as $format" 3 'failed: Is a directory' \
        "$shell" --no-compaction "$db" import named "$scratch" --format $format --part 1/2
done
expect 'compare with a directory' 3 'failed: Is a directory' "$shell" --no-compaction "$db" compare named "$scratch"
expect 'a directory of keys' 3 'failed: Is a directory' "$shell" --no-compaction "$db" -e "advise 'named', KEYS => '$scratch'"
expect 'a directory of commands' 3 'failed: Is a directory' "$shell" --no-compaction "$db" -f "$scratch"

# ---- Durations -----------------------------------------------------------------------------------

expect 'on a table variable' 0 '^Took [0-9.]* seconds=> 0$' "$shell" --no-compaction "$db" -e "t = create 'held', 'f'" -e 't.count'
expect 'in one line' 0 '^Took [0-9.]* seconds0 row(s)$' "$shell" --no-compaction "$db" -e "t = get_table 'held'" -e 't.count; t.count'
expect 'on a name' 0 '^Took [0-9.]* seconds$' "$shell" --no-compaction "$db" -e "count 'held'; count 'held'"

# ---- Wrong arguments -----------------------------------------------------------------------------

expect 'an unknown option' 2 'there is no option "--nosuch"; there are -e, -f, ' "$shell" --nosuch "$db"
expect 'an option without its value' 2 '-e must be followed by commands' "$shell" "$db" -e
expect 'a value that means nothing' 2 'format takes hbase, table, json or csv, not "xml"' "$shell" --format xml "$db" -e list
expect 'a size that means nothing' 2 'cache takes a size such as 64MB, or 0, not "much"' "$shell" --cache much "$db" -e list
expect 'an option nearly' 2 'there is no option "--bial"; did you mean "--bail"?' "$shell" --bial "$db"
expect 'a subcommand nearly' 2 'no subcommand imprt; did you mean import?  They are import, export, compare, backup and restore' "$shell" "$db" imprt t x
expect 'a script in its place' 2 "to run its commands, say -f $scratch/gets$" "$shell" "$db" "$scratch/gets"
expect 'an option of import, nearly' 2 'there is no option "--formt"; did you mean "--format"? There are --format, --row,' \
    "$shell" "$db" import t "$scratch/index" --formt csv
expect 'no value of an option of import' 2 'family must be followed by a family$' "$shell" "$db" import t "$scratch/index" --family
for wrong in 'format json csv,' 'part 5/4 I/N,' 'on-error go skip' 'threads many a' 'max-errors x a'; do
    # shellcheck disable=SC2086
    set -- $wrong
    expect "a value of --$1" 2 "^kv-shell: --$1 takes $3 .*, not \"$2\"$" "$shell" "$db" import t "$scratch/index" "--$1" "$2"
done
expect 'a value of a key' 2 'FLUSH_EVERY takes a number of records, not "x"' \
    "$shell" "$db" -e "import 't', '$scratch/index', FLUSH_EVERY => 'x'"
expect 'no database to import into' 1 'import t .*index --create makes it, and the table from the file$' "$shell" "$scratch/none" import t "$scratch/index"
expect 'as it says' 0 'Created table t with' "$shell" "$scratch/none" import t "$scratch/index" --create
printf 'id,f:a,f:b\nr\n' >"$scratch/short.csv"
expect 'one value' 2 'short.csv:2: there is 1 value, but the first line has 3 columns' "$shell" "$db" import many "$scratch/short.csv"
expect 'an export into no directory' 1 "cannot write $scratch/nodir/x.csv: there is no directory $scratch/nodir$" "$shell" "$db" export many "$scratch/nodir/x.csv"
expect 'an option of export, nearly' 2 'there is no option "--colums"; did you mean "--columns"? There are --format,' "$shell" "$db" export many --colums f
expect 'an option of export without its value' 2 '--from must be followed by a row' "$shell" "$db" export many --from
if [ -c /dev/full ]; then
    "$shell" --no-compaction "$db" -e "scan 'many'" >/dev/full 2>"$scratch/out"
    is_true 'output that cannot be written is told, and why' \
        "$(($? == 3 && $(grep -c 'writing failed: No space left on device' "$scratch/out") == 1))"
    for command in help "scan 'many', LIMIT => 1"; do
        "$shell" --no-compaction "$db" -e "$command" >/dev/full 2>"$scratch/out"
        is_true "little output, too: $command" "$(($? == 3 && $(grep -c 'writing failed: No space left on device' "$scratch/out") == 1))"
    done
    "$shell" --help >/dev/full 2>"$scratch/out"
    is_true 'and the usage' "$(($? == 3 && $(grep -c 'writing failed: No space left on device' "$scratch/out") == 1))"
fi

# ---- Exit statuses -------------------------------------------------------------------------------

expect 'found' 0 '^1 row' "$shell" --no-compaction "$db" -e "get 'many', 'row000001'"
expect 'not found' 1 '^0 row' "$shell" --no-compaction "$db" -e "get 'many', 'nosuch'"
expect 'no such table' 1 'Unknown table nosuch!' "$shell" --no-compaction "$db" -e "scan 'nosuch'"
expect 'exists says no' 1 'does not exist' "$shell" --no-compaction "$db" -e "exists 'nosuch'"
expect 'a mistake' 2 SyntaxError "$shell" --no-compaction "$db" -e "scan 'many', }"
expect 'the worst counts' 2 '^1 row' "$shell" --no-compaction "$db" -e "gett" -e "get 'many', 'row000001'"
expect 'an exit status given' 7 . "$shell" --no-compaction "$db" -e "list; exit 7; list"
expect 'stop at a mistake' 2 'undefined local variable' "$shell" --bail "$db" -e 'gett; list' -e list
is_true 'nothing was run behind it' "$((1 - $(grep -c TABLE "$scratch/out")))"
mkfifo "$scratch/pipe"
"$shell" --no-compaction "$db" <"$scratch/pipe" >"$scratch/first" 2>&1 &
exec 3>"$scratch/pipe"
echo list >&3
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q 'row(s)' "$scratch/first" && break
    sleep 0.2
done
expect 'open elsewhere' 0 "open already, in process $!: commands only read" "$shell" --no-compaction "$db" -e list
exec 3>&-
wait
expect 'closed again' 0 '^many$' "$shell" --no-compaction "$db" -e list

expect_end
