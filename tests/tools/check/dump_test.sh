#!/bin/sh
# dump_test.sh -- kv-check dump: each kind of file part by part, of all versions that are read, damaged parts named and passed over.
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
expect 'a row alone' 0 "cell: row 'row0060', qualifier 'a', timestamp 1060, sequence 61, type Put, value 'value 60'" \
    "$check" dump --cells --rows row0060:row0060 "$victim"
is_true 'no other' "$([ "$(grep -c 'cell: ' out)" = 1 ] && echo 1)"
expect brief 0 'least row' "$check" dump --brief "$victim"
is_true 'no blocks' "$(grep -q 'data block:' out || echo 1)"
expect 'so many blocks' 0 'data block: offset 0' "$check" dump --limit 1 "$victim"
is_true 'one' "$([ "$(grep -c 'offset.*stored' out)" = 1 ] && echo 1)"
expect 'the manifest' 0 "create table: table 1, name 'big'" "$check" dump db/MANIFEST
expect 'all of it' 0 '^manifest$' "$check" dump db
is_true 'nothing was written' "$([ "$before" = "$(state_of db)" ] && echo 1)"
expect 'nothing there' 2 'No such file' "$check" dump nowhere
expect 'no file' 2 'usage: kv-check dump' "$check" dump --cells

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

# All versions, for people and as JSON.
for file in "$house"/tests/sstable/golden/*.sst "$house"/tests/engine/manifest/golden/* "$house"/tests/engine/wal/golden/v2-database/*; do
    expect "$file" 0 'offset' "$check" dump --cells "$file"
    expect "$file" 0 '"files": ' "$check" dump --json --cells "$file"
    cp out "$(basename "$(dirname "$file")")-$(basename "$file").json"
done
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; [json.load(open(name)) for name in sys.argv[1:]]' ./*.json
    is_true 'all the JSON can be read' $((1 - $?))
fi
expect 'a log of version 2' 0 'type Put' "$check" dump --cells "$house"/tests/engine/wal/golden/v2-database/*.log
expect 'a version that is not read' 1 'records of this version are not known' "$check" dump "$house/tests/engine/wal/golden/wal-v1.log"

# Nothing of a file reaches the terminal as it is.
"$shell" --no-took hostile -e 'create "t", "f"; put "t", "\x1b[31mrow", "f:q", "\x07\x00\xff"; flush "t"' >/dev/null
expect 'bytes are escaped' 0 "row '.x1B\[31mrow', .*value '.x07.x00.xFF'" "$check" dump --cells "$(ls hostile/*.sst)"

expect_end
