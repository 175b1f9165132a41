#!/usr/bin/env bash
# Counts the branches of the library that the tests took. Usage: coverage.sh OBJECTS [FLOOR | list]
# OBJECTS: a build by gcc with --coverage whose tests have run; the sources are in the current
# directory. Prints a line a file, the least covered first, and fails if fewer than FLOOR per cent
# are taken in all; `list` prints the lines with branches not taken instead.
#
# Counted is each conditional jump that gcc makes of the library's sources without optimization:
# both ways of each operand of a condition, each way out of a switch. A line of a header counts
# once, whoever includes it or took it; the library's second build, with failing places, has the
# same lines. Code that never ran counts as not taken. So do branches that nothing can take here:
# the way out of a switch that names all cases, system calls that do not fail on this kernel, races
# that nobody lost. Not counted are assertions, since the build has none; code for other machines,
# which is not compiled; and children of tests that were killed before they could write their
# counts.
set -eu
objects=$1 action=${2:-0}
awk=$(dirname "$0")/branches.awk
# One object at a time: of several gcov repeats a file's lines, once for each. Code that never ran
# counts, too.
branches() { find "$objects" -name '*.gcno' | while read -r object; do gcov -b -c -t "$object" 2>/dev/null; done | awk "$@" -f "$awk"; }
if [ "$action" = list ]; then
    branches -v list=1 | sort -V
    exit
fi
table=$(branches)
grep -v '^~' <<<"$table" | sort -k6,6n -k1,1
total=$(grep '^~' <<<"$table")
echo "${total#\~ }"
awk -v floor="$action" '{ exit !($(NF - 1) >= floor) }' <<<"$total" || { echo "fewer than $action % of the library's branches are taken"; exit 1; }
