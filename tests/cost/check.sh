#!/usr/bin/env bash
# Compares the instructions of single operations with the counts in tests/cost/COUNTS.
# Usage: check.sh PROGRAM CC FLAGS [accept]
# PROGRAM is tests/cost/main.c, built by CC with FLAGS: counts depend on the compiler, so those of
# another are not compared. A change of more than 5 % is marked; the exit status is then 1 only with
# COST_STRICT=1. `accept` keeps the current counts. COST_COUNTS: another file.
set -eu
program=$1 compiler=$2 flags=$3 action=${4:-compare}
kept=${COST_COUNTS:-$(dirname "$0")/COUNTS}

# Name, version, machine.
describe_compiler() {
    local name=gcc
    if $compiler -E -dM -x c /dev/null | grep -q __clang__; then name=clang; fi
    echo "$name $($compiler -dumpfullversion -dumpversion) $($compiler -dumpmachine) $(echo $flags)"
}

if ! command -v valgrind >/dev/null; then
    echo "cost: skipped: there is no valgrind (make check-deps installs it)"
    exit 0
fi
now=$(describe_compiler)
before=$(sed -n 's/^# compiler: //p' "$kept" 2>/dev/null || true)
if [ "$action" = compare ] && [ "$now" != "$before" ]; then
    echo "cost: not compared: this is $now, the counts are kept for ${before:-no compiler}"
    exit 0
fi
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
COST_ONLY=pairs "$(dirname "$0")/cost.sh" "$program" | tail -n +2 | awk '{ print $1, $2 }' >"$counts"
if [ "$action" = accept ]; then
    mkdir -p "$(dirname "$kept")"
    {
        echo "# Instructions of one operation (of one cell in scans); \`make cost-accept\` writes them, \`make cost-check\` compares with them."
        echo "# compiler: $now"
        cat "$counts"
    } >"$kept"
    echo "cost: $(wc -l <"$counts") counts kept in $kept"
    exit 0
fi
awk -v strict="${COST_STRICT:-0}" '
    BEGIN { printf "%-30s %12s %12s %8s\n", "operation", "instructions", "kept", "change" }
    FNR == NR { if ($1 != "#") kept[$1] = $2; next }
    !($1 in kept) { printf "%-30s %12d %12s %8s   <-- not kept yet\n", $1, $2, "-", "-"; moved++; next }
    {
        change = kept[$1] > 0 ? ($2 / kept[$1] - 1) * 100 : 100
        mark = change > 5 ? "   <-- more" : change < -5 ? "   <-- fewer" : ""
        moved += mark != ""
        printf "%-30s %12d %12d %+7.1f%%%s\n", $1, $2, kept[$1], change, mark
        delete kept[$1]
    }
    END {
        for (name in kept) { printf "%-30s %12s %12d %8s   <-- not counted\n", name, "-", kept[name], "-"; moved++ }
        printf "cost: %d moved by more than 5 %%%s\n", moved, (moved > 0 ? " (make cost-accept keeps what is now)" : "")
        exit (moved > 0 && strict == 1 ? 1 : 0)
    }' "$kept" "$counts"
