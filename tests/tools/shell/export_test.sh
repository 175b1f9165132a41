#!/bin/sh
# export_test.sh KV-SHELL -- export and import: every byte survives the round trip in every format,
# bad lines are told.
set -u
export TZ=UTC
shell=${1:?usage: export_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

same() {
    if cmp -s "$2" "$3"; then
        passed=$((passed + 1))
    else
        echo "FAILED $1: $2 and $3 differ"
        diff -a "$2" "$3" | head -n 10
        failed=$((failed + 1))
    fi
}

scan() {
    "$shell" --no-took "$1" -e "scan 't', RAW => true, VERSIONS => 100; scan 't', VERSIONS => 100; count 't'"
}

# ---- A store with every byte in row, qualifier and value, and all kinds of markers ---------------

families="{NAME => 'f', VERSIONS => 5, KEEP_DELETED_CELLS => true}, {NAME => 'g', VERSIONS => 3}, {NAME => 'h', TTL => 93600, BLOCKSIZE => 4096}"
{
    echo "create 't', $families"
    awk 'BEGIN {
        for (i = 0; i < 256; i++) {
            b = sprintf("\\x%02x", i)
            printf "put \"t\", \"%s\", \"f:a\", \"%s\", %d\n", b, b, 1000 + i
            # A colon in a qualifier is cut by put.
            if (i != 58) printf "put \"t\", \"r%sr\", \"f:q%sq\", \"v%s%s%sv\", 7\n", b, b, b, b, b
        }
        all = ""
        for (i = 255; i >= 0; i--) all = all sprintf("\\x%02x", i)
        printf "put \"t\", \"all\", \"g:\", \"%s\", 5\nput \"t\", \"all\", \"g:empty\", \"\", 6\n", all
    }'
    # At equal timestamps the later write wins: a put before and behind each kind of marker.
    for marker in "delete 't', 'ROW', 'f:a', 10" "deleteall 't', 'ROW', 'f:a', 10" "deleteall 't', 'ROW', 'f', 10" \
        "delete 't', 'ROW', 'f', 10"; do
        row=$(echo "$marker" | tr -dc 'a-z0-9')
        marker=$(echo "$marker" | sed "s/ROW/$row/")
        echo "put 't', '$row', 'f:a', 'hidden', 10; put 't', '$row', 'f:c', 'hidden', 10; $marker"
        echo "put 't', '$row', 'f:b', 'seen', 10; put 't', '$row', 'f:a', 'first', 11; put 't', '$row', 'f:a', 'second', 11"
        echo "put 't', 'x$row', 'f:a', 'hidden', 10; $(echo "$marker" | sed "s/'$row'/'x$row'/"); put 't', 'x$row', 'f:a', 'seen', 10"
    done
    echo "put 't', 'ttl', 'f:a', 'long', 20000000000000, TTL => 86400000"
    echo "put 't', 'older', 'g:a', 'one', 1; put 't', 'older', 'g:a', 'two', 2; deleteall 't', 'older', '', 1"
} >script
expect 'a store' 0 . "$shell" --no-took db -n script
scan db >wanted
grep -q 'type=DeleteFamilyVersion' wanted && grep -q 'DeleteColumn' wanted || { echo 'FAILED the store lacks markers'; failed=$((failed + 1)); }

for format in csv tsv jsonl hbase; do
    expect "export as $format" 0 ' cells exported' "$shell" --no-took db export t t.$format --format $format --all-versions
    if [ $format != jsonl ] && LC_ALL=C grep -qa '[^ -~	]' t.$format; then
        echo "FAILED $format: a byte that is not plain"
        failed=$((failed + 1))
    fi
    for threads in 0 1 3; do
        rm -rf new
        expect 'a new store' 0 . "$shell" new -e "create 't', $families"
        expect "import from $format" 0 'cells imported' "$shell" --no-took new import t t.$format --format $format --threads $threads
        scan new >got
        same "what came back from $format with $threads threads" wanted got
    done
    "$shell" new export t --format $format --all-versions >again 2>log
    same "$format of what came back" t.$format again
