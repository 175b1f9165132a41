#!/bin/sh
# export_test.sh -- kv-hfile export: a table becomes HFiles, cut where it is asked for, in every
# codec and encoding, which import reads back as the same table; what fails leaves nothing.
# tests/interop has HBase read them; this is the program.
#
#     tests/tools/hfile/export_test.sh KV-SHELL
#
# kv-hfile stands beside it.
set -u
shell=$(realpath "${1:?usage: export_test.sh KV-SHELL}")
hfile=$(dirname "$shell")/kv-hfile
[ -x "$hfile" ] || { echo "SKIPPED: kv-hfile is not built"; exit 0; }
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
cd "$scratch" || exit 1

make_table db t
# files DIRECTORY: how many there are.
files() {
    find "$1" -type f | wc -l
}

# Every codec with every encoding and filter, read back.
number=0
for codec in NONE GZ LZ4 SNAPPY ZSTD; do
    "$hfile" export --help | grep -q "$codec" || continue
    for encoding in NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1; do
        case $((number % 3)) in 0) bloom=NONE ;; 1) bloom=ROW ;; *) bloom=ROWCOL ;; esac
        number=$((number + 1))
        expect "$codec $encoding $bloom" 0 '^exported: files' "$hfile" export --codec $codec --encoding $encoding --bloom $bloom db t out-$number
        "$hfile" print out-$number/a/* >printed
        is_true "it is so: $codec $encoding $bloom" \
            "$(grep -q "compression: $codec" printed && grep -q "encoding: $encoding" printed && grep -q "bloom filter: $bloom" printed && echo 1)"
        expect 'all of it is right' 0 '^sound' "$hfile" check out-$number/a/* out-$number/b/*
        "$hfile" import --quiet back t$number out-$number
        same "read back: $codec $encoding $bloom" db t back t$number
    done
done

# Like the family, unless a filter is asked for; nothing else beside the families' folders.
expect 'no database' 2 '^kv-hfile: there is no database in nowhere$' "$hfile" export nowhere t nothing
expect 'nor for a snapshot' 2 '^kv-hfile: there is no database in nowhere$' "$hfile" export --snapshot s nowhere t nothing
expect 'like the families' 0 'files [23], cells 988, ' "$hfile" export db t like
is_true 'two folders' "$([ "$(ls like)" = "$(printf 'a\nb')" ] && echo 1)"
is_true 'names as HBase gives them' "$(find like -type f | grep -qv '/[0-9a-f]\{32\}$' || echo 1)"
expect 'ROWCOL of b' 0 'bloom filter: ROWCOL' "$hfile" print "$(ls like/b/*)"
expect 'GZ as HBase always has it' 0 'compression: GZ' "$hfile" print "$(ls like/b/*)"
expect 'as JSON' 0 '"cells": 988' "$hfile" export --json db t json
expect 'quietly' 0 '^$' sh -c '"$@"; echo' sh "$hfile" export --quiet db t quiet
is_true 'nothing else is said' "$([ "$(wc -c <out)" = 1 ] && echo 1)"

# Cuts: at regions, and by size.
expect 'split keys' 0 'files [6-8], ' "$hfile" export --split-keys 'row0100,row0200\x00' db t regions
for file in regions/*/*; do
    "$hfile" print "$file" | sed -n "s/^    \(first\|last\) row: '\(.*\)'/\2/p" | tr '\n' ' ' >rows
    read -r first last <rows
    is_true "no region's end in it: $first $last" "$(awk -v first="$first" -v last="$last" 'BEGIN { inside = (first < "row0100" && last >= "row0100") || (first <= "row0200" && last > "row0200"); print !inside }')"
