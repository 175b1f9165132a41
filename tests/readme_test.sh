#!/usr/bin/env bash
# README's C example compiles against the public header and the archive as it stands there, and prints what it should,
# the second time from what the first run stored. Usage: readme_test.sh BUILD
set -eu
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md |
    sed "s|/tmp/example|$work/db|" >"$work/example.c"
grep -q petal_open "$work/example.c"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -I. "$work/example.c" "$build/libpetal.a" ${SANITIZE:-} \
    -llz4 -lxxhash -lm -pthread -o "$work/example"
for run in first second; do
    got=$("$work/example")
    if [ "$got" != "name = Ada" ]; then
        echo "the $run run printed: $got"
        exit 1
    fi
done
echo "README's example compiles and prints what it should"
