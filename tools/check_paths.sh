#!/usr/bin/env bash
# Checks that every file of ours named in comments and documents exists, and every test named in
# tests/INVARIANTS.md. Prints each line that names a missing one, and exits 1 if there is any.
set -u
cd "$(dirname "$0")/.." || exit 2
# The places of pattern $1 in our files: those known to git, or, in a tarball, all.
named() {
    if git rev-parse --verify -q HEAD >/dev/null 2>&1; then git grep -nIoE "$1"; else grep -rnIoE --exclude-dir=build --exclude-dir='build-*' "$1" . | sed 's,^\./,,'; fi
}
files() {
    named '(^|[^A-Za-z0-9_./$-])(base|bloom|cache|memtable|sstable|engine|tools|tests)/[A-Za-z0-9_/-]+\.(c|h|md|sh|txt|gnuplot)\b' |
        while IFS=: read -r file line text; do
            name=${text#[!a-z]}
            [ -e "$name" ] || [ -e "${file%/*}/$name" ] || echo "$file:$line: there is no $name"
        done
}
guards() {
    awk -F'|' '/^\|/ { print FNR "|" $(NF - 1) }' tests/INVARIANTS.md | while IFS='|' read -r line guards; do
        grep -oE '(^|[ ;,(])([a-z_]+/)+[a-z0-9_]+(\.[a-z]+)?' <<<"$guards" | while read -r name; do
            name=tests/${name#[ ;,(]}
            [ -e "$name" ] || [ -e "${name}_test.c" ] || [ -e "$name.c" ] || [ -e "$name.sh" ] ||
                echo "tests/INVARIANTS.md:$line: there is no $name"
        done
    done
}
bad=$(files; guards)
if [ -n "$bad" ]; then
    echo "$bad"
    exit 1
fi
echo "paths: every file that is named is there"
