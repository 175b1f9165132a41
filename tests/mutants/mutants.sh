#!/usr/bin/env bash
# Do the tests notice when the library is changed? Takes places of it at random, changes one at a time (a bound, a condition, a sum, a
# constant; a call left out), and runs the quick tests until one fails. Usage: mutants.sh BUILD [FILE...]
# BUILD holds the library as objects and as libpetal-tests.so, and test programs that are linked with that (`make mutants` builds it);
# a change costs one object and one link. MUTANTS=500 says how many, PETAL_SEED which, MUTANT_SECONDS=60 how long a test may take.
# BUILD/mutants/results has a line for each: killed or survived, the place, the change, the test. A change that does not compile, or
# compiles to what was there, is no mutant and counts as none. Exits with 1 when fewer than 90 of 100 are killed.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$1
shift
wanted=${MUTANTS:-500}
seed=${PETAL_SEED:-$(date +%s)}
compile=${MUTANT_COMPILE:?the compiler with its flags}
link=${MUTANT_LINK:?the linker with its flags}
out=$build/mutants
folders=(base bloom cache memtable sstable engine)
mkdir -p "$out"
: >"$out/results"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder/tmp PETAL_SHORT=1 PETAL_OPERATIONS=${PETAL_OPERATIONS:-3000} PETAL_DEPTH=2 LD_LIBRARY_PATH=$folder/library
export PETAL_SEED=$seed ASAN_OPTIONS=detect_leaks=0
mkdir -p "$folder/library" "$TMPDIR"
ulimit -c 0 -v 8000000

run_test() { (timeout --kill-after=2 "${MUTANT_SECONDS:-60}" "$1" >/dev/null 2>&1) 2>/dev/null; }

# The library with the object $1 in the place of the object $2.
link_library() {
    mapfile -t others < <(find "${folders[@]/#/$build/}" -name '*.o' ! -path "$2")
    $link -o "$folder/library/libpetal-tests.so" "$1" "${others[@]}" ${MUTANT_LIBS:-} 2>"$folder/messages"
}

# Which tests are quick: those that pass with the library as it is, in so many milliseconds of a processor.
quick_ms=${QUICK_MS:-3000}
link_library "$build/base/cell.o" "$build/base/cell.o" || { cat "$folder/messages"; exit 2; }
if [ ! -s "$out/quick" ]; then
    TIMEFORMAT='%U %S'
    for program in $(find "$build/tests" -name '*_test' -type f | sort); do
        taken=$({ time timeout $((4 * quick_ms / 1000)) "$program" >/dev/null 2>&1 && echo passed >"$folder/passed"; } 2>&1)
        if [ -f "$folder/passed" ]; then echo "$taken $program"; fi
        rm -rf "$folder/passed" "${TMPDIR:?}"/*
    done | awk -v most="$quick_ms" '{ taken = 1000 * ($1 + $2) } taken <= most { print int(taken), $3 }' | sort -n >"$out/quick"
fi
echo "$(wc -l <"$out/quick") quick tests, $(awk '{ s += $1 } END { printf "%.0f s", s / 1000 }' "$out/quick"); seed $seed"

# The tests of the room first, then the others of its folder, then what goes over all rooms, quick ones before slow ones.
tests_for() {
    local file=$1 room
    room=$(dirname "$file")
    name=$(basename "$file" .c)
    awk -v build="$build" -v room="$room" -v name="$name" '
        { test = substr($2, length(build) + 8); folder = test; sub(/\/[^\/]*$/, "", folder)
          rank = folder == room ? (index(test, "/" name "_") ? 0 : 1) : index(folder "/", substr(room, 1, index(room "/", "/"))) == 1 ? 3 : 4
          if (test ~ /^model\/|db\/api/) rank = 2
          print rank, $1, $2 }' "$out/quick" | sort -n -k1,1 -k2,2 | cut -d' ' -f3
}

files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(find "${folders[@]}" -name '*.c' | sort)
awk -f tests/mutants/points.awk "${files[@]}" | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -g | cut -f2- >"$folder/points"
echo "$(wc -l <"$folder/points") places in ${#files[@]} files"

killed=0 survived=0
while IFS=$'\t' read -r file line kind column old new; do
    [ $((killed + survived)) -lt "$wanted" ] || break
    mkdir -p "$folder/source/$(dirname "$file")"
    changed=$folder/source/$file
    MUTANT_OLD=$old MUTANT_NEW=$new awk -v line="$line" -v column="$column" 'FNR == line {
        old = ENVIRON["MUTANT_OLD"]
        $0 = substr($0, 1, column - 1) ENVIRON["MUTANT_NEW"] substr($0, column + length(old)) } { print }' "$file" >"$changed"
    object=$build/${file%.c}.o
    $compile -c "$changed" -o "$folder/object.o" >"$folder/messages" 2>&1 || continue
    if cmp -s <(objcopy -O binary -j '.text*' "$object" /dev/stdout 2>/dev/null) <(objcopy -O binary -j '.text*' "$folder/object.o" /dev/stdout 2>/dev/null) &&
        cmp -s <(objdump -s "$object" | tail -n +4) <(objdump -s "$folder/object.o" | tail -n +4); then continue; fi
    link_library "$folder/object.o" "$object" || continue
    killer=""
    while read -r program; do
        if ! run_test "$program"; then killer=${program#"$build"/tests/}; break; fi
    done < <(tests_for "$file")
    rm -rf "${TMPDIR:?}"/*
    if [ -n "$killer" ]; then killed=$((killed + 1)); else survived=$((survived + 1)); fi
    printf '%s\t%s:%s\t%s\t%s -> %s\t%s\n' "$([ -n "$killer" ] && echo killed || echo survived)" "$file" "$line" "$kind" "$old" "${new:-nothing}" "$killer" |
        tee -a "$out/results" | grep ^survived
done <"$folder/points"
tried=$((killed + survived))
echo "$tried mutants, $killed killed ($((tried > 0 ? 100 * killed / tried : 0)) %), $survived survived: $out/results; seed $seed"
[ "$tried" -gt 0 ] && [ $((100 * killed)) -ge $((90 * tried)) ]
