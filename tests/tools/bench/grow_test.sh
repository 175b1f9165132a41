#!/usr/bin/env bash
# grow_test.sh -- `kv-bench grow`: three sizes in each order at a small scale, its counts within wide
# bounds, its file of results, and what is refused. No time is asserted.
# Usage: grow_test.sh KV-BENCH
set -eu
bench=${1:?usage: grow_test.sh KV-BENCH}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
fail() {
    echo "grow_test: $*"
    exit 1
}
# Value $2 (1 to 3: of which size) of the line of results with label $1.
value() { awk -v label="$1" -v size="$2" 'index($0, label) == 1 { print $(NF - 3 + size); exit }' "$scratch/out"; }
# within LABEL SIZE LOW HIGH
within() {
    awk -v value="$(value "$1" "$2")" -v low="$3" -v high="$4" 'BEGIN { exit !(value != "" && value + 0 >= low && value + 0 <= high) }' ||
        fail "$1, size $2, is not within $3 .. $4: $(cat "$scratch/out")"
}
labels='put p50|put p99.9|longest stall|longest put|rate|write amplification|with the log|space beyond the data|longest job|longest job, time|regions|files|opening|memory beyond the limit|blocks a get|data blocks a get'

# 64K of memtables: about 30 flushes for each MiB. Keys in random order are merged, each run with
# all others; keys in order are linked.
for order in random sequential; do
    "$bench" grow --order $order --bytes 128K --memory 64K --json "$scratch/$order" >"$scratch/out" || fail "$order: $(cat "$scratch/out")"
    [ "$(grep -cE "^($labels)  " "$scratch/out")" = 16 ] || fail "not all lines: $(cat "$scratch/out")"
    within bytes 3 2 2
    for size in 1 2 3; do
        within 'write amplification' $size 0.3 10
        within 'regions' $size 1 60
        within 'files' $size 1 400
        within 'blocks a get' $size 1 40
        within 'data blocks a get' $size 1 2
        within 'space beyond the data' $size 0 100
    done
    within 'regions' 3 4 60
    awk -v all="$(value 'with the log' 3)" -v files="$(value 'write amplification' 3)" 'BEGIN { exit !(all - files > 1 && all - files < 1.5) }' ||
        fail "the log: $(cat "$scratch/out")"
    grep -q '"kind": "grow"' "$scratch/$order" || fail "no kind: $(cat "$scratch/$order")"
    [ "$(grep -c "\"operation\": \"$order, " "$scratch/$order")" = 48 ] || fail "three sizes: $(cat "$scratch/$order")"
    "$bench" diff "$scratch/$order" "$scratch/$order" >"$scratch/diff" || fail "diff: $(cat "$scratch/diff")"
    [ $order = sequential ] || within 'longest job' 3 0.03 2
done
within 'write amplification' 3 0.3 1.2
[ -z "$(find "$scratch" -name 'kv-bench-*')" ] || fail "databases are left behind"

refused() {
    local status=0
    "$bench" grow "$@" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 2 ] || fail "$* ends with $status: $(cat "$scratch/out")"
}
refused --order sideways
refused --bytes 1K
refused --memory 1K
refused --memory 1G --bytes 2G
refused --region 1K
refused --rate 0
refused --rate 101
refused --nothing
# A database that cannot be made is a failure.
status=0
TMPDIR=$scratch/nowhere "$bench" grow --bytes 64K --memory 64K >"$scratch/out" 2>&1 || status=$?
[ "$status" = 3 ] || fail "no directory ends with $status: $(cat "$scratch/out")"
echo "databases of three sizes grow as they may"