done
"$hfile" import --quiet back regions regions
same 'regions together' db t back regions
# Without split keys at the table's own regions.
"$shell" db -e "create 'own', 'a', 'b', SPLITS => ['row0100', 'row0200']" >/dev/null
"$hfile" import --quiet db own regions
expect 'own regions' 0 'files [6-8], ' "$hfile" export db own own-regions
for file in own-regions/*/*; do
    "$hfile" print "$file" | sed -n "s/^    \(first\|last\) row: '\(.*\)'/\2/p" | tr '\n' ' ' >rows
    read -r first last <rows
    is_true "no own region's end in it: $first $last" "$(awk -v first="$first" -v last="$last" 'BEGIN { inside = (first < "row0100" && last >= "row0100") || (first < "row0200" && last >= "row0200"); print !inside }')"
done
"$hfile" import --quiet back own own-regions
same 'own regions together' db own back own
# Several regions at a time: each file, and the counts, are as one thread writes them, which a table
# of one region has. Regions differ in size, one is empty, and some cells have times to live.
# put_rows TABLE FIRST END: of the rows from FIRST to before END.
put_rows() {
    awk -v table="$1" -v row="$2" -v end="$3" 'BEGIN {
        for (; row < end; row++) {
            printf "put \x27%s\x27, \x27row%06d\x27, \x27%s:q%d\x27, \x27%0*d\x27, 5", table, row, row % 3 ? "a" : "b", row % 5, row % 400 + 1, row
            print row % 1000 == 999 ? ", {TTL => 90000000000000}" : ""
        }
    }'
}
# contents DIRECTORY: of its files, without their names and the time.
contents() {
    for file in "$1"/*/*; do
        "$hfile" print -m -b -p "$file" | grep -v -e '^  file: ' -e 'created: ' -e 'CREATE_TIME' >words
        echo "$(basename "$(dirname "$file")") $(sed -n 's/^    first row: //p' words) $(cksum <words)"
    done
}
families="'a', {NAME => 'b', BLOOMFILTER => 'ROWCOL'}"
{
    echo "create 'many', $families, SPLITS => ['row000100', 'row003000', 'row003000x', 'row003000y', 'row009000', 'row009001']"
    put_rows many 0 12000
} | "$shell" --no-compaction --no-took many >made 2>&1
expect 'several regions' 0 '^exported: files [0-9]*, cells 12000, ' "$hfile" export --codec NONE many many together
cp out counts
for rows in '0 100' '100 3000' '3000 3001' '3001 9000' '9000 9001' '9001 12000'; do
    # shellcheck disable=SC2086
    set -- $rows
    { echo "create 'from$1', $families" && put_rows "from$1" "$1" "$2"; } | "$shell" --no-compaction --no-took many >made 2>&1
    "$hfile" export --json --codec NONE many "from$1" "alone-$1" >"alone-$1.json"
    contents "alone-$1"
done | sort >alone.sum
contents together | sort >together.sum
is_true 'as one thread writes them' "$(diff alone.sum together.sum >out && [ "$(wc -l <alone.sum)" -ge 10 ] && echo 1)"
for count in files cells 'cell bytes' 'file bytes'; do
    sum=$(cat alone-*.json | tr ',{' '\n\n' | sed -n "s/^ *\"$(echo "$count" | tr ' ' _)\": \([0-9]*\).*/\1/p" | awk '{ sum += $1 } END { print sum }')
    cp counts out
    is_true "$count: $sum" "$(grep -q "$count $sum\(,\|\$\)" counts && echo 1)"
