#!/usr/bin/env bash
# Proves from the #include lines that folders only use what lies below them. Exits 1 and names each line that does not.
set -u
cd "$(dirname "$0")/.." || exit 2

# folder: what it may include beside itself. petal.h includes nothing of ours.
declare -A allowed=(
    [base]="engine/petal.h"
    [bloom]=""
    [cache]="base/ engine/petal.h"
    [memtable]="base/ bloom/ engine/petal.h"
    [sstable]="base/ bloom/ cache/ engine/petal.h"
    [engine]="base/ bloom/ cache/ memtable/ sstable/"
    [tools]="engine/petal.h"
)
bad=0
for folder in base bloom cache memtable sstable engine tools; do
    while IFS=: read -r file line text; do
        included=${text#*\"}
        included=${included%%\"*}
        fine=no
        [ "$file" = engine/petal.h ] || for prefix in "$folder/" ${allowed[$folder]}; do
            case $included in "$prefix"*) fine=yes ;; esac
        done
        # kv-check alone may look inside store files.
        case $file:$included in tools/kv-check*:sstable/*) fine=yes ;; esac
        if [ $fine = no ]; then
            echo "$file:$line: $folder/ may not include $included"
            bad=1
        fi
    done < <(grep -rHnE '^#include "' --include='*.[ch]' "$folder")
done
[ $bad = 0 ] && echo "layers: every include points down"
exit $bad
