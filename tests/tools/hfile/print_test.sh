#!/bin/sh
# print_test.sh -- kv-hfile print and check: what is in HFiles, for people and as JSON, also of
# damaged files and of those that are refused. tests/hfile compares every cell and block with what
# HBase says of them; this is the program.
#
#     tests/tools/hfile/print_test.sh KV-SHELL
#
# kv-hfile stands beside it.
set -u
shell=$(realpath "${1:?usage: print_test.sh KV-SHELL}")
hfile=$(dirname "$shell")/kv-hfile
[ -x "$hfile" ] || { echo "SKIPPED: kv-hfile is not built"; exit 0; }
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
golden=$PWD/tests/hfile/golden
cd "$scratch" || exit 1

# Facts, which are what is printed without an option.
expect facts 0 '^    cells: 264$' "$hfile" print -m "$golden/deletes-row.hfile"
cp out with-option
for fact in '    major version: 3' '    compression: NONE' '    encoding: NONE' '    bloom filter: ROW' "    first row: 'user00000'" \
    '    greatest timestamp: 1690000000010' '    family markers: 48' '    sequence id: 1234' '  general bloom filter' '  delete family bloom filter' '    keys: 120' '    hash: MURMUR'; do
    grep -q "^$fact$" out
    is_true "it says: $fact" $((1 - $?))
done
expect 'an entry of FILE_INFO' 0 "^  entry: 'MAX_SEQ_ID_KEY', = '.x00.x00.x00.x00.x00.x00.x04.xD2'$" "$hfile" print "$golden/deletes-row.hfile"
is_true 'the option is what is without it' "$(cmp -s out with-option && echo 1)"

# Cells, blocks, statistics, as HBase has them.
expect cells 0 "^  cell: row 'row', family 'cf', qualifier 'q', timestamp 1690000000000, type Put, value 'axa', sequence 5$" "$hfile" print -p "$golden/one-cell.hfile"
is_true 'no facts' "$(grep -q trailer out || echo 1)"
for file in deletes-row binary-keys grid-lz4-fastdiff-row-tags index-3-levels; do
    expect "cells of $file" 0 'cell: ' "$hfile" print --cells "$golden/$file.hfile"
    grep -c '^  cell: ' out >printed
    grep -vc '^#' "$golden/$file.cells.txt" >wanted
    diff wanted printed >out
    is_true "all of $file" $((1 - $?))
done
expect blocks 0 'block: offset 0, type DATA, stored 67, uncompressed 30, previous -1, checksum CRC32C$' "$hfile" print -b "$golden/one-cell.hfile"
is_true 'six of them' "$([ "$(grep -c '^  block: ' out)" = 6 ] && echo 1)"
expect statistics 0 '^    markers: 96$' "$hfile" print -s "$golden/deletes-row.hfile"
grep -q '^    rows: 120$' out
is_true 'rows' $((1 - $?))
expect 'all at once' 0 '^    markers: 96$' "$hfile" print -m -p -b -s "$golden/deletes-row.hfile"
expect 'a row' 0 "row 'user00007'" "$hfile" print -w user00007 "$golden/deletes-row.hfile"
is_true 'no other' "$(grep 'cell: ' out | grep -qv "row 'user00007'" || echo 1)"
row=$("$hfile" print -p "$golden/binary-keys.hfile" | sed -n "s/.*cell: row '\([^']*\\\\x[^']*\)'.*/\1/p" | head -1)
expect 'a row of bytes' 0 'cell: ' "$hfile" print -w "$row" "$golden/binary-keys.hfile"
expect 'a row that is not there' 0 'hfile' "$hfile" print -w nobody "$golden/deletes-row.hfile"
is_true 'no cell' "$(grep -q 'cell: ' out || echo 1)"
expect 'several files' 0 'empty.hfile' "$hfile" print "$golden/one-cell.hfile" "$golden/empty.hfile"
is_true 'both' "$([ "$(grep -c '^hfile$' out)" = 2 ] && echo 1)"
expect 'bytes are escaped' 0 '.x00' "$hfile" print -p "$golden/binary-keys.hfile"
is_true 'all of them' "$(grep -q '[^ -~]' out || echo 1)"

