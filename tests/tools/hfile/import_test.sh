#!/bin/sh
# import_test.sh -- kv-hfile import: HFiles of files, folders and tables become a table, all cells
# or none, and what does not fit is named. tests/hfile/exchange/exchange_test.c does it through the
# header; this is the program.
#
#     tests/tools/hfile/import_test.sh KV-SHELL
#
# kv-hfile stands beside it.
set -u
shell=$(realpath "${1:?usage: import_test.sh KV-SHELL}")
hfile=$(dirname "$shell")/kv-hfile
[ -x "$hfile" ] || { echo "SKIPPED: kv-hfile is not built"; exit 0; }
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
golden=$PWD/tests/hfile/golden
table_info=$PWD/tests/hfile/exchange/golden/tableinfo
cd "$scratch" || exit 1

# Files that HBase wrote, one by one; all four kinds of markers are among these cells.
expect 'a file' 0 '^imported: files 1, cells 264, markers 96, cell bytes 6776$' "$hfile" import db markers "$golden/deletes-row.hfile"
expect 'no attributes are known' 0 'VERSIONS without limit' "$hfile" import other markers "$golden/deletes-row.hfile"
is_true 'every cell is there' "$([ "$(raw db markers | grep -c column=)" = 264 ] && echo 1)"
for kind in Delete DeleteColumn DeleteFamily DeleteFamilyVersion; do
    raw db markers | grep -q "type=$kind$"
    is_true "$kind is there" $((1 - $?))
done
expect 'as JSON' 0 '"markers": 96' "$hfile" import --json other again "$golden/deletes-row.hfile"
grep -q '"table_is_new": true' out
is_true 'the table is new' $((1 - $?))
expect 'quietly' 0 '^$' sh -c '"$@"; echo' sh "$hfile" import --quiet other quiet "$golden/deletes-row.hfile"
is_true 'nothing else is said' "$([ "$(wc -c <out)" = 1 ] && echo 1)"
expect 'of equal keys the latest' 0 'cells 4, .*superseded 57$' "$hfile" import other equal "$golden/equal-keys.hfile"
expect 'a file without cells' 0 'files 2, empty files 1, cells 1,' "$hfile" import other one "$golden/one-cell.hfile" "$golden/empty.hfile"
expect 'several codecs and encodings' 0 'files 5,' "$hfile" import other grid "$golden/grid-gz-none-rowcol.hfile" "$golden/grid-lz4-none-row.hfile" \
    "$golden/grid-snappy-none-nobloom.hfile" "$golden/grid-none-fastdiff-nobloom.hfile" "$golden/grid-gz-prefix-row-mvcc.hfile"

# Tags are named, or dropped and counted.
expect 'tags' 2 'tags-none.hfile: row .user00000., column .cf:., timestamp [0-9]*: it has a tag that Petal has no place for' \
    "$hfile" import db tags "$golden/tags-none.hfile"
grep -q 'nothing was imported' out
is_true 'it says that nothing is there' $((1 - $?))
expect 'tags dropped' 0 'dropped tags 568' "$hfile" import --drop-tags db tags "$golden/tags-none.hfile"

