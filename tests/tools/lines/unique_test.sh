#!/bin/sh
# unique_test.sh -- kv-filter unique: the first of each record, in the order of the input, as awk
# finds them, with memories so small that all that is put away in files is, and in parts of parts.
#
#     tests/tools/lines/unique_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"

printf 'a\n\nb\na\n\n\0\377\nc' >odd
printf 'a\n\nb\n\0\377\nc\n' >wanted
same 'empty lines, any bytes, no newline at the end' wanted "$filter" unique odd
tr '\n' '\0' <odd >zeros
printf 'a\0\0b\0\377\0c\0' >wanted
same 'records that end with zero bytes' wanted "$filter" unique -z zeros
: >empty
same 'nothing' empty "$filter" unique empty

# both SHAPE MEMORY: the lines, of a file and of a stream.
counted=0
both() {
    same "$1, a file, $2" wanted "$filter" unique --memory "$2" lines
    same "$1, a stream, $2" wanted sh -c "cat lines | '$filter' unique --memory $2 -"
    counted=$((counted + 2 * $(wc -l <lines)))
}

# Few repeat: all candidates fit. Most do: they do not. A few lines again and again beside others.
for shape in '60000 40000000' '200000 150000' '200000 3000'; do
    # shellcheck disable=SC2086
    lines $shape $counted >lines
    awk '!seen[$0]++' lines >wanted
    for memory in 1M 3M 64M; do both "$shape" $memory; done
done
# Parts of hashes, and of records, that are cut into parts of their own; bitmaps that are cut into
# ranges.
for shape in '1500000 400000000' '1000000 500000'; do
    # shellcheck disable=SC2086
    lines $shape $counted >lines
    awk '!seen[$0]++' lines >wanted
    both "$shape" 1M
done
awk 'BEGIN { for (i = 0; i < 200000; i++) print i % 2 ? "again" : i }' >lines
awk '!seen[$0]++' lines >wanted
same 'one line again and again, a file' wanted "$filter" unique --memory 1M lines
same 'one line again and again, a stream' wanted sh -c "cat lines | '$filter' unique --memory 1M"

# Of lines of which few fit into the memory, in a file that is read from its middle on.
lines 300 200 5 | awk '{ s = $0; while (length(s) < 40000) s = s s; print s }' >long
tail -n +11 long | awk '!seen[$0]++' >wanted
same 'long lines' wanted sh -c "{ head -n 10 >/dev/null; '$filter' unique --memory 1M; } <long"
head -c 1000000 /dev/zero | tr '\0' x >longest
expect 'a line that is too long' 2 'record 1 of longest has more than 131072 bytes' "$filter" unique --memory 1M longest
same 'which fits into more' longest sh -c "'$filter' unique --memory 8M longest | tr -d '\n'"

[ -z "$(ls -A "$TMPDIR")" ]
is_true 'nothing is left in TMPDIR' $((1 - $?))
echo "counted: kv-filter unique, seed $seed: $counted lines as awk has them"
expect_end
