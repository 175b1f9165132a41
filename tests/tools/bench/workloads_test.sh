#!/bin/sh
# workloads_test.sh -- kv-bench's workloads: every one of db_bench's and of YCSB's at tiny sizes, on
# each store that was built in; what they find, what they keep, what they refuse. Nothing is
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

reads=readrandom,readmissing,readhot,readseq,readreverse,seekrandom,multireadrandom
expect 'all workloads' 0 '^petal: ' "$bench" \
    "fillseq,$reads,fillsync,readseq,fillrandom,$reads,overwrite,deleterandom,$reads,readwhilewriting,flush,compact,wait,readseq,filluniquerandom,readseq" \
    --num 3k --threads 2 --store all --seek-nexts 3 --batch 7 --json "$scratch/json"
is_true 'no answer is wrong' "$((1 - $(grep -c WRONG "$scratch/out")))"
stores=$(grep -c '^  *"name":' "$scratch/json")
is_true 'stores' "$((stores > 0))"
every 'filled in order, all are found' found readrandom 3000
every 'hot ones, too' found readhot 3000
every 'missing ones are not' found readmissing 0
every 'missing ones are not, of random keys' found readmissing 0 2
every 'each of two threads goes over all' found readseq 6000
every 'and back' found readreverse 6000
every 'a thousandth is synced' operations fillsync 3
every 'two threads see them' found readseq 6 2
every 'each key once' found readseq 6000 6
every 'keys of a call, all of them' operations multireadrandom 3003
same=$(field found readrandom 2 | sort -u)
is_true 'filled at random, a part of them is found, the same in all stores' "$((same > 1500 && same < 2300))"
is_true 'what is left after deletions is the same in all stores' "$(field found readrandom 3 | sort -u | awk 'END { print NR == 1 && $1 < 2300 ? 1 : 0 }')"
is_true 'JSON has what readers of it want' "$(for key in '"kind": "workloads"' '"time"' '"machine"' '"commit"' '"command"' '"settings"' '"describe"' '"store"' '"operation"' \
    '"threads"' '"operations"' '"seconds"' '"per_second"' '"p50_us"' '"p99_us"' '"p999_us"' '"max_us"' '"written_bytes"' \
    '"device_written_bytes"' '"read_bytes"' '"device_read_bytes"' '"write_amplification"' '"read_amplification"' \
    '"space_amplification"' '"peak_memory_bytes"' '"cpu_seconds"' '"readwhilewriting: write"'; do
    grep -q "$key" "$scratch/json" || echo "no $key"
done | awk 'END { print NR == 0 ? 1 : 0 }')"

# ---- options -------------------------------------------------------------------------------------

for distribution in uniform zipf latest; do
    expect "distribution $distribution" 0 '^readrandom .* 500$' "$bench" \
        fillseq,overwrite,readrandom,deleterandom,seekrandom --num 500 --distribution $distribution
done
expect 'a limit of time' 0 '^readrandom ' "$bench" fillseq,readrandom,readseq,readwhilewriting --num 100 --duration 0.05
expect 'another shape' 0 'SKIP_WAL, compaction off$' "$bench" fillseq,readrandom --num 100 --key-size 40 --value-size 3000 --no-log \
    --no-compression --no-compaction --bits 0 --block-size 16K --compression-ratio 1 --cache 1M --write-buffer 1M
expect 'many threads' 0 '^readrandom .* 500$' "$bench" fillseq,readrandom --num 500 --threads 200 --store all
expect 'one key' 0 '^readhot .* 1$' "$bench" fillsync,readhot,readseq --num 1 --value-size 0
expect 'synced' 0 'FSYNC_WAL' "$bench" fillseq --num 10 --sync

# ---- a store that is kept ------------------------------------------------------------------------

