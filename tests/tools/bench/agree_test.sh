#!/bin/sh
# agree_test.sh -- the stores that kv-bench was built with answer alike, with and without a log, synced or not.
#
#     tests/tools/bench/agree_test.sh KV-BENCH
set -u
export LC_ALL=C
bench=${1:?usage: agree_test.sh KV-BENCH}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/agree_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
export TMPDIR=$scratch
failed=0
which=${PETAL_SHORT:+--store petal} # under sanitizers the other stores agree once

# expect NAME STATUS PATTERN ARGUMENT..: kv-bench ends with STATUS and prints a line that matches PATTERN.
expect() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    "$bench" "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    if [ $status -ne "$wanted" ] || ! grep -q -- "$pattern" "$scratch/out"; then
        echo "FAILED $name: exit status $status, wanted $wanted and a line like: $pattern"
        cat "$scratch/out"
        failed=$((failed + 1))
    fi
}

# Petal is always among them, and a store that differs ends the program with 1.
expect "all stores" 0 "^petal .*agrees" agree --operations 3000
expect "another seed, no compaction" 0 "^petal .*agrees" agree $which --operations 2000 --seed 2 --no-compaction
expect "no log, no compression" 0 "^petal .*agrees" agree $which --operations 1000 --seed 3 --no-log --no-compression
expect "records, too" 0 "^petal .*and 300 records" agree --store petal --operations 100
expect "synced" 0 "^petal .*agrees" agree $which --operations 100 --seed 4 --sync
expect "one store" 0 "^petal .*agrees" agree --store petal --operations 1000
expect "an unknown store" 2 'no store "nothing"; built in: petal' agree --store petal,nothing
expect "a store named twice" 2 'named twice: store "petal"' agree --store petal,petal
expect "too few operations" 2 'operations is from 100' agree --operations 3
if ls -d "$scratch"/kv-bench-* 2>/dev/null; then
    echo "FAILED: directories were left"
    failed=$((failed + 1))
fi
[ $failed -eq 0 ] && echo "agree_test: all passed"
[ $failed -eq 0 ]
