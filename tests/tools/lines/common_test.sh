#!/bin/sh
# common_test.sh -- kv-filter common and missing: as awk finds them, in A's order and as often as
# they are in A, with memories so small that all that is put away in files is, and in parts of
# parts.
#
#     tests/tools/lines/common_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"

printf 'a\n\nb\na\nx\n\0\377\nc' >odd
printf 'c\na\n\n\0\377' >others
printf 'a\n\na\n\0\377\nc\n' >wanted
same 'common: empty lines, any bytes, no newline at the end' wanted "$filter" common odd others
printf 'b\nx\n' >wanted
same 'missing' wanted "$filter" missing odd others
: >empty
same 'common with nothing' empty "$filter" common odd empty
same 'nothing in common' empty "$filter" common empty odd
(cat odd; echo) >wanted
same 'missing in nothing' wanted "$filter" missing odd empty
same 'nothing is missing' empty "$filter" missing odd odd
printf 'a\n\n\0\377\nc\n' >wanted
same 'common, each once' wanted "$filter" common --unique odd others
{ cat odd && echo && cat odd; } >twice
printf 'b\nx\n' >wanted
same 'missing, each once' wanted "$filter" missing --unique twice others
same 'into a file' wanted sh -c "'$filter' missing --unique --output once twice others && cat once"
same 'none of nothing' empty "$filter" common --unique empty odd
printf 'a\0b\0a\0' >zeros
printf 'a\0' >a_alone
same 'with zero bytes' a_alone "$filter" common -z --unique zeros a_alone
expect 'one input only' 2 'only one of A and B' "$filter" common - -
expect 'no file' 2 'cannot open nowhere' "$filter" common odd nowhere
expect 'too few' 2 'missing' "$filter" common odd

# compare NAME MEMORIES: a and b, as files and as streams.
counted=0
compare() {
    awk 'NR == FNR { in_b["x" $0] = 1; next } ("x" $0) in in_b' b a >common
    awk 'NR == FNR { in_b["x" $0] = 1; next } !(("x" $0) in in_b)' b a >missing
    for memory in $2; do
        for command in common missing; do
            same "$1: $command, files, $memory" $command "$filter" $command --memory "$memory" a b
            same "$1: $command, A a stream, $memory" $command sh -c "cat a | '$filter' $command --memory $memory - b"
            same "$1: $command, B a stream, $memory" $command sh -c "cat b | '$filter' $command --memory $memory a -"
            awk '!seen["x" $0]++' $command >once
            same "$1: $command --unique, $memory" once "$filter" $command --unique --memory "$memory" a b
            counted=$((counted + 4 * $(cat a b | wc -l)))
        done
    done
}

lines 100000 200000 1 >a
lines 100000 200000 2 >b
compare 'half in common' '1M 4M 64M'
lines 100000 100000000 3 >a
lines 100000 100000000 4 >b
compare 'little in common' 1M
lines 3000 100000 5 >a
compare 'A is small' '1M 64M'
lines 200000 2000 6 >a
compare 'A repeats' 1M
lines 200000 2000 7 >b
compare 'B repeats' 1M
lines 900000 300000 8 >a
lines 1200000 300000 9 >b
compare 'most in common, parts of parts' 1M

[ -z "$(ls -A "$TMPDIR")" ]
is_true 'nothing is left in TMPDIR' $((1 - $?))
echo "counted: kv-filter common and missing, seed $seed: $counted lines as awk has them"
expect_end
