#!/usr/bin/env bash
# Does resident memory stay at the limit, with large blocks and the default limit, and with small
# blocks?  Usage: memory_test.sh PROGRAM.  With PETAL_LONG=1 gigabytes are written.
set -u
program=$1
# Sanitizers take memory of their own.
if [ -n "${SANITIZE:-}" ]; then
    echo "left out under sanitizers"
    exit 0
fi
megabytes=300 small_megabytes=300 small_limit=128
[ "${PETAL_LONG:-0}" = 1 ] && megabytes=6144 small_megabytes=2048 small_limit=512
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" "$folder/large" $megabytes || exit 1
rm -rf "$folder/large"
"$program" "$folder/small" $small_megabytes $small_limit 4096