expect 'filled and kept' 0 . "$bench" fillrandom --num 1k --db "$scratch/kept" --json "$scratch/json"
expect 'read again' 0 '^readrandom ' "$bench" readrandom --num 1k --db "$scratch/kept" --use-existing
expect 'written on' 0 '^readseq .* 1000$' "$bench" fillseq,readseq --num 1k --db "$scratch/kept" --use-existing
expect 'of another number of keys' 3 'wanted is: num=900 ' "$bench" readseq --num 900 --db "$scratch/kept" --use-existing
expect 'filled anew' 0 '^readseq .* 50$' "$bench" fillseq,readseq --num 50 --db "$scratch/kept"
mkdir -p "$scratch/other/petal"
expect 'a directory of others is left alone' 3 'have not made' "$bench" fillseq --num 50 --db "$scratch/other"
printf 'num=50 key-size=16 value-size=100 compression-ratio=0.5 open\n' >"$scratch/kept/petal.keys"
expect 'a run that did not end left nobody knows what' 3 'num=50 .* open$' "$bench" readseq --num 50 --db "$scratch/kept" --use-existing

# ---- what fill made is read by a command of its own ----------------------------------------------

expect 'fill' 0 . "$bench" fill --db "$scratch/filled" --cells 1k
expect 'what fill made is read' 0 'wrong answers: 0$' "$bench" read --db "$scratch/filled" --reads 100

# ---- mistakes ------------------------------------------------------------------------------------

expect 'nothing to read' 2 'there is nothing to read' "$bench" readseq
expect 'no such workload' 2 'no workload "nosuch"' "$bench" fillseq,nosuch
expect 'nothing was filled' 3 'there is no database in .*/nowhere: kv-bench fill makes it$' "$bench" read --db "$scratch/nowhere"
expect 'no such command' 2 'no command "nosuch"; "kv-bench --help" lists them' "$bench" nosuch
expect 'a command mistyped' 2 'no command "readmap"; did you mean "readamp"?' "$bench" readmap
expect 'a workload mistyped' 2 'no command "fillrandm"; did you mean "fillrandom"?' "$bench" fillrandm
expect 'everything is listed' 2 '^  readwhilewriting ' "$bench"
expect 'its version' 0 '^kv-bench [0-9]' "$bench" --version
for word in --help -h help; do
    expect "kv-bench $word" 0 '^usage: kv-bench COMMAND' "$bench" $word
done
expect 'help is no mistake' 0 '^usage: kv-bench ycsb' "$bench" ycsb --help
expect 'more threads than there can be' 2 'threads is a number' "$bench" fillseq --threads 257
expect 'no such store' 2 'no store "nosuch"' "$bench" fillseq --store nosuch
expect 'keys too short' 2 'key-size' "$bench" fillseq --key-size 4
expect 'no such distribution' 2 'distribution is' "$bench" fillseq --distribution normal
# refused ARGUMENTS PATTERN: what is wrong and where the options are listed, in two lines.
refused() {
    # shellcheck disable=SC2086
    expect "$1 is refused" 2 "^kv-bench: $2" "$bench" $1
    is_true "and one line names --help" "$(awk -v last="kv-bench ${1%% *} --help lists the options" '
        { lines++ } END { print lines == 2 && $0 == last ? 1 : 0 }' "$scratch/out")"
}
for command in compare quick agree ycsb readamp filters cliffs simulate 'fill --db x --cells 1' 'read --db x' fillseq; do
    refused "$command --nosuch" 'there is no option --nosuch$'
done
for command in compare quick agree ycsb fillseq; do
    refused "$command --store nosuch" 'there is no store "nosuch"; built in: petal'
done
refused 'fillseq,nosuch' 'there is no workload "nosuch"$'
refused 'cliffs --only nosuch' 'there is no workload "nosuch"; --list names them$'
refused 'compare --rows nosuch' 'there is no row "nosuch"$'
refused 'ycsb --workloads X' '--workloads is a list of A to F$'
refused 'diff one' 'diff needs two files$'
for command in '' filters simulate diff cliffs compare quick agree ycsb readamp fill read fillseq; do
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
expect 'mixes chosen' 0 '^ycsb-e ' "$bench" ycsb --workloads e --records 10 --operations 10
is_true 'and no others' "$((1 - $(grep -c '^ycsb-a' "$scratch/out")))"
expect 'no such mix' 2 'A to F' "$bench" ycsb --workloads AG
is_true 'directories that are not kept are gone' "$(find "$scratch" -name 'kv-bench-*' | awk 'END { print NR == 0 ? 1 : 0 }')"

expect_end
