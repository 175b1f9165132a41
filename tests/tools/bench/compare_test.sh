#!/bin/sh
# compare_test.sh -- kv-bench compare, quick and diff at tiny sizes over the stores that were built
# in.
#
#     tests/tools/bench/compare_test.sh KV-BENCH
set -u
bench=${1:?usage: compare_test.sh KV-BENCH}
. "$(dirname "$0")/../../support/expect.sh"
export TMPDIR="$scratch"

# $1 with Petal's rates times $2.
doctored() {
    awk -v factor="$2" '
        /"store":/ { is_petal = /"petal"/ }
        /\]/ { inside = 0 }
        inside && is_petal { comma = /,$/ ? "," : ""; sub(/,$/, ""); printf "%.6f%s\n", $1 * factor, comma; next }
        /"per_second": \[/ { inside = 1 }
        { print }' "$1"
}

one=$scratch/one.json several=$scratch/several.json slower=$scratch/slower.json broken=$scratch/broken.json

expect "all stores that are there" 0 '^2 threads$' \
    "$bench" compare --wait 0 --num 3000 --gets 400 --repeats 2 --synced 4 --threads 1,2 --block-size 1K --json "$several"
cp "$scratch/out" "$scratch/report"
for words in 'write pairs in random order' 'write pairs until background work rests' 'look up a key that is there, warm' \
    'look up a missing key, warm' 'look up 16 keys by one call, warm' 'read 10 pairs from a key, new cursor' \
    'read 10 pairs from a key, same cursor' 'scan all pairs, warm' 'look up a key that is there, small cache' \
    'look up a missing key, small cache' 'write a pair, log by write()' 'write a pair, on the medium'; do
    # With two numbers of threads.
    expect "lines of $words" 0 '^2$' grep -c "^$words " "$scratch/report"
done
expect "each line once more in the file" 0 '^34$' grep -c '"store": "petal"' "$several"
expect "a count's ratio is of counts" 0 '^yes$' awk '
    NR == FNR { if (/"operation":/) bytes = /bytes written .* settled/; if (/"store":/) { split($0, part, "\""); store = part[4] }
        if (bytes && inside && !(store in count)) count[store] = $1 + 0; inside = /"per_unit"/; next }
    /^bytes written per byte put/ && "lmdb" in count { wanted = count["petal"] / count["lmdb"]; sub(/[~* ]o[nf]*$/, ""); if ($NF - wanted > 0.02 || wanted - $NF > 0.02) wrong = 1 }
    END { print wrong ? "no" : "yes" }' "$several" "$scratch/report"
for row in fill bytes first-scan cold-hit cold-absent first-absent first-hit hit absent multi-get seek scan small-cache put-write put-synced; do
    expect "row $row alone" 0 '^[1-4]$' sh -c \
        "'$bench' quick --wait 0 --store petal --rows $row --num 2000 --gets 200 --repeats 1 --synced 2 | grep -c '^[a-z].*[0-9s] o[nf]*$'"
done
expect "the file has the settings" 0 '"num": 3000' cat "$several"
expect "the file says where it comes from" 0 '"command": "kv-bench compare --wait 0 --num 3000' cat "$several"
expect "a result has words" 0 '"words": "look up a key that is there, warm"' grep -A 1 '"row": "hit"' "$several"
expect "each result has its row and words" 0 '^yes$' awk '/"operation":/ { results++ } /"row": "[a-z-]+"/ { rows++ }
    /"words": "..+"/ { words++; if (!($0 in seen)) { seen[$0]; different++ } }
    END { print (results > 0 && rows == results && words == results && different == 22 ? "yes" : "no") }' "$several"
# Petal was built by the make that built this program; an assertion of C leaves its name.
asserts=$(nm -D "$bench" | grep -q __assert_fail && echo true || echo false)
expect "whether Petal asserts is true" 0 "\"assertions\": $asserts" grep -A 3 '"name": "petal"' "$several"
if [ "$asserts" = true ]; then
    expect "figures with assertions say so" 0 '^ATTENTION: THIS BUILD OF PETAL HAS ITS ASSERTIONS ON' cat "$scratch/report"
else
    expect "figures without assertions" 1 '^0$' grep -c ATTENTION "$scratch/report"
fi
# Of a rival, what its library's file keeps of an assertion, or of there being none.
asserts_of() {
    library=$(ldd "$bench" | awk -v name="^lib$1[.]" '$1 ~ name { print $3 }')
    [ -n "$library" ] || return 0 # it is not built in, or in the program itself
    here=$(grep -qa "$2" "$library" && echo true || echo false)
    [ "$3" = "$here" ] && here=true || here=false
    expect "whether $1 asserts is true" 0 "\"assertions\": $here" grep -A 3 "\"name\": \"$1\"" "$several"
}
asserts_of rocksdb 'counter_ <= block_restart_interval_' true
asserts_of leveldb 'counter_ <= options_->block_restart_interval' true
asserts_of lmdb "Assertion '%" true
BENCH_COMMIT=abc expect "quick" 0 '^look up a key that is there, warm  *[0-9.]* [kM]/s o' \
    "$bench" quick --wait 0 --num 2000 --gets 200 --repeats 1 --synced 2 --write-buffer 8M --json "$one"