done
# The same by commands; of the newest versions only.
rm -rf new
"$shell" --no-took db -e "export 't', 'newest.csv'; scan 't'" 2>log | grep -v '^[0-9]* row\|^$' >wanted
expect 'import as a command' 0 'cells imported' "$shell" new -e "create 't', $families; import 't', 'newest.csv', FORMAT => 'csv'"
"$shell" --no-took new -e "scan 't'" | grep -v '^[0-9]* row\|^$' >got
same 'what commands have carried over' wanted got
# A script makes its table, as a shell reads it, too.
rm -rf new
expect 'a script' 0 ' cells exported' "$shell" db export t t.hbase --format hbase --create --all-versions
expect 'the shell runs it' 0 . "$shell" --no-took new -n t.hbase
scan db >wanted
scan new >got
same 'what the script made' wanted got
# What describe shows in METADATA is made again as the attributes that it is.
expect 'a family of many attributes' 0 . "$shell" --no-took db \
    -e "create 'm', {NAME => 'f', NEW_VERSION_BEHAVIOR => true, COMPRESSION_COMPACT => 'zstd', COMPRESS_TAGS => false, METADATA => {'owner' => 'me'}}" \
    -e "put 'm', 'r', 'f:a', 'v', 1"
expect 'its script' 0 '^1 cell exported' "$shell" --no-took db export m m.hbase --create
rm -rf new
expect 'the shell runs it, too' 0 . "$shell" --no-took new -n m.hbase
for database in db new; do
    "$shell" --no-took $database -e "describe 'm'" >described.$database
done
same 'what the script made of it' described.db described.new
expect 'an attribute, not a text' 0 '^m,f,NEW_VERSION_BEHAVIOR,true' "$shell" --no-took new --format csv -e "describe 'm'"
# So are the table's own, and texts with whatever bytes.
cat >make.txt <<'END'
create 'a', {NAME => 'f', METADATA => {"it's" => "\\ \"q\" \#{1} \n\x01\xFF"}}, MAX_FILESIZE => '12345', DURABILITY => 'SYNC_WAL', METADATA => {'who' => "o'brien"}
put 'a', 'r', 'f:a', 'v', 1
alter 'a', READONLY => 'true'
END
expect 'a table of many attributes' 0 . "$shell" --no-took db -n make.txt
expect 'the script of it' 0 '^1 cell exported' "$shell" --no-took db export a a.hbase --create
rm -rf new
expect 'the shell runs that' 0 . "$shell" --no-took new -n a.hbase
for database in db new; do
    "$shell" --no-took $database -e "describe 'a'; scan 'a'" >described.$database
done
same 'what that script made' described.db described.new
expect 'its cells read by import' 0 ' 1 cell imported' "$shell" --no-took new -e "create 'b', 'f'; import 'b', 'a.hbase'"
expect 'a text with a quote' 0 "'who' => 'o'brien'" cat described.new
expect 'parts' 0 '^3 cells exported' "$shell" db export t part.csv --from 'r\x20r' --to r#r --columns f
printf 'row,family,qualifier,timestamp,type,ttl,value\nr r,f,q q,7,Put,,v   v\nr!r,f,q!q,7,Put,,v!!!v\n"r""r",f,"q""q",7,Put,,"v""""""v"\n' >wanted
same 'part of it' wanted part.csv
expect 'columns of all versions' 0 '^3 cells exported' "$shell" db export t part.csv --columns g:,g:empty --all-versions
expect 'no such table' 1 'Unknown table nosuch!' "$shell" db export nosuch
expect 'create in csv' 2 'for --format hbase only' "$shell" db export t - --create
expect 'create in json' 1 "for FORMAT => 'hbase' only" "$shell" -n db -e "export 't', '-', FORMAT => 'jsonl', CREATE => true"
expect 'no such format' 2 'formats are csv' "$shell" db export t - --format xml
expect 'no directory' 1 'cannot write nosuch/file: there is no directory nosuch$' "$shell" db export t nosuch/file
expect 'a full disk' 3 'No space left' "$shell" db export t /dev/full
[ "$(find . -name '*.part-*' | wc -l)" = 0 ] || { echo 'FAILED part files were left'; failed=$((failed + 1)); }

# ---- Bad lines -----------------------------------------------------------------------------------

awk 'BEGIN { print "row,family,value,qualifier"
             for (i = 1; i < 30000; i++) print i % 10000 == 5 ? "r" i ",f,\\q," : "r" i ",f,\"v, " i "\",q" }' >bad.csv
