#!/bin/sh
# salvage_test.sh -- kv-check salvage: what can be read comes into a new database, what cannot is
# told, and nothing is written into the old one. tests/engine/check/sweep_test.c does it to many
# databases; this is the program.
#
#     tests/tools/check/salvage_test.sh KV-SHELL
#
# kv-check stands beside it.
set -u
shell=$(realpath "${1:?usage: salvage_test.sh KV-SHELL}")
check=$(dirname "$shell")/kv-check
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
cd "$scratch" || exit 1

make_database db
show() {
    "$shell" --no-took --read-only "$1" -e "scan 'big', {RAW => true, VERSIONS => 9}; scan 'other', {RAW => true, VERSIONS => 9}; describe 'big'; list_snapshots" |
        sed 's/([0-9-]* [0-9:]* [+-][0-9]*)/(DATE)/'
}
show db >whole.txt
before=$(state_of db)
expect 'a sound database' 0 'all was written: [0-9]* cells$' "$check" salvage db copy
is_true 'nothing was written into it' "$([ "$before" = "$(state_of db)" ] && echo 1)"
expect 'the copy is sound' 0 '^sound$' "$check" verify copy
show copy >copy.txt
is_true 'the copy says the same' "$(diff whole.txt copy.txt >out && echo 1)"

"$shell" --create one -e "create 't', 'f'; put 't', 'r', 'f:q', 'v'" >out
expect 'a database of one cell' 0 'all was written: 1 cell$' "$check" salvage one one-saved

# Where to?
expect 'the directory is taken' 2 'is a directory that is not empty' "$check" salvage db copy
before=$(state_of db)
expect 'into itself' 2 'lies in db, the directory that is salvaged' "$check" salvage db db/inside
ln -s "$PWD/db" link
expect 'over a link' 2 'link/inside lies in db, the directory that is salvaged' "$check" salvage db link/inside
expect 'from a link' 2 'db/inside lies in link, the directory that is salvaged' "$check" salvage link db/inside
expect 'by a path from there' 2 'inside lies in ../db, the directory that is salvaged' sh -c 'cd db && "$0" salvage ../db inside' "$check"
expect 'as it is' 2 'db lies in db, the directory that is salvaged' "$check" salvage db db
expect 'around it' 2 'is a directory that is not empty' "$check" salvage db .
is_true 'nothing was written' "$([ "$before" = "$(state_of db)" ] && echo 1)"
expect 'nothing there' 2 'there is no database' "$check" salvage nowhere other
is_true 'no directory is made for it' "$([ ! -e other ] && echo 1)"
expect 'too few words' 2 'kv-check salvage: an argument is missing: DESTINATION;' "$check" salvage db

# One block of a store file: its rows are named, and no others are missing.
victim=$(basename "$(ls -S db/*.sst | head -1)")
cp -rp db bad
change "bad/$victim" 100
expect 'of links that have become copies the whole one is read' 1 "bad/$victim is damaged or missing; bad/.*sst is the same file, and was read in its place" \
    "$check" salvage bad better
show better >better.txt
is_true 'nothing is lost' "$(diff whole.txt better.txt >out && echo 1)"
# What a compaction dropped does not come back from a log that still has it while a link is whole.
mkfifo lines
"$shell" --create killed <lines >told 2>&1 &
killed=$!
exec 3>lines
printf '%s\n' "create 'v', {NAME => 'f', VERSIONS => 1}" "create 'w', 'f'" "put 'w', 'a', 'f:q', 'keeps the log'" \
    "put 'v', 'r', 'f:q', 'old'" "put 'v', 'r', 'f:q', 'new'" "flush 'v'" "major_compact 'v'" "snapshot 'v', 's'" "puts 'all done'" >&3
for _ in $(seq 300); do
    grep -q 'all done' told && break
    sleep 0.1
done
kill -9 "$killed"
wait "$killed" 2>/dev/null || true
exec 3>&-
is_true 'the log still has it' "$(grep -qa old killed/*.log && echo 1)"
cp -rp killed revived
change "revived/$(basename "$(ls killed/*.sst | head -1)")" 60
expect 'the link is read' 1 'revived/.*sst is the same file, and was read in its place' "$check" salvage revived kept
expect 'what was dropped stays dropped' 0 '^1 row.s.$' "$shell" --no-took --read-only kept -e "scan 'v', {RAW => true, VERSIONS => 9}"
is_true 'its version is gone' "$("$shell" --no-took --read-only kept -e "scan 'v', {RAW => true, VERSIONS => 9}" | grep -q value=old || echo 1)"
# A file that was cut off between two blocks has no damaged one; the manifest tells how many cells
# it had.
cp -rp db cut
truncate -s "$("$check" dump "cut/$victim" | sed -n 's/^ *data block: offset \([0-9]*\),.*/\1/p' | sed -n 3p)" "cut/$victim"
expect 'and where a file was cut off' 1 "cut/$victim: [0-9]* of its 400 cells are not there, table 'big'" "$check" salvage cut uncut
show uncut >uncut.txt
is_true 'nothing of it is lost' "$(diff whole.txt uncut.txt >out && echo 1)"
for link in cut/*.sst; do
    cmp -s "$link" "db/$victim" && truncate -s "$(wc -c <"cut/$victim")" "$link"
done
expect 'without one, what is missing is told' 1 "cut/$victim: [0-9]* of its 400 cells are not there, table 'big', family 'f', from row 'row01" "$check" salvage cut short
for link in bad/*.sst; do
    cmp -s "$link" "db/$victim" && change "$link" 100
done
rm bad/MANIFEST
before=$(state_of bad)
expect 'a block, and the manifest' 1 "fault: bad/$victim: data block at offset 0: .*table 'big', family 'f', from row 'row0000', to row 'row00" \
    "$check" salvage bad saved
is_true 'nothing was written into the bad one' "$([ "$before" = "$(state_of bad)" ] && echo 1)"
grep -q 'fault: bad/MANIFEST is missing' out
is_true 'the manifest is told' $((1 - $?))
grep -q "note: bad: a table is made from what store files .*table 'other'" out
is_true 'so is what its lack costs' $((1 - $?))
expect 'what was saved is sound' 0 '^sound$' "$check" verify saved
"$shell" --no-took saved -e "scan 'big', {COLUMNS => ['f:a']}" >saved.txt
grep -q 'row0449 column=f:a' saved.txt
is_true 'rows behind the damage' $((1 - $?))
expect 'as JSON' 1 '"written": true' "$check" salvage --json bad again
if command -v python3 >/dev/null; then
    python3 -c 'import json; f = json.load(open("out")); assert len(f["lost"]) >= 2 and f["counts"]["cells"] > 400, f'
    is_true 'the JSON can be read' $((1 - $?))
fi

# Files that know no table: each becomes one.
mkdir nameless
cp "$OLDPWD/tests/sstable/golden/sst-v1.sst" nameless/000007.sst
expect 'a file of version 1 by itself' 1 'all that could be read was written' "$check" salvage nameless named
expect 'it has a name' 0 'salvaged-000007' "$shell" --no-took named -e list

expect_end