# The default set of stores, whichever are there: one screen, every number with its mark, rows by
# their words.
grep -v "^repeat 1 of 1: " "$scratch/out" >"$scratch/screen" # how far it is goes to standard error
expect "a screen is at most 100 columns wide" 0 '^yes$' awk 'length > 100 { wide = 1; print } END { print wide ? "no" : "yes" }' "$scratch/screen"
expect "and at most 48 lines" 0 '^yes$' awk 'END { print NR <= 48 ? "yes" : "no" }' "$scratch/screen"
expect "a line for each operation" 0 '^yes$' awk 'NR == FNR { if (/"words":/) { split($0, part, "\""); words[part[4]] } next }
    { for (w in words) if (index($0, w) == 1 && $0 ~ /[ *~](on|off)$/) { lines++; break } }
    END { for (w in words) wanted++; print (wanted == 22 && lines == 22 ? "yes" : "no") }' "$one" "$scratch/screen"
expect "each number has its mark" 0 '^yes$' awk 'NR == FNR { if (/"describe":/) stores++; next }
    /[ *~](on|off)$/ { line = substr($0, 41); marks = gsub(/[0-9s][ *~](on|off)( |$)/, "", line); if (marks != stores) { print; wrong = 1 } }
    END { print wrong ? "no" : "yes" }' "$one" "$scratch/screen"
expect "the mark is the library's" 0 '^yes$' awk 'NR == FNR { if (/"assertions":/) wanted[++stores] = /true/ ? "on" : /false/ ? "off" : "?"; next }
    /^look up a key that is there, warm / { count = 0; gsub(/[*~]/, " ")
        for (i = 7; i <= NF; i++) if ($i == "on" || $i == "off" || $i == "?") { count++; if ($i != wanted[count]) { wrong = 1; print i, $i, wanted[count] } } }
    END { print (count == stores && !wrong ? "yes" : "no") }' "$one" "$scratch/screen"
expect "what others took of the run" 0 '^Others took [0-9.]* % of processor time' cat "$scratch/screen"
expect "and in the file" 0 '^yes$' awk '/^ "others": [0-9.e+-]*,$/ { run = 1 } /"busy_cpu_seconds"/ { rows++ } /"machine_cpu_seconds"/ { all++ }
    END { print (run && rows > 0 && rows == all ? "yes" : "no") }' "$one"
expect "one repeat claims nothing" 0 '^0$' sh -c "grep -c '[0-9][*]o[nf]' '$scratch/screen'; true"
# The same figures as a table for documents: what is bold lies above 1 in each repeat.
expect "a table for documents" 0 '^| write pairs in random order | [0-9.]* [kM]/s |' \
    "$bench" compare --markdown --wait 0 --rows fill,hit,absent,bytes --num 3000 --gets 1000 --repeats 3 --threads 1
cp "$scratch/out" "$scratch/table"
expect "each ratio has its range, and a claim follows from it" 0 '^yes$' awk -F '|' '/^[|] [a-z]/ { lines++
        for (i = 4; i < NF - 1; i++) {
            if ($i == " - ") continue
            if (!match($i, /[(][0-9.]*–[0-9.]*[)] $/)) { print "no range:" $i; wrong = 1; continue }
            range = substr($i, RSTART + 1, RLENGTH - 3); least = range; sub(/–.*/, "", least); greatest = range; sub(/.*–/, "", greatest); least += 0; greatest += 0
            bold = $i ~ /[*][*]/; open = $i ~ /~/
            # Printed bounds are rounded: one that reads 1.00 may lie on either side.
            if (least == 1 || greatest == 1) continue
            if (bold && (open || least < 1) || open && (least > 1 || greatest < 1) || !bold && !open && greatest > 1) { print "wrong claim:" $i; wrong = 1 }
        } }
    END { print lines == 8 && !wrong ? "yes" : "no" }' "$scratch/table"
expect "the commit" 0 '"commit": "abc"' cat "$one"
another=$(sed -n 's/^ *"name": "\([a-z-]*\)".*/\1/p' "$one" | tail -n 1)
if [ "$another" != petal ]; then
    expect "without Petal another is what is divided" 0 "^look up a key that is there, warm .*[0-9s] o" "$bench" compare --wait 0 --store "$another" --rows hit --num 1000 --gets 100
fi
expect "progress, where there is no terminal" 0 '^repeat 2 of 2: petal, ' \
    "$bench" quick --wait 0 --store petal --rows hit --num 1000 --gets 100 --repeats 2