expect 'tables' 0 . "$shell" db -e "create 'stop', 'f'; create 'skip', 'f'; create 'few', 'f'; create 'u', 'f'"
expect 'stop' 2 'bad.csv:6: byte 6: a backslash that begins no' "$shell" db import stop bad.csv --format csv
expect 'what was before it' 0 '^4 row' "$shell" db -e "count 'stop', INTERVAL => 1000000"
expect 'skip' 1 '^29996 records and 29996 cells imported, 3 bad' "$shell" db import skip bad.csv --format csv --on-error skip --threads 2
expect 'each is told' 1 'bad.csv:20006: byte 10: a backslash' "$shell" db import skip bad.csv --format csv --on-error skip
expect 'the rest' 0 '^29996 row' "$shell" db -e "count 'skip', INTERVAL => 1000000"
expect 'a few' 2 '^The lines before it are in the table: 20002 records and 20002 cells imported, 2 bad' "$shell" db import few bad.csv --format csv --max-errors 2 --threads 3
expect 'told which' 2 'kv-shell: bad.csv:20006:' "$shell" db import few bad.csv --format csv --max-errors 2 --threads 0
expect 'what was before the third' 0 '^20002 row' "$shell" db -e "count 'few', INTERVAL => 1000000"

# bad FORMAT PATTERN LINE: the line is refused so.
bad() {
    printf '%s\n' "$3" >line
    expect "$3" 2 "$2" "$shell" db import u line --format "$1"
}
bad jsonl 'line:1: byte 1: a line must be a JSON object' '[]'
bad jsonl 'byte 8: a string in quotes' '{"row":1}'
bad jsonl 'the key "row" is missing' '{"column":"f:q","value":""}'
bad jsonl 'the key "value" is missing' '{"column":"f:q","row":"r"}'
bad jsonl 'byte 13: this key was there before' '{"row":"r", "row":"r"}'
bad jsonl 'byte 2: no cell has a key of this name' '{"rows":"r"}'
bad jsonl 'an unknown escape' '{"row":"\q"}'
bad jsonl 'an unknown escape' '{"row":"\ud800"}'
bad jsonl 'the key "value" is missing' '{"column":"f:q","row":"r","value":null}'
bad jsonl 'byte 15: this is no base64' '{"row":{"b64":"/w="}}'
bad jsonl 'a } must follow the base64' '{"row":{"b64":"/w==","b64":""}}'
bad jsonl 'bytes are a string in quotes, or {"b64":"..."}' '{"row":{"base64":"/w=="}}'
bad jsonl 'ends inside a string' '{"row":"r'
bad jsonl 'the timestamp must be 0 or more' '{"row":"r","timestamp":-1}'
bad jsonl 'the table has no such family' '{"row":"r","column":"nosuch:q","value":"v"}'
bad jsonl 'a deletion must have no value' '{"row":"r","column":"f:q","type":"Delete","value":"v"}'
bad jsonl 'something follows the object' '{"row":"r","column":"f:q","value":"v"}{}'
bad hbase 'neither put' "scan 'u'"
bad hbase 'a quote is not closed' "put 'u"
bad hbase 'something follows the command' "put 'u', 'r', 'f:q', 'v', 5 nosuch"
bad hbase 'timestamp or TTL' "put 'u', 'r', 'f:q', 'v', nosuch"
bad hbase 'import computes nothing' 'put "u", "r", "f:q", "#{v}"'
printf '"row","family","qualifier","timestamp","type","ttl","value"\r\n"quoted","f","q","5","Put","","v,""w"""\r\n' >line
expect 'all in quotes' 0 '^1 record and 1 cell imported' "$shell" db import u line --format csv
expect 'its value, too' 0 'timestamp=1970-01-01T00:00:00.005, value=v,"w"$' "$shell" db -e "get 'u', 'quoted'"
printf 'row,"family,value\n' >line
expect 'a quote in the first line' 2 'line:1: a quote is not closed' "$shell" db import u line --format csv
printf "# a comment\n\nput 'u', 'r', 'f:a', 'v'\n  put 'x', 'r', 'f:a', 'v'\n" >line
expect 'another table' 2 'line:4: the commands before it are about another table' "$shell" db import u line --format hbase
printf '{"qualifier":"q","value":"\\u00e9\\ud83d\\ude00\\n\\\\x00\303\251","family":"f","row":"unicode"}\r\n' >line
expect 'JSON of others' 0 '^1 record and 1 cell imported' "$shell" db import u line --format jsonl
expect 'its value' 0 'value=\\xC3\\xA9\\xF0\\x9F\\x98\\x80\\x0A\\x5Cx00\\xC3\\xA9$' "$shell" db -e "get 'u', 'unicode', 'f:q'"

