#!/usr/bin/env bash
# cliffs_test.sh -- no workload of `kv-bench cliffs` costs more at 10 n than it may, in blocks,
# seeks and cells looked at, and in instructions where there is a valgrind to count them.
# Usage: cliffs_test.sh KV-BENCH
set -eu
bench=${1:?usage: cliffs_test.sh KV-BENCH}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
fail() {
    echo "cliffs_test: $*"
    exit 1
}
# NAME MOST N UNITS of each workload and size, in the order in which they ran.
sizes() {
    awk '/^[a-z-]*: / { name = $1; sub(/:$/, "", name) }
         /growth, at most/ { n[1] = $5; n[2] = $8; most = $NF }
         /^  units / { for (i = 1; i <= 2; i++) printf "%s %g %d %d\n", name, most, n[i], $(i + 1) }' "$1"
}

"$bench" cliffs >"$scratch/out" || fail "$(grep -B 5 cliff "$scratch/out")"
workloads=$("$bench" cliffs --list | wc -l)
[ "$workloads" -gt 0 ] && [ "$(sizes "$scratch/out" | wc -l)" = $((2 * workloads)) ] || fail "$workloads workloads: $(cat "$scratch/out")"
first=$("$bench" cliffs --list | awk '{print $1; exit}')
"$bench" cliffs --only "$first" --scale 2 >"$scratch/out" || fail "one workload alone: $(cat "$scratch/out")"
[ "$(grep -c '^  us ' "$scratch/out")" = 1 ] || fail "--only runs others, too"
! "$bench" cliffs --only nothing 2>"$scratch/out" || fail "an unknown workload passes"
grep -q 'there is no "nothing"' "$scratch/out" || fail "an unknown workload: $(cat "$scratch/out")"
[ -z "$(find "$scratch" -name 'kv-bench-*')" ] || fail "databases are left behind"

if [ -n "${SANITIZE:-}" ] || ! command -v valgrind >/dev/null; then
    echo "$workloads workloads are flat; left out: instructions, with no valgrind or with sanitizers"
    exit 0
fi
valgrind --tool=callgrind --collect-atstart=no --toggle-collect=bench_cliff_measure --dump-after=bench_cliff_measure \
    --callgrind-out-file="$scratch/calls" "$bench" cliffs >"$scratch/out" 2>&1 ||
    fail "under callgrind: $(tail -n 20 "$scratch/out")"
part=0
while read -r name most n units; do
    part=$((part + 1))
    echo "$name $most $n $units $(sed -n 's/^totals: //p' "$scratch/calls.$part")"
done < <(sizes "$scratch/out") | awk '
    NR % 2 == 1 { small = $5 / $4; next }
    { large = $5 / $4
      printf "%-20s %12.0f instructions a unit, with ten times as much %12.0f%s\n", $1, small, large,
          (large > small * $2 ? ": more than " $2 " times as many" : "")
      cliffs += (large > small * $2) }
    END { exit cliffs > 0 || NR < 2 }' || fail "the cost of a unit grows"
echo "$workloads workloads are flat"
