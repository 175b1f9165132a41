#!/usr/bin/env bash
# Counts the lines of .c and .h files by folder and room, next to those kept in tests/cost/LINES.
# Usage: lines.sh [accept]
# The sources are in the current directory. A folder whose count is more than 5 % above the kept one
# is marked, and the exit status is 1: remove what should not be there, or let `accept` keep the
# current counts.
set -eu
kept=${LINES_KEPT:-$(dirname "$0")/LINES}
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT

# One line each: a top-level folder, or one of its rooms, and its lines. A file counts for its top
# folder and for its room.
find base bloom cache memtable sstable engine tools tests -name '*.[ch]' -exec wc -l {} + | awk '
    $2 == "total" { next }
    {
        depth = split($2, part, "/")
        lines[part[1] "/"] += $1
        room = part[1] "/" part[2] "/"
        if (depth > 2) lines[room] += $1
        if (part[1] != "tools" && part[1] != "tests") lines["library"] += $1
    }
    END { for (name in lines) print name, lines[name] }' | LC_ALL=C sort >"$counts"
if [ "${1:-}" = accept ]; then
    {
        echo "# Lines of .c and .h files (tests/cost/lines.sh); \`make lines-accept\` writes them, \`make lines\` compares."
        cat "$counts"
    } >"$kept"
fi
awk '
    FNR == NR { if ($1 != "#") kept[$1] = $2; next }
    {
        is_top = $1 ~ /^[a-z]+[/]?$/
        more = is_top && $2 > kept[$1] * 1.05
        grown += more
        printf "%-24s %7d %9s%s\n", (is_top ? "" : "  ") $1, $2, "(" kept[$1] + 0 ")", more ? "   <-- more" : ""
    }
    END {
        if (grown > 0) printf "lines: %d grew by more than 5 %% (make lines-accept keeps what is now)\n", grown
        exit grown > 0
    }' "$kept" "$counts"
