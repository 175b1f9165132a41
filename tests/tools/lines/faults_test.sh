#!/bin/bash
# faults_test.sh -- kv-filter where things fail: full disks, closed pipes, Ctrl-C, kill -9. It says
# what is wrong, leaves nothing behind, and an --output file is what it was.
#
#     tests/tools/lines/faults_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"
mkdir outputs
nothing_is_left() {
    ls -A "$TMPDIR" outputs >out
    [ -z "$(ls -A "$TMPDIR")" ] && [ "$(ls -A outputs)" = old ]
    is_true "$1: nothing is left, but what was there" $((1 - $?))
    cmp -s outputs/old kept
    is_true "$1: the old output is what it was" $((1 - $?))
}

lines 300000 250000 1 >a
lines 300000 250000 2 >b
awk -v seed="$seed" 'BEGIN { srand(seed); for (i = 0; i < 300000; i++) printf "%.0f\n", int(rand() * 1000000000000) }' >numbers
"$filter" build --quiet filter a
cp filter outputs/old
cp filter kept
commands='unique:a common:a:b missing:a:b count:a top:a integers:sort:numbers check:filter:a'

# Arguments.
expect 'no such option' 2 'no option' "$filter" unique --sorted a
expect 'no such file' 2 'cannot open nowhere: No such file' "$filter" unique nowhere
expect 'a directory' 2 'cannot read temporary: Is a directory' "$filter" unique temporary
expect 'no place for temporary files' 2 'cannot make a temporary file in nowhere' "$filter" unique --memory 1M --temporary nowhere a
expect 'no place for the output' 2 'cannot write to nowhere/file: No such file' "$filter" unique --output nowhere/file a
expect 'too little memory' 2 'is too little; it must be 1M or more' "$filter" unique --memory 1000 a
expect 'no number of bytes' 2 'takes a number of bytes' "$filter" unique --memory 12X a
for words in $commands; do
    expect "help of $words" 0 "usage: kv-filter ${words%%:*}" "$filter" "${words%%:*}" --help
done

# An output file takes the place of the old one, and may be the input.
"$filter" unique --memory 1M a >wanted
cp a both
"$filter" unique --memory 1M --output both both >out 2>&1
is_true 'the input is the output' $((1 - $?))
cmp both wanted >out 2>&1
is_true 'of which it was made' $((1 - $?))
ln -s both link
"$filter" unique --output link a >out 2>&1
is_true 'through a link' $((1 - $?))
[ -L link ] && cmp both wanted >out 2>&1
is_true 'which is a link still' $((1 - $?))

# No more than so many KiB in a file: of the output, and of temporary files. Under a limit of the
# process a write fails as on a full disk.
faults=0
for words in $commands; do
    IFS=: read -r command first second <<<"$words"
    for limit in 8 64 512 1500; do
        (
            trap '' XFSZ
            ulimit -f $limit
            # shellcheck disable=SC2086
            exec "$filter" $command --memory 1M --output outputs/new $first ${second:-}
        ) >out 2>&1 </dev/null
        status=$?
        if [ $status = 2 ]; then
            faults=$((faults + 1))
            grep -q '^kv-filter .*: File too large' out
            is_true "$words: says so, at $limit" $((1 - $?))
        else
            is_true "$words: status $status at $limit" $((1 - status))
            rm -f outputs/new
        fi
        nothing_is_left "$words, $limit KiB"
    done
    expect "$words: a full device" 2 'cannot write to the standard output: No space left' sh -c "'$filter' $command --memory 1M $first ${second:-} >/dev/full"
done
is_true "$faults faults" "$([ $faults -ge 10 ] && echo 1)"

# Nobody reads on: the signal ends it, as it ends sort; who does not take the signal is told.
"$filter" unique --memory 1M a 2>out | head -n 1 >/dev/null
status=("${PIPESTATUS[@]}")
is_true "SIGPIPE: ${status[0]}" "$([ "${status[0]}" = 141 ] && [ ! -s out ] && echo 1)"
(trap '' PIPE; "$filter" unique --memory 1M a 2>out; echo $? >status) | head -n 1 >/dev/null
is_true 'EPIPE' "$([ "$(cat status)" = 2 ] && grep -q 'cannot write to the standard output: Broken pipe' out && echo 1)"

