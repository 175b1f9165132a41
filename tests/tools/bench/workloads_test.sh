#!/bin/sh
# workloads_test.sh -- kv-bench's workloads: every one of db_bench's and of YCSB's at tiny sizes, on each
# store that was built in; what they find, what they keep, what the commands refuse. Nothing is
# measured.
#
#     tests/tools/bench/workloads_test.sh KV-BENCH
set -u
bench=${1:?usage: workloads_test.sh KV-BENCH}
. "$(dirname "$0")/../../support/expect.sh"
export TMPDIR="$scratch"

# Field $1 of the workload $2 in the JSON, one line for each store, of the $3-th time it was run.
field() {
    awk -v field="\"$1\":" -v workload="\"$2\"," -v wanted="${3:-1}" '
        $1 == "\"operation\":" { at = $2 == workload }
        inside && /\]/ { inside = 0 }
        inside && ++times == wanted { sub(/,$/, "", $1); print $1 }
        at && $1 == field { inside = 1; times = 0 }' "$scratch/json"
}

# every NAME FIELD WORKLOAD VALUE [TIME]: each store has that value.
every() {
    is_true "$1" "$(field "$2" "$3" "${5:-1}" | awk -v wanted="$4" -v stores="$stores" '
        $1 != wanted { bad = 1 } END { print NR == stores && !bad ? 1 : 0 }')"
}

# ---- every workload, on every store --------------------------------------------------------------

reads=readrandom,readmissing,readseq,seekrandom,multireadrandom
expect 'all workloads' 0 '^petal: ' "$bench" \
    "fillseq,$reads,filluniquerandom,$reads,flush,compact,wait,$reads" \
    --num 3k --threads 2 --store all --json "$scratch/json"
is_true 'no answer is wrong' "$((1 - $(grep -c WRONG "$scratch/out")))"
stores=$(grep -c '^  *"name":' "$scratch/json")
is_true 'stores' "$((stores > 0))"
for time in 1 2 3; do
    every "all are found, $time" found readrandom 3000 $time
    every "missing ones are not, $time" found readmissing 0 $time
    every "each of two threads goes over all, $time" found readseq 6000 $time
    every "each is sought, $time" found seekrandom 3000 $time
    every "keys of a call, all of them, $time" operations multireadrandom 3008 $time
    every "each of them is found, $time" found multireadrandom 3008 $time
done
is_true 'JSON has what readers of it want' "$(for key in '"kind": "workloads"' '"time"' '"machine"' '"commit"' '"command"' '"settings"' '"describe"' '"store"' '"operation"' \
    '"threads"' '"operations"' '"seconds"' '"per_second"' '"p50_us"' '"p99_us"' '"p999_us"' '"max_us"' '"written_bytes"' \
    '"device_written_bytes"' '"read_bytes"' '"device_read_bytes"' '"write_amplification"' '"read_amplification"' \
    '"space_amplification"' '"peak_memory_bytes"' '"cpu_seconds"'; do
    grep -q "$key" "$scratch/json" || echo "no $key"
done | awk 'END { print NR == 0 ? 1 : 0 }')"

# ---- options -------------------------------------------------------------------------------------

expect 'a schedule' 0 '^readrandom .* 100$' "$bench" filluniquerandom,readrandom --num 100 --rate 1000
is_true 'takes its time' "$(awk '$1 == "filluniquerandom" { print $4 < 1200 ? 1 : 0 }' "$scratch/out")"
expect 'another shape' 0 'not compressed, no filters' "$bench" fillseq,readrandom --num 100 \
    --no-compression --bits 0 --block-size 16K --cache 1M --write-buffer 1M
expect 'a limit of all memory' 0 '^readrandom .* 100$' "$bench" fillseq,readrandom --num 100 --memory 16M
expect 'many threads' 0 '^readrandom .* 500$' "$bench" fillseq,readrandom --num 500 --threads 200 --store all
expect 'one key' 0 '^readseq .* 1$' "$bench" fillseq,readrandom,readseq --num 1
expect 'synced' 0 'FSYNC_WAL' "$bench" fillseq --num 10 --sync

# ---- a store that is kept ------------------------------------------------------------------------

expect 'filled and kept' 0 . "$bench" filluniquerandom,wait --num 1k --db "$scratch/kept"
is_true 'it is there' "$([ -d "$scratch/kept/petal" ] && echo 1 || echo 0)"
expect 'what is there is left alone' 3 'there is something: .*/kept/petal$' "$bench" fillseq --num 50 --db "$scratch/kept"

