#!/bin/sh
# agree_test.sh -- the stores that kv-bench was built with answer alike, with and without a log,
# synced or not.
#
#     tests/tools/bench/agree_test.sh KV-BENCH
set -u
bench=${1:?usage: agree_test.sh KV-BENCH}
. "$(dirname "$0")/../../support/expect.sh"
export TMPDIR=$scratch
which=${PETAL_SHORT:+--store petal} # under sanitizers the other stores agree once

# Petal is always among them, and a store that differs ends the program with 1.
expect "all stores" 0 "^petal .*agrees" "$bench" agree --operations 3000
expect "another seed, no compaction" 0 "^petal .*agrees" "$bench" agree $which --operations 2000 --seed 2 --no-compaction
expect "no log, no compression" 0 "^petal .*agrees" "$bench" agree $which --operations 1000 --seed 3 --no-log --no-compression
expect "records, too" 0 "^petal .*and 300 records" "$bench" agree --store petal --operations 100
expect "synced" 0 "^petal .*agrees" "$bench" agree $which --operations 100 --seed 4 --sync
expect "one store" 0 "^petal .*agrees" "$bench" agree --store petal --operations 1000
expect "an unknown store" 2 'no store "nothing"; built in: petal' "$bench" agree --store petal,nothing
expect "a store named twice" 2 'named twice: store "petal"' "$bench" agree --store petal,petal
for command in agree compare fillrandom; do
    expect "$command tells of every store that can be built in" 0 'petal,rocksdb,rocksdb-tuned,leveldb,lmdb,wiredtiger' "$bench" $command --help
done
expect "too few operations" 2 'operations is from 100' "$bench" agree --operations 3
if ls -d "$scratch"/kv-bench-* 2>/dev/null; then
    echo "FAILED: directories were left"
    failed=$((failed + 1))
fi
expect_end
