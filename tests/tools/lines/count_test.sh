#!/bin/sh
# count_test.sh -- kv-filter count and top: the numbers that awk finds, with memories so small that
# records wait in files.
#
#     tests/tools/lines/count_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"

printf 'a\n\nb\na\n\n\0\377\nc' >odd
echo 5 >wanted
same 'count' wanted "$filter" count odd
printf 'a\0b\0a\0' >zeros
echo 2 >wanted
same 'a number ends with a newline, whatever records end with' wanted "$filter" count -z zeros
printf '2\t\n2\ta\n1\t\0\377\n1\tb\n' >wanted
same 'top: equally frequent ones in the order of their bytes' wanted "$filter" top -n 4 odd
: >empty
same 'top of nothing' empty "$filter" top empty
echo 0 >wanted
same 'count of nothing' wanted "$filter" count empty
expect 'no number' 2 'takes a number from 1 on' "$filter" top -n 0 odd

# check SHAPE MEMORIES: of random lines.
counted=0
check() {
    # shellcheck disable=SC2086
    lines $1 $counted >lines
    awk '!seen[$0]++ { different++ } END { print different }' lines >different
    awk '{ count[$0]++ } END { for (line in count) print count[line] "\t" line }' lines | sort -t "$(printf '\t')" -k1,1nr -k2 | head -n 1000 >most
    for memory in $2; do
        same "$1: count, $memory" different "$filter" count --memory "$memory" lines
        same "$1: count of a stream, $memory" different sh -c "cat lines | '$filter' count --memory $memory"
        same "$1: top, $memory" most "$filter" top -n 1000 --memory "$memory" lines
        counted=$((counted + 3 * $(wc -l <lines)))
    done
}
check '100000 50000' '1M 3M 64M'
check '100000 100000000' 1M
check '300000 2000' '1M 64M'
check '1000000 500000' 1M
expect 'more than fits' 2 'memory is too little for 1000000 records' "$filter" top -n 1000000 --memory 1M lines

# About so many: within four times the error, and the state goes on.
exact=$(cat different)
about=$("$filter" count --approximate 0.01 lines)
is_true "about $about, exactly $exact" "$(awk -v a="$about" -v e="$exact" 'BEGIN { print (a > e * 0.96 && a < e * 1.04) }')"
head -n 500000 lines >first
tail -n +400000 lines >second
"$filter" count --state days first >out
"$filter" count --state days second >out
is_true 'two days are counted as one' "$([ "$(cat out)" = "$about" ] && echo 1)"
"$filter" count --state days empty >out
is_true 'nothing new' "$([ "$(cat out)" = "$about" ] && echo 1)"
expect 'a state that is not exact enough' 2 'has a standard error of' "$filter" count --state days --approximate 0.001 first
(umask 022 && "$filter" count --state open first >out)
is_true 'a new state has the permissions of a new file' "$([ "$(stat -c %a open)" = 644 ] && echo 1)"
chmod 660 open && ln -s open link
expect 'an old one, behind a link' 0 '^[0-9]' "$filter" count --state link first
is_true 'an old one keeps its own, and a link stays one' "$([ -L link ] && [ "$(stat -c %a open)" = 660 ] && echo 1)"
mkfifo pipe
expect 'a pipe as a state' 2 'pipe is no regular file' "$filter" count --state pipe first
head -c 5000 days >cut
expect 'a state that was cut' 2 'cut' "$filter" count --state cut first
expect 'an error out of bounds' 2 'kv-filter count: ' "$filter" count --approximate 0.5 first

[ -z "$(ls -A "$TMPDIR")" ]
is_true 'nothing is left in TMPDIR' $((1 - $?))
echo "counted: kv-filter count and top, seed $seed: $counted lines as awk has them"
expect_end
