#!/bin/sh
# shell_test.sh -- kv-shell's import_hfiles, export_hfiles and bulk_load: a table goes to HBase, and
# comes from it.
#
#     tests/tools/hfile/shell_test.sh KV-SHELL
#
# kv-hfile stands beside it.
set -u
shell=$(realpath "${1:?usage: shell_test.sh KV-SHELL}")
hfile=$(dirname "$shell")/kv-hfile
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
golden=$PWD/tests/hfile/golden
cd "$scratch" || exit 1

# run DATABASE COMMANDS
run() {
    "$shell" --no-compaction --no-took --create "$1" -e "$2"
}

make_table db t
if [ ! -x "$hfile" ]; then
    expect 'not built' 1 'was built without the libraries' run db "export_hfiles 't', 'out'"
    expect 'not built' 1 'was built without the libraries' run db "import_hfiles 't', 'out'"
    echo "SKIPPED: the rest: kv-hfile is not built"
    expect_end
    exit
fi

# There and back.
expect 'export' 0 '^988 cells exported to 3 files, ' run db "export_hfiles 't', 'plain'"
expect 'import' 0 '^988 cells imported, [0-9]* of them markers, from 3 files$' run away "import_hfiles 't', 'plain'"
grep -q 'VERSIONS without limit' out
is_true 'it says what is not known' $((1 - $?))
same 'both ways' db t away t
expect 'with all options' 0 'exported' run db \
    "export_hfiles 't', 'options', {CODEC => 'LZ4', ENCODING => 'FAST_DIFF', BLOOMFILTER => 'ROWCOL', SPLITS => ['row0100', 'row0200'], SPLIT_SIZE => '1 MB'}"
is_true 'cut' "$([ "$(find options/a -type f | wc -l)" -ge 3 ] && echo 1)"
# A table's first region in HBase begins with a row without bytes.
expect 'splits as HBase lists them' 0 '^988 cells exported to [6-8] files, ' run db "export_hfiles 't', 'from-the-first', {SPLITS => ['', 'row0100', 'row0200']}"
"$hfile" print options/a/* >printed
is_true 'as they say' "$(grep -q 'compression: LZ4' printed && grep -q 'encoding: FAST_DIFF' printed && grep -q 'bloom filter: ROWCOL' printed && echo 1)"
expect 'bulk_load is the same' 0 'cells imported' run away "bulk_load 't2', 'options'"
same 'that, too' db t away t2
expect 'visible' 0 'exported' run db "export_hfiles 't', 'visible', {VISIBLE => true}"
expect 'several paths' 0 ' 0 of them markers' run away "import_hfiles 't3', 'visible/a', 'visible/b'"
"$shell" --no-compaction --no-took --read-only db -e "scan 't', {VERSIONS => 5}" >seen
"$shell" --no-compaction --no-took --read-only away -e "scan 't3', {VERSIONS => 5}" | diff seen - >out
is_true 'what readers saw' $((1 - $?))

# What does not fit, and what cannot be done.
expect 'tags' 3 'a tag that Petal has no place for' run away "import_hfiles 'tags', '$golden/tags-none.hfile'"
expect 'no table came of it' 1 'tags' run away "describe 'tags'"
expect 'without them' 0 '568 tags are dropped' run away "import_hfiles 'tags', '$golden/tags-none.hfile', {DROP_TAGS => true}"
expect 'equal keys' 0 '57 cells had been replaced' run away "import_hfiles 'equal', '$golden/equal-keys.hfile'"
expect 'a family that it has not' 1 'the table has no such family' run away "import_hfiles 't', '$golden/one-cell.hfile'"
same 'the table is as it was' db t away t
expect 'a namespace that is not there' 1 'Unknown namespace n!' run away "import_hfiles 'n:t', 'plain'"
expect 'one that is' 0 '^988 cells imported' run away "create_namespace 'n'; import_hfiles 'n:t', 'plain'"
expect 'its table' 0 '^t$' run away "list_namespace_tables 'n'"
expect 'a disabled table' 2 'Table t is disabled!' run away "disable 't'; import_hfiles 't', 'plain'"
expect 'a name that is none' 2 'llegal' run away "import_hfiles 't t', 'plain'"
expect 'nothing there' 1 'No such file' run away "import_hfiles 'never', 'nowhere'"
expect 'no path' 2 'wrong number of arguments' run away "import_hfiles 'never'"
expect 'a path that is none' 2 'path of a file or folder must be text' run away "import_hfiles 'never', 5"
expect 'a word that it does not know' 2 'has no option CODEC' run away "import_hfiles 'never', 'plain', {CODEC => 'GZ'}"
expect 'no table' 1 'never' run away "export_hfiles 'never', 'never'"
expect 'a directory that is not empty' 2 'the folder is not empty' run db "export_hfiles 't', 'plain'"
expect 'no codec' 2 'LZMA' run db "export_hfiles 't', 'never', {CODEC => 'LZMA'}"
expect 'no size' 2 'a size such as' run db "export_hfiles 't', 'never', {SPLIT_SIZE => 'x'}"
expect 'rows that go back' 2 "split key 2, 'a', is not greater than the one before it, 'b'" run db "export_hfiles 't', 'never', {SPLITS => ['b', 'a']}"
expect 'a row that is a list' 2 'The row must be a string, not Array' run db "export_hfiles 't', 'never', {SPLITS => [['a'], 'b']}"
expect 'no rows' 2 'it must be a list of rows' run db "export_hfiles 't', 'never', {SPLITS => 'x'}"
is_true 'nothing came of these' "$([ ! -e never ] && echo 1)"
expect 'read only' 3 'read-only' "$shell" --no-compaction --no-took --read-only away -e "import_hfiles 'never', 'plain'"
expect 'reading' 0 'exported' "$shell" --no-compaction --no-took --read-only db -e "export_hfiles 't', 'read'"

expect_end