done
cp counts out
is_true 'the bytes of the files' "$(grep -q "file bytes $(cat together/*/* | wc -c)\(,\|\$\)" counts && echo 1)"
is_true 'names as HBase gives them' "$(find together -type f | grep -qv '/[0-9a-f]\{32\}$' || echo 1)"
# One region fails when others are written: its file is named, and nothing is left of any.
expect 'a region is too large' 2 'cannot write many-full/[ab]/_[0-9a-f]*: File too large' with_little_room 500 "$hfile" export --codec NONE many many many-full
is_true 'others are not' "$(find together -size -500k | grep -q . && echo 1)"
is_true 'nothing is left' "$([ ! -e many-full ] && echo 1)"
mkdir many-empty
expect 'in a directory that was there' 2 'File too large' with_little_room 500 "$hfile" export --codec NONE many many many-empty
is_true 'it stays, and empty' "$(rmdir many-empty && echo 1)"
expect 'a size' 0 '^exported' "$hfile" export --codec NONE --split-size 8K db t sizes
is_true 'many files' "$([ "$(files sizes)" -gt 3 ] && echo 1)"
for family in a b; do
    for file in "sizes/$family"/*; do "$hfile" print "$file" | sed -n "s/^    \(first\|last\) row: //p" | sort -u; done | sort | uniq -d >out
    is_true 'no row is in two of them, but where times to live begin' "$(grep -qv lives out || echo 1)"
done
"$hfile" import --quiet back sizes sizes
same 'pieces together' db t back sizes

# What readers see, and what a snapshot kept.
expect 'visible' 0 '^exported: files [23], cells' "$hfile" export --visible db t visible
"$hfile" import back visible visible >out
is_true 'no markers' "$(grep -q 'markers 0,' out && echo 1)"
for database in 'db t' 'back visible'; do
    # shellcheck disable=SC2086
    set -- $database
    "$shell" --no-compaction --no-took --read-only "$1" -e "scan '$2', {VERSIONS => 5}" >"seen-$1"
done
is_true 'what readers saw' "$(diff seen-db seen-back >out && [ "$(wc -l <seen-db)" -gt 100 ] && echo 1)"
"$shell" --no-compaction --no-took db -e "create 'else', 'x'; snapshot 't', 'then'; put 't', 'row0000', 'a:later', 'x'; snapshot 'else', 'elsewhere'" >/dev/null
expect 'a snapshot' 0 'cells 988, ' "$hfile" export --snapshot then db t then
expect 'the table goes on' 0 'cells 989, ' "$hfile" export db t later
expect 'no snapshot' 2 "there is no snapshot 'never'" "$hfile" export --snapshot never db t never
expect "another table's" 2 "another table's snapshot is called 'elsewhere'" "$hfile" export --snapshot elsewhere db t never
is_true 'no table is left of it' "$("$shell" --no-compaction --no-took --read-only db -e list | grep -q kv-hfile || echo 1)"

# A put that has outlived a marker of its timestamp, which HBase would let win.
"$shell" --no-compaction --no-took ties -e "create 't', 'f'; deleteall 't', 'r', 'f:q', 5; put 't', 'r', 'f:q', 'v', 5; put 't', 's', 'f:q', 'v', 5" >/dev/null
expect 'a marker is moved' 0 'moved markers 1, ' "$hfile" export ties t tie
expect 'to the millisecond before' 0 "timestamp 4, type DeleteColumn" "$hfile" print -p "$(ls tie/f/*)"

# What cannot be done leaves nothing.
before=$(find db -type f -exec cksum {} + | sort)
expect 'a directory that is not empty' 2 'the folder is not empty' "$hfile" export db t like
is_true 'its files stay' "$([ "$(files like)" -ge 2 ] && echo 1)"
expect 'no directory' 2 'that is not a folder' "$hfile" export db t made
expect 'no way to it' 2 'No such file' "$hfile" export db t no/way
expect 'no table' 2 'never' "$hfile" export db never never
expect 'no database' 2 'nothing was exported' "$hfile" export nowhere t never
is_true 'none is made' "$([ ! -e nowhere ] && echo 1)"
expect 'no codec' 2 'takes NONE, GZ' "$hfile" export --codec LZMA db t never
expect 'no encoding' 2 'takes NONE, PREFIX' "$hfile" export --encoding PREFIX_TREE db t never
expect 'no size' 2 'takes a number of bytes' "$hfile" export --split-size 0 db t never
expect 'too large a size' 2 'takes a number of bytes' "$hfile" export --split-size 99999999999G db t never
expect 'no bytes' 2 'takes rows' "$hfile" export --split-keys 'a\x0' db t never
expect 'keys that go back' 2 "split key 3, 'a.x00', is not greater than the one before it, 'c'" "$hfile" export --split-keys 'b,c,a\x00' db t never
expect 'a full disk' 2 'File too large' with_little_room 4 "$hfile" export --codec NONE db t never
is_true 'nothing came of these' "$([ ! -e never ] && echo 1)"
mkdir empty
expect 'a full disk, and a directory that was there' 2 'File too large' with_little_room 4 "$hfile" export --codec NONE db t empty
is_true 'it stays, and empty' "$(rmdir empty && echo 1)"
if [ -c /dev/full ]; then
    mkdir later-full
    expect 'what it says cannot be written' 2 'cannot write to the standard output' sh -c '"$@" >/dev/full' sh "$hfile" export db t later-full
fi
is_true 'the database was only read' "$([ "$before" = "$(find db -type f -exec cksum {} + | sort)" ] && echo 1)"

# A damaged table.
cp -r db bad
for file in bad/*.sst; do flip "$file" 100; done
expect 'a damaged table' 1 'checksum' "$hfile" export bad t never
is_true 'nothing is written' "$([ ! -e never ] && echo 1)"

# Ctrl-C at any time: all, or nothing.
awk 'BEGIN { print "create \x27big\x27, \x27a\x27, \x27b\x27, SPLITS => [\x27row005000\x27, \x27row015000\x27, \x27row020000\x27]"
    for (row = 0; row < 30000; row++) printf "put \x27big\x27, \x27row%06d\x27, \x27%s:q\x27, \x27%0300d\x27, 5\n", row, row < 9000 ? "a" : "b", row * 7919 }' |
    "$shell" --no-compaction --no-took big >made 2>&1
interrupted=0
for pause in 0.4 0.2 0.1 0.05 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0; do
    [ $interrupted -lt 2 ] || break
    interrupt $pause "$hfile" export --split-size 16K big big big-out
    status=$?
    [ $status = 2 ] && interrupted=$((interrupted + 1)) && grep -q 'given up' out && status=3
    is_true "interrupted after $pause s: status $status" "$({ [ $status = 3 ] && [ ! -e big-out ]; } || { [ $status = 0 ] && [ "$(files big-out)" -gt 2 ]; } && echo 1)"
    rm -rf big-out
done
is_true 'some were interrupted' "$([ $interrupted -gt 0 ] && echo 1)"
"$shell" --no-compaction --no-took big -e "snapshot 'big', 'all'" >/dev/null
interrupt 0 "$hfile" export --snapshot all big big big-out
is_true 'no table is left of a snapshot' "$("$shell" --no-compaction --no-took --read-only big -e list | grep -q kv-hfile || echo 1)"

expect_end
