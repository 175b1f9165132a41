#!/usr/bin/env bash
# Runs the test programs and scripts of a build, as many at once as there are processors, and counts
# them.
# Usage: run.sh BUILD [threads | packages]
# Lines of a test that begin with "counted: " or "SKIPPED: " are printed, too. With `threads` only
# the programs that start threads run (the others show nothing new under ThreadSanitizer), with
# `packages` only the scripts that build a release or a package, or look at what is in one.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
which=${2:-all}
# Tests that make threads say so; of the others these leave to threads of the database what they
# look at.
databases="model/random engine/wal/chain engine/wal/sync engine/compact/compactor memtable/memtable memtable/cell_tree base/wal_window cache/cache"
# ThreadSanitizer ends a child that makes threads, and does not know threads that are made behind
# its back.
left_out=" engine/db/fork engine/db/threads_refused tools/shell/count "
threaded=" $(grep -lE 'pthread_create|tests/threads/program\.h' -r tests --include='*_test.c' | sed 's,^tests/,,; s,_test\.c$,,' | tr '\n' ' ')$databases "
# Under sanitizers the tests against the model and those of power cuts do less, unless they are told
# how much.
if [ -n "${SANITIZE:-}" ] || [ "$which" = threads ]; then
    export PETAL_SHORT=${PETAL_SHORT-1} PETAL_OPERATIONS=${PETAL_OPERATIONS:-5000} PETAL_DEPTH=${PETAL_DEPTH:-2}
fi
if [ "$which" = threads ]; then export LINEARIZABLE_SECONDS=${LINEARIZABLE_SECONDS:-20}; fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
packages=" build_systems deb dist install recipes "
most=$(nproc)
started_tests=0
run_one() {
    local number=$1 started=$SECONDS
    shift
    # A test that hangs has failed: the longest takes minutes.
    if timeout --kill-after=10 "${TEST_SECONDS:-1200}" "$@" >"$results/$number.output" 2>&1; then
        touch "$results/$number.passed"
        printf '%s\n' "$(
            printf 'ok    %-50s %3d s\n' "${1#*tests/}" $((SECONDS - started))
            sed -nE 's/^(counted|SKIPPED): /      &/p' "$results/$number.output"
        )"
    else
        touch "$results/$number.failed"
        printf 'FAIL  %s\n%s\n' "$*" "$(tail -n 60 "$results/$number.output")"
    fi
}
run() {
    while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do wait -n; done
    started_tests=$((started_tests + 1))
    run_one $started_tests "$@" &
}
# What only a word left on the stack points to has leaked as well. (The tools may end with what main
# holds.)
export LSAN_OPTIONS=use_stacks=0:use_registers=0
while [ "$which" != packages ] && read -r source; do
    name=${source#tests/}
    name=${name%_test.c}
    if [ "$which" = threads ] && [[ "$threaded" != *" $name "* || "$left_out" = *" $name "* ]]; then continue; fi
    if [[ "$name" = hfile/* && ! -e "$build/libpetal-hfile.a" ]]; then skipped_hfile=yes; continue; fi
    run "$build/${source%.c}"
done < <(find tests -name '*_test.c' | sort)
unset LSAN_OPTIONS
is_of_packages() { [[ "$1" = tests/package/* && "$packages" = *" $(basename "$1" _test.sh) "* ]]; }
if [ "$which" != threads ]; then
    while read -r script; do
        if is_of_packages "$script"; then [ "$which" = packages ] || continue; elif [[ "$which" = packages && "$script" != tests/package/manual_test.sh ]]; then continue; fi
        # Packages are built without sanitizers, and of what kv-bench measures only the answers are
        # of interest to them.
        if [ -n "${SANITIZE:-}" ] && [[ "$script" = tests/package/* || ("$script" = tests/tools/bench/* && "$script" != */workloads_test.sh) ]]; then continue; fi
        case $script in
        tests/package/readme_test.sh) run "$script" "$build" ;;
        tests/fuzz/*) run "$script" "$build/fuzz-replay" ;;
        tests/memory/*) run "$script" "$build/memory" ;;
        tests/soak/*) run "$script" "$build/soak" ;;
        tests/replay/*) run "$script" "$build/replay-shell" ;;
        tests/conformance/*) run "$script" "$build/conformance" ;;
        tests/tools/bench/*) run "$script" "$build/kv-bench" ;;
        *) run "$script" "$build/kv-shell" ;;
        esac
    done < <(find tests -name '*_test.sh' | sort)
fi
wait
[ -z "${skipped_hfile:-}" ] || echo "SKIPPED: tests/hfile (libpetal-hfile is not built)"
count() { find "$results" -name "*.$1" | wc -l; }
passed=$(count passed) failed=$(count failed)
echo "$passed passed, $failed failed"
[ $((passed + failed)) = $started_tests ] && [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