# What is refused is named; its facts can be seen. Damage is named, and what stands before it
# printed.
expect 'the facts of a refused file' 0 'MetaComparator' "$hfile" print "$golden/refuse-meta-comparator.hfile"
expect 'not its cells' 2 'MetaComparator, which is not that of user tables' "$hfile" print -p "$golden/refuse-meta-comparator.hfile"
cp "$golden/index-3-levels.hfile" damaged
flip damaged 20000
expect 'the facts of a damaged file' 0 'index levels: 3' "$hfile" print damaged
expect 'its cells' 1 'damaged: block at [0-9]*: its checksum is wrong' "$hfile" print -p damaged
is_true 'those before' "$([ "$(grep -c 'cell: ' out)" -gt 10 ] && echo 1)"
expect 'its blocks' 1 'right false$' "$hfile" print -b damaged
is_true 'one of them' "$([ "$(grep -c false out)" = 1 ] && echo 1)"
expect 'an HFile behind one that is none' 1 "^  file: $golden/one-cell.hfile" "$hfile" print "$golden/INDEX.txt" "$golden/one-cell.hfile"
expect 'cut off' 1 'cut-off' sh -c 'head -c 3000 damaged >cut-off; exec "$0" print cut-off' "$hfile"
expect 'nothing there' 2 'nowhere: No such file' "$hfile" print nowhere
expect 'a directory' 2 'is not a file' "$hfile" print .
expect 'no file' 2 'kv-hfile print: an argument is missing: FILE;' "$hfile" print -p
expect 'a wrong option' 2 'there is no option "-z"' "$hfile" print -z x
expect 'a row that is none' 2 '-w takes a row, .*, not ".x0"; ' "$hfile" print -w '\x0' x

# check.
expect 'sound files' 0 "^sound: $golden/deletes-row.hfile, cells 264, blocks [0-9]*, checksums [0-9]*, index entries 5, filter keys 168, rebuilt chunks 2$" \
    "$hfile" check "$golden/deletes-row.hfile" "$golden/empty.hfile"
expect 'damage' 1 '^damaged: damaged: block at [0-9]*: its checksum is wrong$' "$hfile" check "$golden/one-cell.hfile" damaged
expect 'quietly' 1 '^damaged: ' "$hfile" check --quiet "$golden/one-cell.hfile" damaged
is_true 'damage alone' "$([ "$(wc -l <out)" = 1 ] && echo 1)"
mkdir -p folder/cf
cp "$golden/one-cell.hfile" folder/cf/b
cp "$golden/deletes-row.hfile" folder/cf/a
expect 'a folder' 0 '^sound: folder/cf/b, cells 1,' "$hfile" check folder
is_true 'its files in order' "$([ "$(cut -c 1-18 out | tr '\n' ' ')" = 'sound: folder/cf/a sound: folder/cf/b ' ] && echo 1)"
cp damaged folder/cf/c
expect 'damage in it' 1 '^damaged: folder/cf/c: block' "$hfile" check "$golden/one-cell.hfile" folder
mkdir void
expect 'no file in it' 2 '^not checked: void: there is no HFile' "$hfile" check void
expect 'what is refused' 2 '^not checked: .*MetaComparator' "$hfile" check "$golden/refuse-meta-comparator.hfile"

# Help.
expect help 0 'usage: kv-hfile' "$hfile" --help
is_true 'in 80 columns' "$(grep -q '.\{81\}' out || echo 1)"
for command in print check import export; do
    expect "help of $command" 0 "^usage: kv-hfile $command" "$hfile" $command --help
    is_true 'in 80 columns' "$(grep -q '.\{81\}' out || echo 1)"
done
expect 'a wrong command' 2 'there is no command "prnt"; did you mean "print"?' "$hfile" prnt x

# JSON: of everything it is valid, the same each time, and has no name twice in an object.
if command -v python3 >/dev/null; then
    "$hfile" print --json -m -p -b -s "$golden"/*.hfile damaged nowhere cut-off >all.json 2>/dev/null
    "$hfile" print --json -m -p -b -s "$golden"/*.hfile damaged nowhere cut-off >again.json 2>/dev/null
    "$hfile" check --json "$golden"/*.hfile damaged nowhere cut-off >checked.json 2>/dev/null
    is_true 'the same each time' "$(cmp -s all.json again.json && echo 1)"
    python3 - all.json checked.json "$golden" >out 2>&1 <<'PYTHON'
import glob, json, os, sys
def once(members):
    assert len(dict(members)) == len(members), members
    return dict(members)
files, checked = [{os.path.basename(f["file"]): f for f in json.load(open(name), object_pairs_hook=once)["files"]} for name in sys.argv[1:3]]
names = {os.path.basename(n) for n in glob.glob(sys.argv[3] + "/*.hfile")} | {"damaged", "nowhere", "cut-off"}
assert set(files) == names, names ^ set(files)
assert len(checked) == len(names), checked.keys()
for name, file in files.items():
    fails = name.startswith("refuse") or name in ("damaged", "nowhere", "cut-off")
    assert ("error" in file) == fails, (name, file.get("error"))
    assert (checked[name]["kind"] == "sound") == (not fails), checked[name]
    if not fails:
        lines = [l for l in open(sys.argv[3] + "/" + name[:-5] + "cells.txt") if not l.startswith("#")]
        assert len(file["cells"]) == len(lines) == file["trailer"]["cells"] == file["statistics"]["cells"], name
PYTHON
    is_true 'the JSON says it all' $((1 - $?))
fi

expect_end
