#!/usr/bin/env bash
# Counts the branches of the library that the tests took. Usage: coverage.sh OBJECTS [FLOOR | list]
# OBJECTS: a build by gcc with --coverage whose tests have run; the sources lie in the directory
# that one stands in. Prints a line a file, the least covered first, and fails when fewer than FLOOR
# per cent are taken in all; `list` prints the lines with branches not taken instead.
#
# What counts: each conditional jump that gcc makes of the sources of the library without
# optimizing: both ways of each operand of a condition, each way out of a switch. Of a header each
# line counts once, whoever includes it, and whoever took it; the library's second build, with its
# places that fail, is the same lines. What never ran counts as not taken. So do branches that
# nothing can take here: the way out of a switch that names all cases, calls of the system that do
# not fail on this kernel, races that nobody lost. What does not: assertions, since the build is one
# without them; code for other machines, which is not compiled; children of tests that were killed,
# who tell nothing.
set -eu
objects=$1 action=${2:-0}
awk=$(dirname "$0")/branches.awk
# One object at a time: of several gcov makes one file's lines, each as often as they have it. What
# never ran counts, too.
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
