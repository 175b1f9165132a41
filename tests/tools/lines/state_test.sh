#!/bin/bash
# state_test.sh -- kv-filter unique --state: the runs together print each record once; a run that is
# killed, or whose reader stops, loses none: into a file of --output it prints again at most what it
# had not recorded, elsewhere all that it printed. And --approximate, which swallows no more than
# its rate.
#
#     tests/tools/lines/state_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"
shell=$(dirname "$filter")/kv-shell
RANDOM=$((seed % 32768))

# Two days, a file and a stream.
lines 60000 40000 1 >lines
awk '!seen[$0]++' lines >wanted
head -n 30000 lines >first
tail -n +20000 lines >second
"$filter" unique --state state first >printed1 2>out
"$filter" unique --state state --memory 1M <second >printed2 2>>out
cat printed1 printed2 | cmp - wanted >>out 2>&1
is_true 'two days' $((1 - $?))
: >empty
same 'nothing new' empty "$filter" unique --state state lines

# Odd records: none, any bytes, longer than a row can be, one of each as long as another.
{
    printf '\n\0\377\n\n'
    head -c 32766 /dev/zero | tr '\0' x; echo
    head -c 32767 /dev/zero | tr '\0' x; echo
    head -c 32767 /dev/zero | tr '\0' y; echo
    head -c 32767 /dev/zero | tr '\0' x; echo
    head -c 1000000 /dev/zero | tr '\0' x; echo
    printf last
} >odd
head -c 1048577 /dev/zero | tr '\0' x >longest
awk '!seen[$0]++' odd >wanted
same 'odd records' wanted "$filter" unique --state odd-state odd
same 'odd records once more' empty "$filter" unique --state odd-state odd
expect 'a record that is too long' 2 'record 1 of longest has 1048577 bytes; with --state it has at most 1048576' "$filter" unique --state odd-state longest

# What makes no sense.
expect 'both' 2 'state is exact' "$filter" unique --state state --approximate 0.1 lines
expect 'expect alone' 2 'expect goes with --approximate only' "$filter" unique --expect 5 lines
expect 'a rate out of bounds' 2 'approximate takes' "$filter" unique --approximate 0.0000001 lines
expect 'no database' 2 'kv-filter unique: ' "$filter" unique --state lines lines
expect 'too many for the memory' 2 'bytes, which is more than --memory' "$filter" unique --approximate 0.01 --expect 1e9 lines

# An appended file: killed at any moment, again and again. Each record is there; those that are
# there twice were written by a run that was killed before they were recorded, so each of its kind
# stands at the end of what a run wrote.
lines 400000 300000 2 >lines
sort -u lines >wanted
kills=0
again=0
for round in $(seq "${PETAL_KILLS:-12}"); do
    "$filter" unique --state killed --memory 8M --output printed lines 2>>errors &
    process=$!
    # At any moment behind the first records that it writes: behind its start nothing would be lost.
    before=$(stat -c %s printed 2>/dev/null || echo 0)
    while kill -0 $process 2>/dev/null && [ "$(stat -c %s printed 2>/dev/null || echo 0)" -eq "$before" ]; do sleep 0.005; done
    sleep "0.$(printf '%03d' $((RANDOM % 150)))"
    kill -9 $process 2>/dev/null && kills=$((kills + 1))
    wait $process 2>/dev/null
    [ -e printed ] || : >printed
    # A record that was cut goes on in no other one.
    [ -s printed ] && [ "$(tail -c 1 printed | od -An -tu1)" -ne 10 ] && echo >>printed
done
"$filter" unique --state killed --memory 8M --output printed lines 2>>errors
is_true 'the last run' $((1 - $?))
sort -u printed | comm -23 wanted - >lost
head lost >out
is_true 'no record is lost' "$([ -s lost ] || echo 1)"
again=$(($(wc -l <printed) - $(wc -l <wanted)))
is_true "$again records again behind $kills kills" "$([ $again -le $((kills * 17000)) ] && echo 1)"
same 'all are recorded' empty "$filter" unique --state killed lines

# Ctrl-C: what was read is kept, and nothing is printed again.
mkfifo pipe
"$filter" unique --state interrupted --output before <pipe 2>out &
process=$!
exec 3>pipe
head -n 5000 lines >&3
sleep 1
kill -INT $process
wait $process
is_true 'Ctrl-C ends it' "$([ $? = 2 ] && grep -q 'interrupted: 5000 records' out && echo 1)"
exec 3>&-
head -n 10000 lines | "$filter" unique --state interrupted --output before
head -n 10000 lines | awk '!seen[$0]++' | cmp - before >out 2>&1
is_true 'and the next run goes on' $((1 - $?))

# The standard output: what a run printed was seen once the run has ended well. One whose reader
# stops, runs that are killed, one that Ctrl-C ends: each of their records comes again, and none
# once a run has printed all.
seq 1000000 >numbers
for round in 1 2; do
    "$filter" unique --state piped numbers 2>>errors | { head -n $((155000 * round)) >begun; sleep 0.4; }
    is_true "a reader that stops is a failure, $round" "$([ "${PIPESTATUS[0]}" -ne 0 ] && echo 1)"
