#!/usr/bin/env bash
# Is every function of the public header called by the histories (tests/model)? What is not stands
# here, with the reason.
set -u
cd "$(dirname "$0")/../.." || exit 2

# name: reason
kept="petal_verify: of a database that nobody has open; engine/check/sweep has it
petal_salvage: the same
petal_backup: a checkpoint that goes on; engine/db/backup has it
petal_restore: the same
petal_stats_latency: times are no answers; engine/db/stats_text has it
petal_stats_text: its numbers are no answers; engine/db/stats_text has it
petal_stats_text_free: the same
petal_text: a slice of a text; engine/table/kv has it
petal_refresh: of a reader next to a writer; engine/db/refresh has histories of its own
petal_table_check: the checks of petal_table_create without a database; engine/table/table has it"

functions=$(tr '\n' ' ' <engine/petal.h | grep -oE 'PETAL_API [^;(]*\(' | grep -oE 'petal_[a-z0-9_]+ *\($' | tr -d ' (' | sort -u)
count=$(wc -l <<<"$functions")
[ "$count" -gt 80 ] || { echo "only $count functions were found in engine/petal.h"; exit 1; }
called=$(find tests/model -name '*.c' ! -name '*_test.c' -exec cat {} + | sed 's|/\*.*||' | grep -oE '\bpetal_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
failed=0
for name in $functions; do
    if grep -qx "$name" <<<"$called"; then
        ! grep -q "^$name:" <<<"$kept" || { echo "$name is called: it needs no reason"; failed=1; }
    elif ! grep -q "^$name:" <<<"$kept"; then
        echo "$name is not called by the histories"
        failed=1
    fi
done
echo "$count functions of engine/petal.h, not called: $(grep -c : <<<"$kept")"
exit $failed
