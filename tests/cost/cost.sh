#!/usr/bin/env bash
# Counts the instructions of single operations with callgrind, about half a minute a program.
# Usage: cost.sh PROGRAM [PROGRAM_BEFORE]
# PROGRAM is tests/cost/main.c of one build. With a PROGRAM_BEFORE of another build the second
# column has its counts, the third the ratio. COST_ONLY=pairs: only the group of that name in
# main.c.
set -eu
counts() {
    local program=$1 folder part=0 name operations total
    folder=$(mktemp -d)
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect=measured_operations \
        --dump-after=measured_operations --callgrind-out-file="$folder/out" \
        "$program" "$folder/db" ${COST_ONLY:+"$COST_ONLY"} >"$folder/scenarios" 2>"$folder/messages" || {
        tail -n 20 "$folder/messages" >&2
        exit 3
    }
    while read -r name operations; do
        part=$((part + 1))
        total=$(sed -n 's/^totals: //p' "$folder/out.$part")
        awk -v name="$name" -v total="$total" -v count="$operations" 'BEGIN { printf "%s %.0f\n", name, total / count }'
    done <"$folder/scenarios"
    if [ -n "${COST_KEEP:-}" ]; then mv "$folder" "$COST_KEEP"; else rm -rf "$folder"; fi
}
if [ $# = 1 ]; then
    counts "$1" | awk 'BEGIN { printf "%-30s %12s\n", "operation", "instructions" } { printf "%-30s %12d\n", $1, $2 }'
else
    join <(counts "$1" | sort) <(counts "$2" | sort) |
        awk 'BEGIN { printf "%-30s %12s %12s %8s\n", "operation", "instructions", "before", "ratio" }
             { printf "%-30s %12d %12d %8.3f\n", $1, $2, $3, $2 / $3 }'
fi
