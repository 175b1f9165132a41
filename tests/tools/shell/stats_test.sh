#!/bin/sh
# stats_test.sh KV-SHELL -- stats FORMAT => 'PROMETHEUS' prints what Prometheus reads and nothing
# else: the session's counters, and histograms of times. What the text itself says is for
# tests/engine/db/stats_text_test.c.
set -u
export TZ=UTC
shell=$(realpath "${1:?usage: stats_test.sh KV-SHELL}")
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

"$shell" --no-took --create db -e "create 't', 'f'" >/dev/null || exit 1
{
    echo "(1..128).each { |i| put 't', \"r#{i}\", 'f:q', 'v' }"
    echo "flush 't'; get 't', 'r7'"
} >work
expect 'reads and writes' 0 'column=f:q\|COLUMN\|f:q' "$shell" --no-took db -f work
cat work >whole
echo "stats FORMAT => 'PROMETHEUS'" >>whole
"$shell" --no-took db -f whole >out 2>&1
sed -n '/^# HELP petal_info/,$p' out >text

is_true 'every line is of the format' "$(grep -cvE '^# (HELP|TYPE) petal_[a-z_]+ .+$|^petal_[a-z_]+(\{[^{}]*\})? [0-9.e+-]+$' text | sed 's/^0$/1/')"
is_true 'nothing follows but the text' "$(tail -n 1 text | grep -c '^petal_')"
for name in 'petal_flush_seconds_count 1' 'petal_write_seconds_count [1-9][0-9]*' 'petal_log_sync_seconds_count [1-9][0-9]*' 'petal_gets_total 1' \
    'petal_compaction_seconds_bucket{le="+Inf"} 0'; do
    is_true "there is a line $name" "$(grep -cx "$name" text)"
done
for help in 'petal_get_seconds how long gets of one row or key took; about one of 256 is timed' \
    'petal_write_seconds how long puts, deletes and batches took, with their waits for flushes and for syncs of the log; about one of 64 is timed'; do
    is_true "the help is $help" "$(grep -cx "# HELP $help" text)"
done
cat work >plain
echo 'stats' >>plain
"$shell" --no-took db -f plain >text 2>&1
for line in ' get *p50 [0-9.]* [num]*s, p99 [0-9.]* [num]*s, of 1 timed  how long gets of one row or key took; about one of 256 is timed' \
    ' write *p50 [0-9.]* [num]*s, p99 [0-9.]* [num]*s, of [1-9][0-9]* timed  how long puts, .*' ' cursor_seek * .*' ' flush .* of 1 timed .*' \
    ' compaction *none was timed  how long .*'; do
    is_true "stats alone has $line" "$(sed -n '/^LATENCY  *UPPER BOUNDS: /,$p' text | grep -cx "$line")"
done
expect 'latencies as records' 0 '^{"latency":"get","timed":0,"p50_ns":null,"p99_ns":null,"meaning":"gets of' "$shell" --no-took --format json db -e stats
expect 'counters alone' 0 '^ gets  *0$' "$shell" --no-took db -e "stats COUNTERS => ['gets']"
is_true 'have no latencies' "$(grep -c LATENCY "$scratch/out" | sed 's/^0$/ok/; s/^[1-9].*/0/; s/ok/1/')"
expect 'alone it is the whole output' 0 '^# HELP petal_info' "$shell" --no-took db -e "stats FORMAT => 'PROMETHEUS'"
is_true 'from its first line on' "$(head -n 1 "$scratch/out" | grep -c '^# HELP petal_info')"
"$shell" db -e "stats FORMAT => 'PROMETHEUS'" >out 2>err
is_true 'durations do not follow it' "$(tail -n 1 out | grep -c '^petal_')"
expect 'the next command has its duration' 0 '^Took [0-9.]* seconds$' "$shell" db -e "stats FORMAT => 'PROMETHEUS'; exists 't'"
expect 'as a record' 0 '^{"prometheus":"# HELP petal_info .*petal_write_stop_seconds_count 0\\u000a"}$' \
    "$shell" --no-took --format json db -e "stats FORMAT => 'PROMETHEUS'"
expect 'another format' 2 'FORMAT => "JSON": it must be PROMETHEUS' "$shell" --no-took db -e "stats FORMAT => 'JSON'"
expect 'with counters' 2 'leave out COUNTERS' "$shell" --no-took db -e "stats FORMAT => 'PROMETHEUS', COUNTERS => ['gets']"
expect 'neither' 2 "COUNTERS => \['name', ..\] or FORMAT => 'PROMETHEUS'" "$shell" --no-took db -e "stats LIMIT => 1"
expect_end
