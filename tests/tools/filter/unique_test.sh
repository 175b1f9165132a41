#!/bin/sh
# unique_test.sh -- kv-filter unique: the first of each record, in the order of the input, as awk finds them.
#
#     tests/tools/filter/unique_test.sh KV-SHELL
#
# kv-filter stands beside it.
set -u
filter=$(dirname "$(realpath "${1:?usage: unique_test.sh KV-SHELL}")")/kv-filter
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

# same NAME EXPECTED COMMAND..: it prints just what the file holds.
same() {
    name=$1 wanted=$2
    shift 2
    "$@" >printed 2>out
    status=$?
    cmp printed "$wanted" >>out 2>&1
    is_true "$name (exit status $status)" $((1 - $? - status))
}

seq 1 50000 | awk '{print "http://host/" ($1 * 7919) % 20011 "/" ($1 % 7)}' >lines
awk '!seen[$0]++' lines >wanted
same 'a file' wanted "$filter" unique lines
same 'a stream' wanted sh -c "cat lines | '$filter' unique"
same 'a stream by name' wanted sh -c "'$filter' unique - <lines"
printf 'a\n\nb\na\n\n\0\377\nc' >odd
printf 'a\n\nb\n\0\377\nc\n' >wanted
same 'empty lines, any bytes, no newline at the end' wanted "$filter" unique odd
tr '\n' '\0' <odd >zeros
printf 'a\0\0b\0\377\0c\0' >wanted
same 'records that end with zero bytes' wanted "$filter" unique -z zeros
: >empty
same 'nothing' empty "$filter" unique empty

expect_end
