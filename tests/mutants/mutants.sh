#!/usr/bin/env bash
# Do the tests notice changes of the library? Picks places at random, changes one at a time (a
# bound, a condition, a sum, a constant; a call left out), and runs the quick tests that reach the
# place until one fails.
# Usage: mutants.sh BUILD [FILE...]
# BUILD has the library as objects and as libpetal-tests.so, test programs linked with that, and in
# reached/ the library instrumented to report the places reached (`make mutants` builds all). A
# change costs one object, one link, and the tests.
#
# MUTANTS=500 is the number, PETAL_SEED the choice, MUTANT_JOBS=2 the number at once. A test is
# quick if it takes at most QUICK_MS=1000 of a processor in its short form. It notices a change if
# it fails, or runs for MUTANT_SECONDS=120, or for ten times its usual processor time and five
# seconds, and passes when run again without the change. BUILD/mutants/SEED has a line for each
# mutant: killed or survived, the place, the test, how many were tried, up to which QUICK_MS and
# when, the file's checksum, the change, the whole line. A mutant with a line is not tried again
# while its file is unchanged: an interrupted run continues when it is started with its seed.
# MUTANTS_AGAIN=1: survivors except equivalent and cost are tried with the tests that they have not
# met, new ones and, with a larger QUICK_MS, slower ones: that is cheaper than trying all. SEED
# chooses the same places while the library is unchanged.
#
# tests/mutants/judged has a line for each survivor that was examined, with tabs between: verdict,
# file, change, the whole line in the file, the reason. `equivalent`: no caller can tell. `cost`:
# time, space or the text of a message only. `open`: a test is missing or not quick; what it would
# have to do.
#
# A change that does not compile, or compiles to the same code, is no mutant and does not count. The
# last line gives two rates: of all mutants, and of those that are neither equivalent nor cost.
# Exits with 1 if fewer than 90 of 100 of the latter are killed.
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
build=$1
shift
[[ "$build" = /* ]] || build=$root/$build
wanted=${MUTANTS:-500}
seed=${PETAL_SEED:-$(date +%s)}
compile=${MUTANT_COMPILE:?the compiler with its flags}
link=${MUTANT_LINK:?the linker with its flags}
jobs=${MUTANT_JOBS:-2}
seconds=${MUTANT_SECONDS:-120}
quick_ms=${QUICK_MS:-1000}
out=$build/mutants
judged=tests/mutants/judged
folders=(base bloom cache memtable sstable engine)
mkdir -p "$out/tests"
results=$out/$seed${*:+-of-some}
touch "$results"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Those at work see that the folder is away.
trap 'exit 130' INT TERM
export PETAL_SHORT=1 PETAL_OPERATIONS=${PETAL_OPERATIONS:-3000} PETAL_DEPTH=2 PETAL_SEED=$seed CCACHE_DISABLE=1
ulimit -c 0 -v 8000000 -f 4000000
started=$SECONDS

# Runs the program $3 with the library in the folder $1, files in $2, for at most so long, and at
# most $4 seconds of a processor.
run_test() { (ulimit -S -t "$4" && LD_LIBRARY_PATH=$1 TMPDIR=$2 timeout --kill-after=2 "$seconds" "$3" >/dev/null 2>&1) 2>/dev/null; }

# What is known of a test: of the program as it is, with the library as it is, its milliseconds, or
# "over N" where it did not pass while QUICK_MS was N, and the stretches of code that it reaches
# (tests/mutants/reached.c).
know_test() {
    local program=$1 name=${1#"$build"/tests/} know taken temporary=$folder/know.$BASHPID
    know=$out/tests/${name//\//,}
    taken=$(cat "$know.ms" 2>/dev/null)
    if [ ! "$know.ms" -nt "$program" ] || [ ! "$know.ms" -nt "$build/libpetal-tests.so" ] ||
        [[ "$taken" = over* && "${taken#over }" -lt $quick_ms ]]; then
        rm -f "$know.ms" "$know.reached"
        mkdir -p "$temporary/tmp"
        TIMEFORMAT='%U %S'
        taken=$({ time run_test "$build" "$temporary/tmp" "$program" $((5 * quick_ms / 1000 + 1)) && touch "$temporary/passed"; } 2>&1 |
            awk '{ taken = 1000 * ($1 + $2) } END { print int(taken) }')
        [ -f "$temporary/passed" ] || taken="over $quick_ms"
        echo "$taken" >"$know.ms"
    fi
    if [ ! -f "$know.reached" ] && [[ "$taken" != over* && "$taken" -le $quick_ms ]]; then
        mkdir -p "$temporary/tmp"
        # Where it does not pass here, it may reach more.
        PETAL_REACHED=$temporary/map run_test "$build/reached" "$temporary/tmp" "$program" $((30 * quick_ms / 1000 + 5)) ||
            touch "$temporary/failed"
        {
            [ ! -f "$temporary/failed" ] || echo everything
            [ ! -f "$temporary/map" ] || cmp -l "$temporary/map" /dev/zero 2>/dev/null | awk '{ print $1 - 1 }'
        } >"$temporary/reached"
        mv "$temporary/reached" "$know.reached"
    fi
    rm -rf "$temporary"
}

# The lines of each stretch of code: the place that its first call returns to, file, line.
lines_of_stretches() {
    objdump -d -l --no-show-raw-insn "$1" | awk '
        /^[0-9a-f]+ <.*>:$/ { at = ""; next }
        /^[^ ].*:[0-9]+( \(discriminator [0-9]+\))?$/ {
            sub(/ \(disc.*/, "")
            sub(/^\.\//, "")
            sub(/:/, " ")
            place = $0
            told = 0
            next
        }
        /^ +[0-9a-f]+:\t/ {
            if (called) { at = $1; sub(/:/, "", at); called = 0; told = 0 }
            if (at != "" && !told) { print at, place; told = 1 }
            if (/call.*__sanitizer_cov_trace_pc/) called = 1
        }' | awk '{
            number = 0
            for (i = 1; i <= length($1); i++) number = 16 * number + index("0123456789abcdef", substr($1, i, 1)) - 1
            print number, $2, $3 }' | sort -u
}

