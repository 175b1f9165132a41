#!/usr/bin/env bash
# A kv-bench that was built with no optional package in sight has Petal only, is linked with nothing
# of the others, and works. Usage: bare.sh KV-BENCH
set -eu
bench=${1:?usage: bare.sh KV-BENCH}
fail() {
    echo "bare: $*"
    exit 1
}
stores=$("$bench" fillseq --store none 2>&1 | sed -n 's/.*built in: //p')
[ "$stores" = petal ] || fail "the stores that are built in are \"$stores\", not petal alone"
for name in rocksdb leveldb lmdb bloom; do
    ! ldd "$bench" | grep "lib$name" || fail "kv-bench is linked with $name"
done
tests/tools/bench/workloads_test.sh "$bench"
