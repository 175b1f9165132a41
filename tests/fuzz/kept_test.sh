#!/usr/bin/env bash
# kept_test.sh -- runs all kept inputs of fuzzers through their targets, those that found defects
# first.
# Usage: kept_test.sh FUZZ-REPLAY
set -eu
here=$(dirname "$0")
inputs=$(mktemp -d)
trap 'rm -rf "$inputs"' EXIT
for corpus in "$here"/corpora/*.tar.gz; do
    name=$(basename "$corpus" .tar.gz)
    mkdir "$inputs/$name"
    tar -xzf "$corpus" -C "$inputs/$name"
    bytes=$(stat -c %s "$corpus")
    [ "$bytes" -le 65536 ] || { echo "$corpus has $bytes bytes, more than 65536"; exit 1; }
done
while read -r input; do
    grep -q "^$input  " "$here/found/stories.txt" || { echo "found/stories.txt has no line for $input"; exit 1; }
done < <(cd "$here/found" && find . -mindepth 2 -type f -printf '%P\n')
ASAN_OPTIONS="abort_on_error=1:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}" "$1" "$here/found" "$inputs"
