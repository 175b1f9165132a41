#!/usr/bin/env bash
# Shows how much code a reader of a get, a put, a step of a scan and a flush has to read: the
# functions, files and lines that one call passes, next to the counts in tests/cost/PATHS.
# Usage: paths.sh PROGRAM OBJECTS [accept | list SCENARIO]
# PROGRAM is tests/cost/paths.c, built by gcc with --coverage into OBJECTS; the sources are in the
# current directory. Higher counts than kept are marked; the exit status is 1 if one is more than 5
# % above. `accept` keeps the current counts, `list` prints the functions of one scenario. A flush
# is the work of two threads, whose count varies by a function or two.
set -eu
program=$1 objects=$2 action=${3:-compare} asked=${4:-}
kept=${PATHS_KEPT:-$(dirname "$0")/PATHS}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One scenario; the other arguments go to awk.
count() {
    local scenario=$1
    shift
    find "$objects" -name '*.gcda' -delete
    rm -rf "$folder/db"
    "$program" "$folder/db" "$scenario"
    find "$objects" -name '*.gcda' -exec gcov -t {} + 2>/dev/null | awk "$@" -f "$(dirname "$0")/paths.awk"
}

if [ "$action" = list ]; then
    count "$asked" -v list=1 | sort -V
    exit 0
fi
find "$objects" -name '*.gcda' -delete # of objects that were built anew since
for scenario in $("$program" list); do
    echo "$scenario $(count "$scenario")"
done >"$folder/counts"
if [ "$action" = accept ]; then
    {
        echo "# Functions, files and lines that one call passes (tests/cost/paths.c); \`make paths-accept\` writes them, \`make paths\` compares."
        cat "$folder/counts"
    } >"$kept"
fi
awk '
    BEGIN { printf "%-12s %20s %20s %20s\n", "one call", "functions (kept)", "files (kept)", "lines (kept)" }
    FNR == NR { if ($1 != "#") { functions[$1] = $2; files[$1] = $3; lines[$1] = $4 } next }
    {
        more = $2 > functions[$1] * 1.003 || $3 > files[$1] || $4 > lines[$1] * 1.003
        grown += $2 > functions[$1] * 1.05 || $3 > files[$1] * 1.05 || $4 > lines[$1] * 1.05
        printf "%-12s %12d %7s %12d %7s %12d %7s%s\n", $1, $2, "(" functions[$1] ")", $3, "(" files[$1] ")", $4, "(" lines[$1] ")",
            more ? "   <-- more" : ""
    }
    END {
        if (grown > 0) printf "paths: %d grew by more than 5 %% (make paths-accept keeps what is now, make paths LIST=get prints the functions)\n", grown
        exit grown > 0
    }' "$kept" "$folder/counts"