expect "one store alone" 0 '^write a pair, log by write()' "$bench" quick --wait 0 --store petal --num 2000 --gets 100 --repeats 1 --synced 0
expect "nothing is left" 0 '^0$' sh -c "ls '$scratch' | grep -c kv-bench-; true"

# Of a benchmark that is ended nothing is left either, a moment later. soon N: are there N
# directories of benchmarks within ten seconds? 1, or 0.
soon() {
    for _ in $(seq 100); do
        [ "$(find "$scratch" -name 'kv-bench-*' -prune | grep -c .)" = "$1" ] && echo 1 && return
        sleep 0.1
    done
    echo 0
}
for signal in HUP TERM KILL; do
    "$bench" compare --wait 0 --store petal --num 20M --threads 1 >"$scratch/out" 2>&1 &
    ended=$!
    is_true "a benchmark is at work" "$(soon 1)"
    kill -$signal $ended
    wait $ended 2>/dev/null
    is_true "nothing is left of a benchmark that is ended by $signal" "$(soon 0)"
done
"$bench" readamp --csv --files 1,2,3 --rows 2000 --gets 20 --no-store 2>"$scratch/out" | head -n 1 >"$scratch/line"
is_true "nothing is left of a benchmark that nobody reads" "$(soon 0)"

expect "a file and itself" 0 '^0 of [1-9]' "$bench" diff "$several" "$several"
doctored "$one" 0.5 >"$slower"
expect "half as fast" 1 'get hit .*petal .* -50\.0% .*<-- slower' "$bench" diff "$one" "$slower"
expect "and back" 1 'scan .*petal .*+100\.0% .*<-- faster' "$bench" diff "$slower" "$one"
doctored "$one" 0.9 >"$slower"
expect "a tenth slower, once, is within the noise" 0 '^0 of [1-9]' "$bench" diff "$one" "$slower"
echo '{"kind": "compare", "results": [{"operation": "a", "store": "b", "block_bytes": 1, "threads": 1, "per_second": [1]}]}' >"$broken"
expect "a file with nothing in common" 3 'no operation in common' "$bench" diff "$one" "$broken"
echo '{"kind": "compare", "results": [{"operation": "a", "store": "b", "block_bytes": 1, "threads": 1, "per_second": [-1]}]}' >"$broken"
expect "what is wrong, and where" 3 "broken.json: results\[0\].per_second" "$bench" diff "$one" "$broken"
head -c 300 "$one" >"$broken"
expect "a file cut short" 3 'broken.json: line ' "$bench" diff "$broken" "$one"
expect "no file" 3 'nowhere.json' "$bench" diff "$one" "$scratch/nowhere.json"
expect "help of diff" 0 'beyond the noise' "$bench" diff --help
expect "no such store" 2 'no store "nosuchstore"' "$bench" compare --store nosuchstore
expect "no pairs" 2 'num and --gets are above 0' "$bench" compare --num 0
expect "no such row" 2 'rows: there is no "5M"' "$bench" compare --rows hit,5M
expect "no such share" 2 'others is a number from 0 to 100' "$bench" quick --others 101
expect "rows are listed" 0 '^  first-absent look up a missing key, just opened$' "$bench" compare --help
expect "no such size" 2 'block-size takes a number of bytes' "$bench" compare --block-size 4K,8K
expect "a file that cannot be written" 3 'cannot write results to' \
    "$bench" quick --wait 0 --store petal --num 1000 --gets 10 --repeats 1 --synced 0 --json "$scratch/no/such/file"
for command in compare quick ycsb fillseq cliffs readamp simulate filters; do # before anything is measured
    expect "a file that $command cannot write" 3 '^kv-bench: cannot write results to' timeout 5 "$bench" "$command" --json "$scratch/no/such/file"
done
"$bench" simulate --to 0 --json "$scratch/refused.json" 2>/dev/null
expect "no file of a command that was refused" 2 'No such file' ls "$scratch/refused.json"
"$bench" cliffs --only rows --json "$one" >/dev/null
expect "what cliffs counted and itself" 0 '^0 of [1-9]' "$bench" diff "$one" "$one"
sed '/"per_unit"/ { n; s/[0-9.]*$/77777/; }' "$one" >"$slower"
expect "a cliff that costs more" 1 'rows, .*<-- more  a get, n = 10000$' "$bench" diff "$one" "$slower"
"$bench" readamp --json "$one" --files 2 --rows 2000 --gets 200 --lookups newest,scan-short --no-store >/dev/null
expect "what readamp counted and itself" 0 '^0 of 8 lines' "$bench" diff "$one" "$one"
"$bench" fillseq,readrandom --num 1k --repeats 3 --json "$one" >/dev/null
expect "workloads, three times, and themselves" 0 '^0 of 2 lines' "$bench" diff "$one" "$one"

expect_end
