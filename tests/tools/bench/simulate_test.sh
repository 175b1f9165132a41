#!/usr/bin/env bash
# simulate_test.sh -- `kv-bench simulate`: a tiny store line by line, its file of results, and what
# is refused.
# Usage: simulate_test.sh KV-BENCH
set -eu
bench=${1:?usage: simulate_test.sh KV-BENCH}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "simulate_test: $*"
    exit 1
}

# A memtable of 216 bytes holds 116 of the user's: with --stored 1 nine flushes are left alone and
# ten become one.
tiny=(simulate --order random --memtable 216 --cell 116 --stored 1 --logged 1 --from 1044 --to 2088)
"$bench" "${tiny[@]}" --json "$scratch/json" >"$scratch/out" || fail "$(cat "$scratch/out")"
[ "$(wc -l <"$scratch/out")" = 4 ] || fail "lines: $(cat "$scratch/out")"
awk 'NR == 3 {exit !($2 == 9 && $3 == 0 && $5 == "2.00" && $8 == "0.00" && $10 == 9)}' "$scratch/out" || fail "nine flushes: $(cat "$scratch/out")"
awk 'NR == 4 {exit !($2 == 18 && $3 == 1 && $5 == "2.56" && $8 == "0.56" && $10 == 9)}' "$scratch/out" || fail "eighteen flushes: $(cat "$scratch/out")"
# Keys in order: nothing is merged until a run would have more than 64 files, and then little.
"$bench" simulate --order sequential --memtable 216 --cell 116 --stored 1 --logged 1 --from 5800 --to 116000 >"$scratch/out" || fail "$(cat "$scratch/out")"
awk 'NR == 3 {few = $8} END {exit !(few == "0.00" && $8 > 0 && $8 < 1.2)}' "$scratch/out" || fail "keys in order: $(cat "$scratch/out")"
grep -q '"kind": "simulate"' "$scratch/json" || fail "no kind: $(cat "$scratch/json")"
[ "$(grep -c '"operation": "random, written"' "$scratch/json")" = 2 ] || fail "two sizes: $(cat "$scratch/json")"
"$bench" diff "$scratch/json" "$scratch/json" >"$scratch/out" || fail "diff: $(cat "$scratch/out")"
[ "$("$bench" simulate --to 1G | grep -c '^ *user MiB')" = 3 ] || fail "not three orders"

refused() {
    local status=0
    "$bench" simulate "$@" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 2 ] || fail "$* ends with $status: $(cat "$scratch/out")"
}
refused --order sideways
refused --from 2G --to 1G
refused --stored 0
refused --keys 0
refused --memtable 1 --to 64G
refused --nothing
# Output that cannot be written is a failure, of the usage, too.
if [ -c /dev/full ]; then
    for arguments in "--to 64M" "--help"; do
        status=0
        # shellcheck disable=SC2086
        "$bench" simulate $arguments >/dev/full 2>"$scratch/out" || status=$?
        [ "$status" = 3 ] || fail "$arguments on a full disk ends with $status"
    done
    "$bench" simulate --to 64M >/dev/full 2>"$scratch/out" || grep -q 'cannot write to the standard output: No space left' "$scratch/out" ||
        fail "$(cat "$scratch/out")"
fi
echo "a store in numbers grows as its policy says"