# ---- A link that somebody has put where the unfinished file will be ------------------------------

echo untouched >victim
sh -c 'ln -s victim planted.part-$$ && exec "$0" --no-took db export u planted' "$shell" >/dev/null 2>&1
expect 'it is not followed' 0 '^untouched$' cat victim
expect 'and the file is there' 0 '^row,' head -n 1 planted

# ---- Compare with what was exported --------------------------------------------------------------

other=$scratch/compared
expect 'a table to compare' 0 . "$shell" --no-compaction "$other" -e "create 't', {NAME => 'f', VERSIONS => 2}, 'g'" \
    -e "put 't', 'a', 'f:x', '1', 5" -e "put 't', 'a', 'f:x', '2', 6" -e "put 't', 'a', 'g:y', \"q,\\x00\\\"\", 5" -e "put 't', 'b', 'f:', 'z'"
for format in csv tsv jsonl hbase; do
    expect "export $format" 0 . "$shell" --no-compaction "$other" export t "$scratch/seen.$format"
    expect "compare what readers see, $format" 0 '^input: 2 rows, 3 fields; table: 2 rows, 3 fields; 3 fields compared, 0 differ$' \
        "$shell" --no-compaction "$other" compare t "$scratch/seen.$format"
    expect "export all of it, $format" 0 . "$shell" --no-compaction "$other" export t "$scratch/all.$format" --all-versions
    expect "compare all that is stored, $format" 0 '^input: 2 rows, 4 cells; table: 2 rows, 4 cells; 4 cells compared, 0 differ$' \
        "$shell" --no-compaction "$other" compare t "$scratch/all.$format"
done
sed 's/^a,f,x,6,Put,,2/a,f,x,6,Put,,3/' "$scratch/seen.csv" >"$scratch/other.csv"
expect 'another value' 3 'line 2: row a, field f:x: differs in the table' "$shell" --no-compaction "$other" compare t "$scratch/other.csv"
sed 's/^a,f,x,6,/a,f,x,5,/' "$scratch/seen.csv" >"$scratch/other.csv"
expect 'another timestamp' 3 'line 2: row a, field f:x: has another timestamp' "$shell" --no-compaction "$other" compare t "$scratch/other.csv"
printf 'row,family,qualifier,value\na,f,x,2\na,g,y,"q,\\x00"""\nb,f,,z\n' >"$scratch/other.csv"
expect 'without timestamps' 0 ' 3 fields compared, 0 differ' "$shell" --no-compaction "$other" compare t "$scratch/other.csv"
echo 'c,f,x' >>"$scratch/other.csv"
expect 'a bad line' 2 'other.csv:5: byte 6: the line has fewer values' "$shell" --no-compaction "$other" compare t "$scratch/other.csv"
expect 'a bad line that is passed over' 0 ' 3 fields compared, 0 differ' "$shell" --no-compaction "$other" compare t "$scratch/other.csv" --skip-bad
is_true 'it is told once' "$([ "$(grep -c 'other.csv:5: ' "$scratch/out")" = 1 ] && echo 1)"
expect 'a deletion' 0 . "$shell" --no-compaction "$other" -e "deleteall 't', 'a', 'g:y'"
expect 'what it hides is missed' 3 'row a, field g:y: is not in the table' "$shell" --no-compaction "$other" compare t "$scratch/seen.csv"
expect 'it is one cell more' 3 '4 cells; table: 2 rows, 5 cells; 4 cells compared, 0 differ' "$shell" --no-compaction "$other" compare t "$scratch/all.csv"
expect 'export it' 0 . "$shell" --no-compaction "$other" export t "$scratch/all.csv" --all-versions
expect 'a deletion is compared' 0 '5 cells compared, 0 differ' "$shell" --no-compaction "$other" compare t "$scratch/all.csv"
for verb in import compare; do
    expect "$verb: columns of records" 2 'has a cell in each line, .* --only-fields' \
        "$shell" --no-compaction "$other" $verb t "$scratch/seen.csv" --only-fields f:x
    expect "$verb: a part of records" 2 'has a cell in each line, .* --part are for records' \
        "$shell" --no-compaction "$other" $verb t "$scratch/seen.csv" --part 1/2
done
expect_end
