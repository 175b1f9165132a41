#!/bin/sh
# start_test.sh KV-SHELL -- what kv-shell reads until it has answered its first get, on a store of
# 100 files: a few pieces of each file, one data block in all.
set -u
export LC_ALL=C TZ=UTC
shell=${1:?usage: start_test.sh KV-SHELL}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/start_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

awk 'BEGIN { print "create \"t\", \"f\""
             for (i = 0; i < 100; i++) {
                 for (j = 0; j < 20; j++) printf "put \"t\", \"row%04d\", \"f:q%d\", \"%0500d\"\n", i + 100 * j, i, j
                 print "flush \"t\"" } }' | "$shell" --no-compaction "$scratch/db" >/dev/null || exit 1
mkfifo "$scratch/pipe"
"$shell" --no-compaction "$scratch/db" <"$scratch/pipe" >"$scratch/out" 2>&1 &
process=$!
exec 3>"$scratch/pipe"
echo "get 't', 'row0550'; stats" >&3
until grep -q background_error "$scratch/out" || ! kill -0 $process; do sleep 0.1; done
reads=$(awk '$1 == "syscr:" { print $2 }' /proc/$process/io)
bytes=$(awk '$1 == "rchar:" { print $2 }' /proc/$process/io)
exec 3>&-
wait
files=$(awk '$1 == "files_considered" { print $2 }' "$scratch/out")
blocks=$(awk '$1 == "data_fetched" { print $2 }' "$scratch/out")
echo "$files files, $blocks data blocks, $reads reads of $bytes bytes"
[ "$files" = 100 ] && [ "$blocks" -le 2 ] && [ "$reads" -lt 1000 ] && [ "$bytes" -lt 1000000 ]
