#!/usr/bin/env bash
# simulate_test.sh -- `kv-bench simulate`: a small table figure by figure, its file of results, and
# what is refused.
# Usage: simulate_test.sh KV-BENCH
set -eu
bench=${1:?usage: simulate_test.sh KV-BENCH}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "simulate_test: $*"
    exit 1
}
# figure LABEL: of the last output, for N, 4 N and 16 N bytes.
figure() {
    awk -v label="$1" 'index($0, label) == 1 { print $(NF - 2), $(NF - 1), $NF }' "$scratch/out"
}

# Memtables of 8 MiB are flushed whole while there is one region: 4 M of the user's make a file.
# Regions of 128 MiB hold 220 MiB of the user's at the most.
small=(simulate --memory 64M --region 128M --bytes 64M)
"$bench" "${small[@]}" --order random --json "$scratch/json" >"$scratch/out" || fail "$(cat "$scratch/out")"
figure bytes | grep -qx '64.0 256 1024' || fail "sizes: $(cat "$scratch/out")"
figure regions | awk '{exit !($1 == 1 && $2 == 2 && $3 == 8)}' || fail "regions: $(cat "$scratch/out")"
# Larger ones are written more often, and no job is larger than a region.
figure 'write amplification' | awk '{exit !($1 > 0.57 && $1 < $2 && $2 < $3 && $3 < 10)}' || fail "random keys: $(cat "$scratch/out")"
figure 'longest job  ' | awk '{exit !($3 > 60 && $3 < 136)}' || fail "longest job: $(cat "$scratch/out")"
grep -q '"kind": "simulate"' "$scratch/json" || fail "no kind: $(cat "$scratch/json")"
[ "$(grep -c '"operation": "random, write amplification"' "$scratch/json")" = 3 ] || fail "three sizes: $(cat "$scratch/json")"
"$bench" diff "$scratch/json" "$scratch/json" >"$scratch/out" || fail "diff: $(cat "$scratch/out")"
# Keys in order: what is old is not written again, and a row is in one file.
"$bench" "${small[@]}" --order sequential >"$scratch/out" || fail "$(cat "$scratch/out")"
figure 'with the log' | awk '{exit !($1 < 2.4 && $3 < 2.4)}' || fail "keys in order: $(cat "$scratch/out")"
figure 'runs a get' | awk '{exit !($3 == 1)}' || fail "keys in order: $(cat "$scratch/out")"
# Without a limit one region holds all.
"$bench" simulate --memory 64M --region 0 --bytes 64M --order overwrite --keys 1M >"$scratch/out" || fail "$(cat "$scratch/out")"
figure regions | grep -qx '1.00 1.00 1.00' || fail "one region: $(cat "$scratch/out")"
[ "$("$bench" "${small[@]}" | grep -c '^bytes')" = 2 ] || fail "not two orders"

refused() {
    local status=0
    "$bench" simulate "$@" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 2 ] || fail "$* ends with $status: $(cat "$scratch/out")"
}
refused --order sideways
refused --stored 0
refused --keys 0
refused --merge 0
refused --rate 0
refused --regions 0
refused --file -1
refused --bytes 0
refused --bytes 16T --memory 1M
refused --memory 64M --region 8M
refused --memory 64M --memtable 32M
refused --nothing
# Output that cannot be written is a failure, of the usage, too.
if [ -c /dev/full ]; then
    for arguments in "--bytes 64M" "--help"; do
        status=0
        # shellcheck disable=SC2086
        "$bench" simulate $arguments >/dev/full 2>"$scratch/out" || status=$?
        [ "$status" = 3 ] || fail "$arguments on a full disk ends with $status"
    done
    "$bench" simulate --bytes 64M >/dev/full 2>"$scratch/out" || grep -q 'cannot write to the standard output: No space left' "$scratch/out" ||
        fail "$(cat "$scratch/out")"
fi
echo "a table in numbers grows as the policies say"