# ---- mistakes ------------------------------------------------------------------------------------

expect 'nothing to read' 2 'there is nothing to read' "$bench" readseq
expect 'no such workload' 2 'no workload "nosuch"' "$bench" fillseq,nosuch
expect 'no such command' 2 'no command "nosuch"; "kv-bench --help" lists them' "$bench" nosuch
expect 'a command mistyped' 2 'no command "readmap"; did you mean "readamp"?' "$bench" readmap
expect 'a workload mistyped' 2 'no command "filseq"; did you mean "fillseq"?' "$bench" filseq
expect 'everything is listed' 2 '^  multireadrandom ' "$bench"
expect 'its version' 0 '^kv-bench [0-9]' "$bench" --version
for word in --help -h help; do
    expect "kv-bench $word" 0 '^usage: kv-bench COMMAND' "$bench" $word
done
expect 'help is no mistake' 0 '^usage: kv-bench WORKLOAD' "$bench" fillseq --help
expect 'more threads than there can be' 2 'threads is a number' "$bench" fillseq --threads 257
expect 'no such store' 2 'no store "nosuch"' "$bench" fillseq --store nosuch
expect 'more keys than have 16 digits' 2 '16 digits' "$bench" fillseq --num 6000T
# refused ARGUMENTS PATTERN: what is wrong and where the options are listed, in two lines.
refused() {
    # shellcheck disable=SC2086
    expect "$1 is refused" 2 "^kv-bench: $2" "$bench" $1
    is_true "and one line names --help" "$(awk -v last="kv-bench ${1%% *} --help lists the options" '
        { lines++ } END { print lines == 2 && $0 == last ? 1 : 0 }' "$scratch/out")"
}
for command in compare quick ycsb readamp filters cliffs simulate fillseq; do
    refused "$command --nosuch" 'there is no option "--nosuch"; '
done
for command in compare quick ycsb fillseq; do
    refused "$command --store nosuch" 'there is no store "nosuch"; built in: petal'
done
refused 'fillseq,nosuch' 'there is no workload "nosuch"$'
refused 'cliffs --only nosuch' '--only: there is no "nosuch"$'
refused 'compare --rows nosuch' '--rows: there is no "nosuch"$'
refused 'ycsb --workloads X' '--workloads is a list of A to F$'
refused 'ycsb --compression-ratio 2' '--compression-ratio is a number from 0 to 1$'
for command in compare ycsb fillseq; do
    expect "$command names every store that can be built in" 0 'petal,rocksdb,rocksdb-tuned,leveldb,lmdb' "$bench" $command --help
done
expect 'a store named twice' 2 'named twice: store "petal"' "$bench" fillseq --store petal,petal
refused 'diff one' 'diff needs two files$'
for command in '' filters simulate diff cliffs compare quick ycsb readamp fillseq; do
    # shellcheck disable=SC2086
    expect "help of $command" 0 "^usage: kv-bench" "$bench" $command --help
    is_true "in at most 80 columns" "$(awk 'length > 80 { wide = 1 } /^kv-bench/ { wrong = 1 } END { print !wide && !wrong }' "$scratch/out")"
    expect "help of $command beside a mistake" 0 "^usage: kv-bench" "$bench" $command --help --nosuch
done

# ---- YCSB ----------------------------------------------------------------------------------------

expect 'YCSB' 0 '^ycsb-f ' "$bench" ycsb --records 300 --operations 600 --threads 2 --store all --json "$scratch/json"
is_true 'no answer is wrong' "$((1 - $(grep -c WRONG "$scratch/out")))"
every 'loaded' operations ycsb-load 300
for mix in a b c d e f; do
    every "operations of $mix" operations ycsb-$mix 600
done
every 'C finds all records' found ycsb-c 600
every 'F, too' found ycsb-f 600
expect 'its parts are lines of their own' 0 '^ read-modify-write  *[0-9]* ' "$bench" ycsb --workloads f --records 10 --operations 100
expect 'mixes chosen' 0 '^ycsb-e ' "$bench" ycsb --workloads e --records 10 --operations 10
is_true 'and no others' "$((1 - $(grep -c '^ycsb-a' "$scratch/out")))"
expect 'no such mix' 2 'A to F' "$bench" ycsb --workloads AG
is_true 'directories that are not kept are gone' "$(find "$scratch" -name 'kv-bench-*' | awk 'END { print NR == 0 ? 1 : 0 }')"

expect_end
