#!/bin/sh
# dump_test.sh -- kv-check dump: each kind of file part by part, damaged parts named and passed over.
#
#     tests/tools/check/dump_test.sh KV-SHELL
#
# kv-check stands beside it.
set -u
shell=$(realpath "${1:?usage: dump_test.sh KV-SHELL}")
check=$(dirname "$shell")/kv-check
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
house=$PWD
cd "$scratch" || exit 1

make_database db
before=$(state_of db)
victim=$(ls -S db/*.sst | head -1)
expect facts 0 "^    table: 'big'$" "$check" dump "$victim"
expect blocks 0 "data block: offset 0, bytes .*first row 'row0000'" "$check" dump "$victim"
expect 'a row alone' 0 "cell: row 'row0060', family 'f', qualifier 'a', timestamp 1060, type Put, value 'value 60', sequence 1000061" \
    "$check" dump --cells --rows row0060:row0060 "$victim"
is_true 'no other' "$([ "$(grep -c 'cell: ' out)" = 1 ] && echo 1)"
expect 'one cell per column' 0 "^    one cell per column: yes$" "$check" dump --brief "$victim"
expect brief 0 'least row' "$check" dump --brief "$victim"
is_true 'no blocks' "$(grep -q 'data block:' out || echo 1)"
expect 'so many blocks' 0 'data block: offset 0' "$check" dump --limit 1 "$victim"
is_true 'one' "$([ "$(grep -c 'offset.*stored' out)" = 1 ] && echo 1)"
expect 'the manifest' 0 "create table: table 1, name 'big'" "$check" dump db/MANIFEST
expect 'all of it' 0 '^manifest$' "$check" dump db
is_true 'nothing was written' "$([ "$before" = "$(state_of db)" ] && echo 1)"
expect 'nothing there' 2 'No such file' "$check" dump nowhere
expect 'as JSON' 2 '"error": "No such file' "$check" dump --json nowhere
expect 'the lock' 0 'holds no data' "$check" dump db/LOCK
mkdir empty
expect 'no database' 2 'there is no database' "$check" dump empty
expect 'a file of somebody else' 2 'is no file of Petal' "$check" dump "$check"
expect 'no file' 2 'kv-check dump: an argument is missing: FILE|DIRECTORY;' "$check" dump --cells
expect 'no number' 2 'kv-check dump: --limit takes a number, not .x.; ' "$check" dump --limit x db
expect 'no descriptors' 2 'Too many open files' sh -c 'ulimit -n 5; exec "$0" dump db' "$check"

# Rows as they are printed.
"$shell" --no-took colons -e 'create "t", "f"; put "t", "user:1", "f:q", "a"; put "t", "user:2", "f:q", "b"; put "t", "\x00z", "f:q", "c"; flush "t"' >/dev/null
colons=$(ls colons/*.sst)
expect 'rows with colons' 0 "cell: row 'user:2'" "$check" dump --cells --from user:2 --to user:2 "$colons"
is_true 'one row' "$([ "$(grep -c 'cell: ' out)" = 1 ] && echo 1)"
expect 'their escapes' 0 "cell: row 'user:1'" "$check" dump --cells --rows 'user\x3A1:user\x3a1' "$colons"
is_true 'one row' "$([ "$(grep -c 'cell: ' out)" = 1 ] && echo 1)"
expect 'bytes' 0 "cell: row '.x00z'" "$check" dump --cells --to '\x00z' "$colons"
is_true 'one row' "$([ "$(grep -c 'cell: ' out)" = 1 ] && echo 1)"
expect 'an escape that is none' 2 '--rows takes FROM:TO, .*, not "a:b\\xZZ"; ' "$check" dump --rows 'a:b\xZZ' "$colons"
expect 'the same of one row' 2 '--from takes a row, .*, not ".x0"; ' "$check" dump --from '\x0' "$colons"
expect 'colons that may be any' 2 'kv-check dump: --rows takes FROM:TO, ' "$check" dump --rows user:1:user:2 "$colons"

# Damage is passed over.
cp "$victim" bad.sst
change bad.sst 100
expect 'a block' 1 "damage: ./bad.sst: data block at offset 0: checksum .*to row 'row00" "$check" dump bad.sst
grep -q "last row 'row0399'" out
is_true 'what follows' $((1 - $?))
cp db/MANIFEST bad
change bad 300
expect 'a record of the manifest' 1 'damage: .*bad is damaged at offset' "$check" dump bad
grep -q '^  *flushed: ' out
is_true 'edits behind it' $((1 - $?))

# Kept files and a log, for people and as JSON.
mkfifo pipe
"$shell" --no-took logged <pipe >/dev/null 2>&1 &
writer=$!
exec 3>pipe
printf '%s\n' 'create "t", "f"' 'put "t", "r", "f:q", "logged"' >&3
i=0
until grep -aq logged logged/*.log 2>/dev/null || [ $i -gt 200 ]; do
    sleep 0.05
    i=$((i + 1))
done
kill -9 $writer # a shell that ends leaves no log
wait $writer 2>/dev/null
exec 3>&-
for file in "$house"/tests/sstable/golden/*.sst "$house"/tests/engine/manifest/golden/* logged/*.log; do
    expect "$file" 0 'offset' "$check" dump --cells "$file"
    expect "$file" 0 '"files": ' "$check" dump --json --cells "$file"
    cp out "$(basename "$(dirname "$file")")-$(basename "$file").json"
done
for file in "$house"/tests/engine/manifest/golden/*; do
    "$check" dump "$file" >out
    is_true "$(basename "$file"): every item is known" "$(grep -q unknown out || echo 1)"
done
expect 'timestamps ahead of the clock' 0 'ahead: table 1, family 1, timestamp 1019$' "$check" dump "$house"/tests/engine/manifest/golden/MANIFEST-v1
if command -v python3 >/dev/null; then
    "$shell" --no-took texts -e 'create "t", {NAME => "f", METADATA => {"a" => "1", "b" => "2"}}' >/dev/null
    "$check" dump --json --cells texts >texts.json
    "$check" dump --json --cells db >db.json
    python3 - ./*.json <<'PYTHON'
import json, sys
def once(members):
    assert len(dict(members)) == len(members), members
    return dict(members)
for name in sys.argv[1:]:
    json.load(open(name), object_pairs_hook=once)
PYTHON
    is_true 'all the JSON can be read, and no object has a name twice' $((1 - $?))
fi
expect 'a log' 0 'type Put' "$check" dump --cells logged/*.log
cp logged/*.log newer.log
change newer.log 8
expect 'a version that is not read' 1 'records of this version are not known' "$check" dump newer.log

# Nothing of a file reaches the terminal as it is.
"$shell" --no-took hostile -e 'create "t", "f"; put "t", "\x1b[31mrow", "f:q", "\x07\x00\xff"; flush "t"' >/dev/null
expect 'bytes are escaped' 0 "row '.x1B\[31mrow', .*value '.x07.x00.xFF'" "$check" dump --cells "$(ls hostile/*.sst)"

expect_end