# Ctrl-C, and kill -9, at any moment.
interrupts=0
for signal in INT TERM HUP KILL; do
    for words in $commands; do
        IFS=: read -r command first second <<<"$words"
        for delay in 0.02 0.1 0.3; do
            # shellcheck disable=SC2086
            (exec "$filter" $command --memory 1M --output outputs/new $first ${second:-}) >out 2>&1 </dev/null &
            process=$!
            sleep $delay
            kill -$signal $process 2>/dev/null
            wait $process 2>/dev/null
            status=$?
            [ $status = 0 ] && rm -f outputs/new && continue
            interrupts=$((interrupts + 1))
            # It may have been about to exit, with its output in place, which is whole then.
            if [ $status -gt 128 ] && [ -e outputs/new ]; then
                # shellcheck disable=SC2086
                "$filter" $command --memory 1M --output outputs/again $first ${second:-} >out 2>&1 </dev/null
                is_true "$words after $signal: the output is whole" "$(cmp outputs/new outputs/again >>out 2>&1 && echo 1)"
                rm -f outputs/new outputs/again
            fi
            # Before it has begun the signal ends it as it ends any program.
            [ $status -gt 128 ] || is_true "$words: status $status after $signal: says so" "$([ $status = 2 ] && grep -q interrupted out && echo 1)"
            nothing_is_left "$words after $signal"
        done
    done
done
# A filter is written as a whole, too, in place of the old one.
for words in build:a merge:filter; do
    for limit in 8 64 200; do
        (
            trap '' XFSZ
            ulimit -f $limit
            exec "$filter" "${words%:*}" outputs/old "${words#*:}"
        ) >out 2>&1 </dev/null
        is_true "$words: status $? at $limit" "$([ $? = 2 ] && grep -q '^kv-filter .*: File too large' out && echo 1)"
        faults=$((faults + 1))
        nothing_is_left "$words, $limit KiB"
    done
done
seq 3000000 >many
for kind in BLOCKED GROWING RIBBON; do
    for delay in 0.02 0.1 0.2 0.3 0.4; do
        (exec "$filter" build --kind $kind --memory 12M outputs/old many) >out 2>&1 </dev/null &
        process=$!
        sleep $delay
        kill -INT $process 2>/dev/null
        wait $process 2>/dev/null
        status=$?
        [ $status = 0 ] && cp kept outputs/old && continue
        interrupts=$((interrupts + 1))
        [ $status -gt 128 ] || is_true "build $kind: status $status after INT: says so" "$([ $status = 2 ] && grep -q interrupted out && echo 1)"
        nothing_is_left "build $kind after INT"
    done
done

# While it is solved, range by range of hashes, for which another file is there.
seq 8000000 >many
"$filter" build --kind RIBBON --memory 12M outputs/old many >out 2>&1 &
process=$!
until ls -A outputs | grep -qv '^old$' || [ ! -d /proc/$process ]; do sleep 0.01; done
kill -INT $process
wait $process
is_true 'Ctrl-C ends solving' "$([ $? = 2 ] && grep -q 'build: interrupted$' out && echo 1)"
nothing_is_left 'build while it is solved'

# A stream that says nothing.
mkfifo pipe
"$filter" unique --memory 1M <pipe >printed 2>out &
process=$!
exec 3>pipe
echo one >&3
sleep 0.5
is_true 'what was read is written at once' "$([ "$(cat printed)" = one ] && echo 1)"
kill -INT $process
wait $process
is_true 'Ctrl-C ends waiting' "$([ $? = 2 ] && grep -q 'interrupted: 1 records of the standard input were read' out && echo 1)"
exec 3>&-

# A file that changes while it is read again is told of, and nothing is written wrongly in silence.
lines 600000 500000 3 >growing
{ sleep 0.2; : >growing; } &
"$filter" unique --memory 1M --output outputs/new growing >out 2>&1
status=$?
wait
is_true "a file that becomes shorter: status $status" "$([ $status = 0 ] || grep -qE 'became shorter|was changed' out && echo 1)"
rm -f outputs/new

echo "counted: kv-filter faults, seed $seed: $faults writes refused, $interrupts signals"
expect_end
