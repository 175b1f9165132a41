#!/usr/bin/env bash
# run.sh -- do the generic regimes bite? Each patch of this folder reverts the fix of one defect:
# its first line says what is lost then, its second how. A copy of the tree is built with it, and
# the regimes of tests/bites/regimes run on that, those of its room first, until one of them fails.
# Usage: run.sh check: does every patch apply to the tree? In a second, without a build.
# Usage: run.sh BUILD [PATCH...]. Copies are made in BUILD/bites; BITES_JOBS patches are tried at
# once. BITES_ALL=1: all regimes run, even after one has failed. BITES_CONTROL=1: they also run on
# the unpatched tree. Fails if a patch no longer applies, if its defect is not found, or if a regime
# fails without a patch. BITES_ONLY: a pattern that programs of regimes must match. Patches in
# tests/bites/missed are those that no regime finds: they are tried only by name.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${1:?usage: run.sh BUILD [PATCH...] or run.sh check}
shift
folder=tests/bites

# Without fuzz: a patch that applies nearly may plant its defect in the wrong place.
check_patches() {
    local patch checked=0 failed=0
    for patch in "$folder"/*.patch "$folder"/missed/*.patch; do
        checked=$((checked + 1))
        patch -p1 -s -F0 --dry-run <"$patch" && continue
        echo "FAIL  $patch does not apply: renew it, so that it plants the same defect in today's code"
        failed=$((failed + 1))
    done
    echo "bites: $((checked - failed)) of $checked patches apply"
    [ "$failed" = 0 ]
}
if [ "$build" = check ]; then
    check_patches
    exit
fi

patches=("$@")
[ ${#patches[@]} -gt 0 ] || patches=("$folder"/*.patch)
work=$build/bites
[[ "$build" = /* ]] || work=$PWD/$work
mkdir -p "$work"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'kill $(jobs -pr) 2>/dev/null; exit 130' INT TERM

# Those that there are: rooms, seconds, program, tests.
regimes() {
    grep -v '^#' "$folder/regimes" | while read -r rooms seconds program tests; do
        [[ "$program" =~ ${BITES_ONLY:-} ]] || continue
        if [ -f "tests/${program}_test.c" ] || grep -q "^${program#@}:" Makefile; then echo "$rooms $seconds $program $tests"; fi
    done
}

# The regimes, those of the rooms that the patch is in first.
in_order_for() {
    local rooms line room rank
    rooms=$(sed -n 's,^+++ b/\([a-z]*/[a-z]*\).*,\1,p' "$1" | sort -u)
    regimes | while read -r line; do
        rank=1
        for room in $rooms; do
            if [[ ",${line%% *}," = *",$room,"* || ",${line%% *}," = *",${room%%/*},"* ]]; then rank=0; fi
        done
        echo "$rank $line"
    done | sort -s -n -k1,1 | cut -d' ' -f2-
}

# Programs are built when they are wanted. Warnings are those of code that nobody calls any more.
build_in() {
    local tree=$1 program=$2
    [[ "$program" = @* ]] && return 0
    make -C "$tree" --no-print-directory -j2 BUILD=build "build/tests/${program}_test" >"$tree/make.log" 2>&1 || { tail -n 5 "$tree/make.log"; return 1; }
}

# Runs a regime, output to the tree's file; succeeds unless one of the tests that count fails. A
# program that aborts has failed in the test that it was at.
regime_passes() {
    local tree=$1 seconds=$2 program=$3 tests=$4 status failed name
    if [[ "$program" = @* ]]; then
        (ulimit -t "$seconds" && exec timeout --kill-after=5 $((4 * seconds)) make -C "$tree" --no-print-directory BUILD=build SCHEDULE_SECONDS=22 "${program#@}") >"$tree/output" 2>&1
    else
        (cd "$tree" && ulimit -t "$seconds" && exec timeout --kill-after=5 $((4 * seconds)) "build/tests/${program}_test") >"$tree/output" 2>&1
    fi
    status=$?
    [ $status = 0 ] && return 0
    [ "$tests" = '*' ] && return $status
    failed=$(sed -n 's/^\[  FAILED  \] \([a-z_0-9]*\)$/\1/p' "$tree/output" | sort -u)
    [ -n "$failed" ] || failed=$(sed -n 's/^\[ RUN      \] //p' "$tree/output" | tail -n 1)
    for name in $failed; do
        if [[ ",$tests," = *",$name,"* ]]; then return $status; fi
    done
    return 0
}