# What cannot be taken; the database stays as it was, table by table.
before=$(tables db)
expect 'refused by name' 2 'MetaComparator' "$hfile" import db refused "$golden/refuse-meta-comparator.hfile"
expect 'cells that Petal cannot take' 2 'timestamps-extreme.hfile: row .row0., .*a deletion has a value' "$hfile" import db refused "$golden/timestamps-extreme.hfile"
expect 'nothing there' 2 'nowhere' "$hfile" import db refused nowhere
mkdir void
expect 'no file in it' 2 'there is no HFile in the folder' "$hfile" import db refused void
expect 'no cells at all' 2 'no family is known' "$hfile" import db refused "$golden/empty.hfile"
expect 'something else' 1 'place.sh' "$hfile" import db refused "$OLDPWD/tests/tools/hfile/place.sh"
reference=0123456789abcdef0123456789abcdef.fedcba9876543210fedcba9876543210
link='table=0123456789abcdef0123456789abcdef-fedcba9876543210fedcba9876543210'
cp "$golden/one-cell.hfile" $reference
cp "$golden/one-cell.hfile" "$link"
expect 'a reference that is none' 1 'this is not a reference to half of a file' "$hfile" import db refused $reference
expect 'a link to nowhere' 2 "neither in data nor in archive/data: 'default/table/0123456789abcdef0123456789abcdef/.*/fedcba9876543210fedcba9876543210'" "$hfile" import db refused "$link"
expect 'no paths' 2 'kv-hfile import: an argument is missing: PATH;' "$hfile" import db refused
expect 'a wrong option' 2 'there is no option "--fast"' "$hfile" import --fast db refused x
expect 'a namespace that is not there' 2 'Unknown namespace n!' "$hfile" import db n:t "$golden/one-cell.hfile"
is_true 'no table came of it' "$([ "$before" = "$(tables db)" ] && echo 1)"
expect "no database came of it" 2 "nothing was imported" "$hfile" import neither refused "$golden/refuse-meta-comparator.hfile"
"$shell" --no-took spaces -e 'create_namespace "n"' >/dev/null
expect 'a namespace that is there' 0 'cells 1,' "$hfile" import spaces n:t "$golden/one-cell.hfile"
expect 'its table' 0 'cells 1,' "$hfile" import spaces n:t "$golden/one-cell.hfile"
is_true 'none, indeed' "$([ ! -e neither ] && echo 1)"

# A damaged file behind sound ones: none of them is there, be the table old or new.
cp "$golden/value-1mb-lz4.hfile" damaged
flip damaged 3000
expect 'a damaged file' 1 'damaged: block at [0-9]*: its checksum is wrong' "$hfile" import db refused "$golden/deletes-row.hfile" damaged
is_true 'no table came of it' "$([ "$before" = "$(tables db)" ] && echo 1)"
raw db markers >kept.raw
expect 'into a table that is there' 1 'its checksum is wrong' "$hfile" import db markers "$golden/one-cell.hfile" damaged
raw db markers | diff kept.raw - >out
is_true 'it is as it was' $((1 - $?))
expect 'the database is sound' 0 '^sound$' "$(dirname "$shell")/kv-check" verify db
expect 'into a database that is not there' 1 'its checksum is wrong' "$hfile" import neither refused damaged
is_true 'none is made' "$([ ! -e neither ] && echo 1)"
mkdir neither
expect 'into an empty directory' 1 'its checksum is wrong' "$hfile" import neither refused damaged
is_true 'it stays, and empty' "$(rmdir neither && echo 1)"

# A table that is there has its own attributes, and its families.
"$shell" --no-compaction --no-took db -e "create 'narrow', {NAME => 'cf', VERSIONS => 1}, 'x'; create 'strange', 'x'; put 'narrow', 'user00000', 'x:y', 'kept'" >/dev/null
expect 'a table that is there' 0 'cells 264' "$hfile" import db narrow "$golden/deletes-row.hfile"
is_true 'attributes stay without a note' "$(grep -q "note: [^r]" out || echo 1)"
expect 'its attributes' 0 "NAME => 'cf', .*VERSIONS => '1'" "$shell" --no-compaction --no-took db -e "describe 'narrow'"
expect 'its cells' 0 'value=kept' "$shell" --no-compaction --no-took db -e "get 'narrow', 'user00000', 'x:y'"
expect 'a family that it has not' 2 "column 'cf:.*the table has no such family" "$hfile" import db strange "$golden/deletes-row.hfile"
is_true 'it stays empty' "$([ "$(raw db strange | grep -c column=)" = 0 ] && echo 1)"

