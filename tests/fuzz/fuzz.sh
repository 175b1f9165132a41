#!/usr/bin/env bash
# fuzz.sh -- runs fuzzers on their kept inputs and on new ones, and prints a summary of each.
# Usage: fuzz.sh BUILD SECONDS smoke|keep [TARGET..]
#     smoke   as many fuzzers at once as there are processors; new inputs are dropped
#     keep    one after the other, at the lowest priority; the fewest inputs
#             that cover the same code are put into corpora/
# PETAL_SEED is the seed. An input that fails is at BUILD/failed-TARGET-*.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1 seconds=$2 what=$3
shift 3
seed=${PETAL_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
corpus_bytes=65536
[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *.c | sed 's/\.c$//')

# The inputs of $1 that are kept, into directory $2.
unpack() {
    mkdir -p "$2"
    [ ! -e "$here/corpora/$1.tar.gz" ] || tar -xzf "$here/corpora/$1.tar.gz" -C "$2"
    [ ! -d "$here/found/$1" ] || cp "$here/found/$1"/* "$2"
}

# The fewest inputs of directory $2 that reach the same code as all of them, into corpora/; without
# the largest if they are too many.
keep() {
    local few=$build/fewest/$1 packed=$build/$1.tar.gz left_out=0
    rm -rf "$few" && mkdir -p "$few"
    "$build/fuzz_$1" -merge=1 -timeout=60 "$few" "$2" >"$build/$1.log" 2>&1 || { tail -n 30 "$build/$1.log"; return 1; }
    while :; do
        (cd "$few" && find . -type f -printf '%f\n') | LC_ALL=C sort |
            tar -C "$few" --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - -T - | gzip -n9 >"$packed"
        [ "$(stat -c %s "$packed")" -gt "$corpus_bytes" ] || break
        find "$few" -type f -printf '%s %p\n' | sort -rn | head -n 4 | cut -d' ' -f2 | xargs rm -f
        left_out=$((left_out + 4))
    done
    mv "$packed" "$here/corpora/$1.tar.gz"
    [ "$left_out" = 0 ] || echo "$1: the $left_out largest inputs are left out"
}

# One row: what libFuzzer says at its end of target $1, whose log is $2, in $3 seconds of a
# processor.
row() {
    awk -v name="$1" -v seconds="$3" '
        /DONE/ { for (i = 1; i < NF; i++) { if ($i == "cov:") edges = $(i + 1); if ($i == "corp:") inputs = $(i + 1) } }
        /INITED/ { for (i = 1; i < NF; i++) if ($i == "corp:") began = $(i + 1) }
        /number_of_executed_units/ { executed = $2 }
        /peak_rss_mb/ { memory = $2 }
        END { sub("/.*", "", inputs); sub("/.*", "", began)
              printf "%-14s %12d %10.0f %8d %8d %8d %8d %8.1f\n", name, executed, executed / (seconds > 0 ? seconds : 1), edges, began, inputs - began, memory, seconds }' "$2"
}

# Seconds of a processor that finished children had taken when `times` wrote file $1.
children_seconds() {
    awk 'NR == 2 { split($1, user, "[ms]"); split($2, kernel, "[ms]"); print 60 * (user[1] + kernel[1]) + user[2] + kernel[2] }' "$1"
}

one() {
    local name=$1 inputs log=$build/$1.log dictionary=$here/dictionaries/$1.dict status
    if [ "$what" = smoke ]; then inputs=$(mktemp -d); else inputs=$build/inputs/$name; fi
    unpack "$name" "$inputs"
    times >"$log.began" # here: a subshell would be told of its own children
    "$build/fuzz_$name" -max_total_time="$seconds" -seed="$seed" -entropic=0 -timeout=60 -rss_limit_mb=2048 -malloc_limit_mb=256 \
        -print_final_stats=1 -max_len="$(sed -n 's/^#define FUZZ_MOST_BYTES *//p' "$here/$name.c" | grep . || echo 4096)" \
        $([ ! -e "$dictionary" ] || echo "-dict=$dictionary") -artifact_prefix="$build/failed-$name-" "$inputs" >"$log" 2>&1
    status=$?
    times >"$log.ended"
    row "$name" "$log" "$(awk "BEGIN { print $(children_seconds "$log.ended") - $(children_seconds "$log.began") }")" | tee -a "$build/rows"
    [ "$status" = 0 ] || { echo "FAIL  $name"; tail -n 60 "$log"; }
    if [ "$what" = smoke ]; then rm -rf "$inputs"; elif [ "$status" = 0 ]; then keep "$name" "$inputs" || status=1; fi
    return "$status"
}

printf '%-14s %12s %10s %8s %8s %8s %8s %8s   seed %s\n' target executed a-second edges kept new MiB CPU-s "$seed"
rm -f "$build"/*.has-failed "$build/rows"
[ "$what" = smoke ] || renice -n 19 -p $$ >/dev/null
for name in "$@"; do
    if [ "$what" = smoke ]; then
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        { one "$name" || touch "$build/$name.has-failed"; } &
    else
        one "$name" || touch "$build/$name.has-failed"
    fi
done
wait
awk -v seed="$seed" '{ executed += $2; seconds += $8 } END {
    printf "counted: fuzzers, seed %s: %d executions of %d targets in %.0f s of a processor\n", seed, executed, NR, seconds }' "$build/rows"
! ls "$build"/*.has-failed >/dev/null 2>&1