while read -r program; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    know_test "$program" &
done < <(find "$build/tests" -name '*_test' -type f | sort)
wait
reached=$build/reached/libpetal-tests.so
[ "$out/stretches" -nt "$reached" ] || lines_of_stretches "$reached" >"$out/stretches"
# One that reaches nothing has a library of its own.
while read -r program; do
    name=${program#"$build"/tests/}
    know=$out/tests/${name//\//,}
    read -r taken <"$know.ms"
    if [[ "$taken" != over* && "$taken" -le $quick_ms && -s "$know.reached" ]]; then echo "$taken $name"; fi
done < <(find "$build/tests" -name '*_test' -type f | sort) | sort -n >"$folder/quick"
echo "$(wc -l <"$folder/quick") quick tests, $(awk '{ s += $1 } END { printf "%.0f s", s / 1000 }' "$folder/quick"); seed $seed"

files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(find "${folders[@]}" -name '*.c' | sort)
awk -f tests/mutants/points.awk "${files[@]}" | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -g |
    cut -f2- | tr '\t' '\037' >"$folder/points"
echo "$(wc -l <"$folder/points") places in ${#files[@]} files"

# Which quick tests reach which line, for each file in one of its own: line, milliseconds, test; of
# a line without code of its own, 0, those of the file.
reaching_of() { printf '%s' "$out/reaching/${1//\//,}"; }
tests_of_lines() {
    rm -rf "$out/reaching"
    mkdir "$out/reaching"
    awk -v know="$out/tests/" -v folder="$out/reaching/" '
        function told(place,   words) {
            if (seen[place] == test) return
            seen[place] = test
            split(place, words, " ")
            if (!(words[1] in into)) {
                into[words[1]] = words[1]
                gsub(/\//, ",", into[words[1]])
                into[words[1]] = folder into[words[1]]
            }
            print words[2], taken, test >into[words[1]]
            if (words[2] != 0) told(words[1] " 0")
        }
        FNR == NR { count[$1]++; places[$1, count[$1]] = $2 " " $3; next }
        {
            taken = $1
            test = $2
            file = test
            gsub(/\//, ",", file)
            file = know file ".reached"
            while ((getline at <file) > 0) {
                if (at == "everything") for (at in count) for (i = 1; i <= count[at]; i++) told(places[at, i])
                else for (i = 1; i <= count[at]; i++) told(places[at, i])
            }
            close(file)
        }' "$out/stretches" "$folder/quick"
    cp "$folder/quick" "$out/reaching/quick"
}
cmp -s "$folder/quick" "$out/reaching/quick" && [ -z "$(find "$out/stretches" "$out/tests" -type f -newer "$out/reaching/quick")" ] ||
    tests_of_lines
cut -d' ' -f2,3 "$out/stretches" | sort -u >"$folder/lines"

# The tests that reach line $2 of file $1: quick ones first, and those that one may hope for: they
# killed other mutants of this file, or are of its room, or have its name. Left out are those of at
# most $3 milliseconds that are older than $4.
tests_for() {
    local file=$1 line=$2 met_ms=$3 met_at=$4 taken program
    grep -qx "$file $line" "$folder/lines" || line=0
    awk -v file="$file" -v line="$line" -v room="$(dirname "$file")" -v name="$(basename "$file" .c)" -F'[ \t]' '
        FILENAME == ARGV[1] { if ($1 == "killed" && index($2, file ":") == 1) kills[$3]++; next }
        $1 == line {
            hope = 1 + (kills[$3] > 9 ? 9 : kills[$3])
            if (index($3, room "/") == 1) hope *= index($3, room "/" name) == 1 ? 10 : 2
            print $2 / hope, $2, $3
        }' "$results" <(grep -s "^$line " "$(reaching_of "$file")") | sort -n | cut -d' ' -f2,3 | while read -r taken program; do
        if [ "$taken" -gt "$met_ms" ] || [ "$(stat -c %Y "$build/tests/$program")" -ge "$met_at" ]; then echo "$taken $program"; fi
    done
}

# Where a place is, in words that stay when lines move: file, change, the line as it stands.
story() { printf '%s\t%s -> %s\t%s' "$1" "$2" "${3:-nothing}" "$(sed -n "$4{s/^ *//;s/\t/ /g;p;}" "$1")"; }

# Makes one change and looks for the test that notices.
try_place() {
    local file=$1 line=$2 column=$3 old=$4 new=$5 state=$6 met_ms=$7 met_at=$8 mine=$folder/worker.$BASHPID
    local killer="" taken program most number=0 begun
    begun=$(date +%s)
    mkdir -p "$mine/source/$(dirname "$file")" "$mine/library" "$mine/tmp"
    MUTANT_OLD=$old MUTANT_NEW=$new awk -v line="$line" -v column="$column" 'FNR == line {
        old = ENVIRON["MUTANT_OLD"]
        $0 = substr($0, 1, column - 1) ENVIRON["MUTANT_NEW"] substr($0, column + length(old)) } { print }' "$file" >"$mine/source/$file"
    local object=$build/${file%.c}.o verdict=none others
    mapfile -t others < <(find "${folders[@]/#/$build/}" -name '*.o' ! -path "$object")
    if ! (cd "$mine/source" && $compile -c "$file" -o "$mine/object.o" >/dev/null 2>&1); then
        killer="not compiled"
    elif cmp -s "$object" "$mine/object.o"; then
        killer="the same"
    elif ! $link -o "$mine/library/libpetal-tests.so" "$mine/object.o" "${others[@]}" ${MUTANT_LIBS:-} 2>/dev/null; then
        killer="not linked"
    else
        verdict=survived
        while read -r taken program; do
            number=$((number + 1))
            most=$((taken / 100 + 5))
            if ! run_test "$mine/library" "$mine/tmp" "$build/tests/$program" $most &&
                run_test "$build" "$mine/tmp" "$build/tests/$program" $most; then
                verdict=killed killer=$program
                break
            fi
            rm -rf "${mine:?}/tmp"/*
        done < <(tests_for "$file" "$line" "$met_ms" "$met_at")
        [ $((number + met_ms)) -gt 0 ] || killer="not reached"
    fi
    [ -d "$mine" ] || exit 1
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$verdict" "$file:$line:$column" "${killer:--}" "$number tests, up to $quick_ms ms, at $begun" \
        "$state" "$(story "$file" "$old" "$new" "$line")" | tee -a "$results" | grep '^survived' | cut -f2,3,6-
    rm -rf "$mine"
}

# A mutant is known by its file as it is, line, column and change.
declare -A known states met
for file in "${files[@]}"; do states[$file]=$(cksum <"$file" | cut -d' ' -f1); done
is_judged() { grep -v '^open' "$judged" 2>/dev/null | cut -f2-4 | grep -qxF "$1"; }
while IFS= read -r row; do
    IFS=$'\t' read -r verdict place _ tried state file change _ <<<"$row"
    [ "$state" = "${states[$file]:-}" ] || continue
    if [ "$verdict" = survived ] && [ "${MUTANTS_AGAIN:-0}" = 1 ] && ! is_judged "$(cut -f6- <<<"$row")"; then
        met[$place:$state:$change]=$(sed 's/.*up to \([0-9]*\) ms, at \([0-9]*\).*/\1 \2/' <<<"$tried")
        continue
    fi
    known[$place:$state:$change]=1
    printf '%s\n' "$row"
done <"$results" >"$folder/kept"
cp "$folder/kept" "$results"
counted() { grep -vc '^none' "$results"; }
# Fields may be empty, which `read` passes over where tabs divide them.
while IFS=$'\037' read -r file line _ column old new; do
    state=${states[$file]}
    mutant="$file:$line:$column:$state:$old -> ${new:-nothing}"
    [ -z "${known[$mutant]:-}" ] || continue
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    [ $(($(counted) + $(jobs -rp | wc -l))) -lt "$wanted" ] || wait
    [ "$(counted)" -lt "$wanted" ] || break
    try_place "$file" "$line" "$column" "$old" "$new" "$state" ${met[$mutant]:-0 0} &
done <"$folder/points"
wait
rm -rf "$folder"/worker.*

touch "$folder/none"
awk -F'\t' -v seed="$seed" -v took=$((SECONDS - started)) '
    FILENAME != ARGV[ARGC - 1] { judged[$2, $3, $4] = $1; next }
    $1 == "killed" { killed++ }
    $1 == "survived" { survived++; verdicts[judged[$6, $7, $8]]++ }
    END {
        tried = killed + survived
        others = tried - verdicts["equivalent"] - verdicts["cost"]
        printf "counted: mutants, seed %s: %d mutants, %d killed (%.1f %%), %d survived: ", seed, tried, killed, tried ? 100 * killed / tried : 0, survived
        printf "%d equivalent, %d cost only, %d open, %d not judged; ", verdicts["equivalent"], verdicts["cost"], verdicts["open"], verdicts[""]
        printf "of the %d others %.1f %% killed; %d s\n", others, others ? 100 * killed / others : 0, took
        exit tried == 0 || 100 * killed < 90 * others
    }' $([ -f "$judged" ] && echo "$judged" || echo "$folder/none") "$results"