# There and back again: by a family's folder, and a table's with its .tableinfo.
make_table home t
expect 'export' 0 '^exported' "$hfile" export home t out-of-home
expect 'a folder of families' 0 'files [23], ' "$hfile" import away t out-of-home
same 'both ways' home t away t
expect 'a folder of a family' 0 'cells 104, markers 6,' "$hfile" import away b out-of-home/b
"$shell" --no-compaction --no-took t1 -e "create 't1', 'a', {NAME => 'bc'}; put 't1', 'r', 'a:q', 'v', 5; put 't1', 'r', 'bc:q', 'w', 6" >/dev/null
"$hfile" export --quiet t1 t1 t1-out
mkdir -p table/.tabledesc table/0123456789abcdef0123456789abcdef/recovered.edits table/.tmp
cp "$table_info" table/.tabledesc/.tableinfo.0000000001.1000
cp -r t1-out/* table/0123456789abcdef0123456789abcdef
echo nothing >table/0123456789abcdef0123456789abcdef/.regioninfo
expect 'a region that is none' 1 'regioninfo: this is not a description of a region' "$hfile" import tables t1 table
rm table/0123456789abcdef0123456789abcdef/.regioninfo
edits=table/0123456789abcdef0123456789abcdef/recovered.edits/0000000000000000001
echo nothing >$edits
expect 'writes that are in no file' 2 "$edits: this holds writes that are in no HFile" "$hfile" import tables t1 table
expect 'not wanted' 0 '^imported: files 2, cells 2, markers 0, cell bytes [0-9]*, dropped edits 1$' "$hfile" import --drop-edits tables t0 table
rm $edits
expect 'a folder of a table' 0 '^imported: files 2, cells 2, markers 0' "$hfile" import tables t1 table
is_true 'its attributes are known' "$(grep -q 'nothing told' out || echo 1)"
expect 'VERSIONS of its .tableinfo' 0 "NAME => 'a', .*VERSIONS => '4'.*BLOOMFILTER => 'ROWCOL'" "$shell" --no-compaction --no-took tables -e "describe 't1'"
same 'its cells' t1 t1 tables t1

# Folders of HBase after splits and compactions (tests/hfile/exchange/hbase_test.c compares the cells).
kept=$golden/../exchange/golden/hbase
expect 'a region that was split' 0 '^imported: files 2, cells 25, .* split regions 1$' "$hfile" import tables split "$kept/.hbase-snapshot/split"
is_true 'and why it is left out' "$(grep -q '^split regions: left out: they were split or merged' out && echo 1)"
expect 'files that were compacted' 0 '^imported: files 1, cells 2, .* compacted files 2$' "$hfile" import tables compacted "$kept/data/default/compacted"
expect 'regions that overlap' 2 'regions overlap: .*data/default/split/.* and .*data/default/split/' "$hfile" import tables refused "$kept/data/default/split"
expect 'folders of families in them' 2 'regions overlap: .*data/default/split/.* and .*data/default/split/' "$hfile" import tables refused "$kept"/data/default/split/*/f
expect 'of regions that say that they were split' 0 '^imported: files 2, cells [0-9]*, .* split regions 2$' "$hfile" import tables merging "$kept"/data/default/merging/*/f
is_true 'regions were looked at' "$(grep -q note:.regions out || echo 1)"
expect 'single files' 0 '^note: regions were not looked at for single files' "$hfile" import tables files "$kept"/data/default/split/*/f/*
expect 'as JSON' 0 '"files_without_region": 3,' "$hfile" import --json tables files2 "$kept"/data/default/split/*/f/*
cp -r "$kept/data/default/compacted" edits
echo edits >"$(echo edits/*/recovered.edits)/0000000000000000007"
expect 'a family beside edits' 2 'recovered.edits/0000000000000000007: this holds writes that are in no HFile' "$hfile" import tables refused edits/*/f
expect 'without them' 0 'cells 2, .* dropped edits 1, compacted files 2$' "$hfile" import --drop-edits tables edits edits/*/f edits/*
expect 'seen from the region' 2 'this holds writes' sh -c "cd edits/* && exec '$hfile' import ../../tables refused f"
expect 'a folder of tables' 2 "data/default: this holds several tables: name one, such as '[a-z_]*'$" "$hfile" import tables refused "$kept/data/default"
expect 'a folder of snapshots' 2 "hbase-snapshot/: this holds several snapshots: name one, such as '[a-z_]*'$" "$hfile" import tables refused "$kept/.hbase-snapshot/"
expect 'snapshots beside tables' 2 'several snapshots: name one, such as .hbase-snapshot/[a-z]' "$hfile" import tables refused "$kept"
deep=$scratch/$(printf '%0100d/%0100d' 1 2)
mkdir -p "$deep"
cp -r "$kept/data/default/split" "$deep"
expect 'regions with long names that overlap' 2 "regions overlap: 'split/[0-9a-f]*' and 'split/[0-9a-f]*'.*; single files are taken as they are$" "$hfile" import tables refused "$deep/split"
expect 'values in MOB files' 2 'its value is in a MOB file' "$hfile" import --drop-tags tables refused "$kept/data/default/mob"
expect 'halves, each checked once' 0 '^sound' "$hfile" check "$kept/.hbase-snapshot/merging"

cat >describe.txt <<'DESCRIBE'
Table t1 is ENABLED
t1
COLUMN FAMILIES DESCRIPTION
{NAME => 'a', VERSIONS => '7', TTL => 'FOREVER', BLOOMFILTER => 'NONE'}

{NAME => 'bc', VERSIONS => '2', BLOOMFILTER => 'ROW'}
2 row(s)
DESCRIBE
expect 'with what describe said' 0 'cells 2' "$hfile" import --describe describe.txt tables t2 t1-out
expect 'VERSIONS of the text' 0 "NAME => 'a', .*VERSIONS => '7'.*BLOOMFILTER => 'NONE'" "$shell" --no-compaction --no-took tables -e "describe 't2'"
expect 'a text that is not there' 2 'nowhere.*No such file' "$hfile" import --describe nowhere tables t3 t1-out
echo nonsense >nonsense.txt
expect 'a text that is none' 1 'nonsense.txt' "$hfile" import --describe nonsense.txt tables t3 t1-out

# A disk that is full.
expect 'little room' 2 'File too large' with_little_room 8 "$hfile" import full t out-of-home
is_true 'no database is left' "$([ ! -e full ] && echo 1)"
before=$(tables db)
expect 'little room in a database' 2 'nothing was imported' with_little_room 8 "$hfile" import db full out-of-home
is_true 'no table is left' "$([ "$before" = "$(tables db)" ] && echo 1)"

# Ctrl-C at any time: all, or nothing.
awk 'BEGIN { print "create \x27big\x27, \x27a\x27"
    value = sprintf("%4000s", "x")
    for (row = 0; row < 9000; row++) printf "put \x27big\x27, \x27row%06d\x27, \x27a:q\x27, \x27%s\x27, 5\n", row, value }' |
    "$shell" --no-compaction --no-took big >made 2>&1
"$hfile" export --quiet --codec NONE big big big-out
"$shell" --no-compaction --no-took there -e "create 'old', 'a'" >/dev/null
for pause in 0 0.02 0.05 0.1 0.2; do
    interrupt $pause "$hfile" import there big big-out
    status=$?
    [ $status = 2 ] && grep -q 'given up' out && status=3
    names=$(tables there | grep -c "^big$")
    files=$(find there -name '*.sst' | wc -l)
    is_true "interrupted after $pause s: status $status, tables $names, files $files" \
        "$({ [ $status = 3 ] && [ "$names" = 0 ] && [ "$files" = 0 ]; } || { [ $status = 0 ] && [ "$names" = 1 ]; } && echo 1)"
    [ "$names" = 0 ] || "$shell" --no-compaction --no-took there -e "disable 'big'; drop 'big'" >/dev/null
done
# However fast it is, it waits here for what describe said.
for place in there fresh; do
    mkfifo pipe
    "$hfile" import --describe pipe $place big big-out >out 2>&1 &
    process=$!
    interrupt_process $process
    echo "{NAME => 'a'}" >pipe
    wait $process
    is_true "interrupted, into $place" "$([ $? = 2 ] && grep -q 'given up' out && echo 1)"
    rm pipe
done
is_true 'no table is left' "$(tables there | grep -q '^big$' || echo 1)"
is_true 'no database is left that was made for it' "$([ ! -e fresh ] && echo 1)"

expect_end