done
for round in 1 2 3; do
    mkfifo held
    # It is killed with the last of its records still to come: never behind its end.
    { cat numbers; exec sleep 60; } >held 2>/dev/null &
    feeder=$!
    "$filter" unique --state piped <held >printed 2>>errors &
    process=$!
    for _ in $(seq 2000); do [ "$(stat -c %s printed)" -ge $((round * 1000000)) ] && break; sleep 0.01; done
    kill -9 $process
    wait $process 2>/dev/null
    kill $feeder 2>/dev/null
    rm held
done
same 'all of runs that were killed comes again' numbers "$filter" unique --state piped numbers
same 'and not once more' empty "$filter" unique --state piped numbers
exec 3<>pipe
"$filter" unique --state stream <pipe >printed 2>out &
process=$!
head -n 5000 lines >&3
sleep 1
kill -INT $process
wait $process
is_true 'Ctrl-C ends a stream' "$([ $? = 2 ] && [ -s printed ] && echo 1)"
exec 3>&-
head -n 10000 lines | awk '!seen[$0]++' >wanted10
same 'what it printed comes again' wanted10 "$filter" unique --state stream <(head -n 10000 lines)

# A finished run stays one, among those that did not; files and pipes of one state in turn.
seq 100 | "$filter" unique --state turns >printed
"$filter" unique --state turns numbers 2>>errors | head -n 300 >begun
seq 50 200 | "$filter" unique --state turns --output appended
seq 101 200 | cmp - appended >out 2>&1
is_true 'a finished run counts behind one that was not' $((1 - $?))
"$filter" unique --state turns numbers 2>>errors | head -n 300 >begun
same 'what was appended counts' <(seq 201 300) "$filter" unique --state turns <(seq 300)

# Whose directory is it?
mkdir foreign && echo mine >foreign/letter
expect 'a directory with files' 2 'foreign is not empty, and no state of kv-filter unique' "$filter" unique --state foreign begun
is_true 'stays what it was' "$([ "$(ls -A foreign)" = letter ] && echo 1)"
echo "create 'people', 'f'" | "$shell" other >out 2>&1
expect "another program's database" 2 "other is a Petal database without a table kv-filter.seen" "$filter" unique --state other begun
is_true 'has no table more' "$(echo list | "$shell" other 2>&1 | tee out | grep -q kv-filter || echo 1)"
expect 'a directory as the input' 2 'cannot read foreign: Is a directory' "$filter" unique --state unborn --output stillborn foreign
expect 'a foreign state' 2 'foreign is not empty' "$filter" unique --state foreign --output stillborn begun
is_true 'no empty output or state is left' "$([ ! -e unborn ] && [ ! -e stillborn ] && echo 1)"
mkdir fresh
same 'an empty directory' wanted10 "$filter" unique --state fresh <(head -n 10000 lines)

# About: of 300,000 new ones no more than the rate are swallowed, and nothing is printed twice.
for options in '--approximate 0.01' '--approximate 1% --expect 300000' '--approximate 0.001'; do
    # shellcheck disable=SC2086
    "$filter" unique $options lines >printed 2>out
    swallowed=$(($(wc -l <wanted) - $(sort -u printed | wc -l)))
    rate=$(echo "$options" | awk '{ print ($2 ~ /%/ ? $2 / 100 : $2) }')
    is_true "$options: $swallowed" "$(awk -v s=$swallowed -v n="$(wc -l <wanted)" -v r="$rate" 'BEGIN { print (s <= n * r * 1.3 + 5) }')"
    is_true "$options: each once, in order" "$(awk 'NR == FNR { if (!seen[$0]++) order[++n] = $0; next }
        { while (order[++at] != $0 && at <= n); if (at > n) bad = 1 } END { print !bad }' lines printed)"
done

# Far more than expected: the rate holds, and it is told once; or the memory does not do.
seq 100000 >numbers
for expected in 1 1000 50000; do
    "$filter" unique --approximate 0.01 --expect $expected numbers >printed 2>out
    is_true "more than $expected: $(wc -l <printed) of 100000" "$([ "$(wc -l <printed)" -ge 99000 ] && [ "$(grep -c "more than the $expected different records of --expect came" out)" = 1 ] && echo 1)"
done
"$filter" unique --approximate 0.01 --expect 100000 numbers >printed 2>out
is_true 'no more than expected' "$([ "$(wc -l <printed)" -ge 99000 ] && [ ! -s out ] && echo 1)"
seq 3000000 >numbers
expect 'more than expected and than fits' 2 'more than the 1000 different records of --expect came; after .* which is more than --memory' "$filter" unique --output printed --approximate 0.01 --expect 1000 --memory 1M numbers

expect 'too many, as it turns out' 2 'after .* records the filter takes' "$filter" unique --output printed --approximate 0.00001 --memory 1M lines

echo "counted: kv-filter unique --state, seed $seed: $kills kills, $again records printed again, none lost"
expect_end
