#!/usr/bin/env bash
# Counts the branches of the library that the tests took. Usage: coverage.sh OBJECTS [FLOOR | list]
# OBJECTS: a build by gcc with --coverage whose tests have run; the sources lie in the directory that one stands in. Prints a line a
# file, the least covered first, and fails when fewer than FLOOR per cent are taken in all; `list` prints the lines with branches not
# taken instead. Assertions are no branches here: the build is one without them.
set -eu
objects=$1 action=${2:-0}
awk=$(dirname "$0")/branches.awk
# One object at a time: of several gcov makes one file's lines, each as often as they have it. What never ran counts, too.
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