# What a failing program said of it, in one line.
reason_in() {
    local status=$1 output=$2 said
    said=$(grep -aE 'Assertion|ERROR|differ|lost|missing|but |not |is there' "$output" | grep -avE '^\[ *(OK|RUN|FAILED|=+) *\]|^counted: ' | head -n 1 | tr -s ' \t' ' ' | cut -c1-120)
    echo "${said:-status $status}"
}

try_patch() {
    local patch=$1 tree=$2 name found='' missed='' began=$SECONDS at status rooms seconds program tests
    name=$(basename "$patch" .patch)
    if ! (cd "$tree" && patch -p1 -s -F0 --dry-run) <"$patch" >"$tree/output" 2>&1; then
        echo "FAIL  $name: does not apply: $(head -n 1 "$tree/output")"
        return 1
    fi
    (cd "$tree" && patch -p1 -s -F0) <"$patch"
    while read -r rooms seconds program tests; do
        if ! build_in "$tree" "$program"; then
            missed="$missed ($program does not build)"
            break
        fi
        at=$SECONDS
        status=0
        regime_passes "$tree" "$seconds" "$program" "$tests" 2>/dev/null || status=$?
        if [ "$status" = 124 ] || [ "$status" = 137 ] || [ "$status" = 152 ]; then
            missed="$missed $program (not at its end after $((SECONDS - at)) s)"
            continue
        elif [ "$status" = 0 ]; then
            missed="$missed $program ($((SECONDS - at)) s)"
            continue
        fi
        found="$found; $program after $((SECONDS - at)) s: $(reason_in $status "$tree/output")"
        [ "${BITES_ALL:-0}" = 1 ] || break
    done < <(in_order_for "$patch")
    (cd "$tree" && patch -p1 -s -R) <"$patch"
    if [ -n "$found" ]; then
        echo "ok    $name: found by ${found#; }${missed:+; not by$missed}"
    else
        echo "FAIL  $name: found by none of$missed, in $((SECONDS - began)) s"
    fi
    [ -n "$found" ]
}

worker() {
    local number=$1 tree=$work/tree$1 patch at rooms seconds program tests
    mkdir -p "$tree"
    find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    tar cf - Makefile base bloom cache memtable sstable engine tools tests | tar xf - -C "$tree" || exit 2
    while [ "$number" = 0 ] && [ "${BITES_CONTROL:-0}" = 1 ] && read -r rooms seconds program tests; do
        at=$SECONDS
        if build_in "$tree" "$program" && regime_passes "$tree" "$seconds" "$program" "$tests" 2>/dev/null; then
            echo "ok    without a patch: $program ($((SECONDS - at)) s)"
        else
            echo "FAIL  without a patch: $program: $(reason_in $? "$tree/output")"
            touch "$results/control.failed"
        fi
    done < <(regimes)
    # Whoever makes the directory has the patch.
    for patch in "${patches[@]}"; do
        mkdir "$results/$(basename "$patch").taken" 2>/dev/null || continue
        if try_patch "$patch" "$tree"; then
            touch "$results/$(basename "$patch").found"
        else
            touch "$results/$(basename "$patch").failed"
        fi
    done
}

for ((i = 0; i < ${BITES_JOBS:-1}; i++)); do worker "$i" & done
wait
count() { find "$results" -name "*.$1" | wc -l; }
found=$(count found) failed=$(count failed)
echo "bites: $found of ${#patches[@]} defects found by generic regimes, in $SECONDS s; $(find $folder/missed -name '*.patch' 2>/dev/null | wc -l) more are known to be found by none"
[ "$failed" = 0 ] && [ "$found" = ${#patches[@]} ]
