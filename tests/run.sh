#!/usr/bin/env bash
# Runs the test programs and scripts of a build and counts them. Usage: run.sh BUILD [threads]
# With `threads` only the programs that start threads run (under ThreadSanitizer the others say nothing new).
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
which=${2:-all}
threaded="cache cache_lifetime cache_threads epoch cell_tree memtable memtable_race engine_threads engine_read_threads engine_alter_threads engine_mutate_threads engine_model wal_threads sst_threads engine_kill_threads engine_log_race engine_write_threads engine_full_disk_threads"
# Under sanitizers the tests against the model do less, unless they are told how much.
if [ -n "${SANITIZE:-}" ] || [ "$which" = threads ]; then
    export PETAL_OPERATIONS=${PETAL_OPERATIONS:-20000} PETAL_DEPTH=${PETAL_DEPTH:-2}
fi
passed=0 failed=0
run() {
    local started=$SECONDS output
    output=$(mktemp)
    if "$@" >"$output" 2>&1; then
        passed=$((passed + 1))
        printf 'ok    %-40s %3d s\n' "$(basename "$1")" $((SECONDS - started))
    else
        failed=$((failed + 1))
        printf 'FAIL  %s\n' "$*"
        tail -n 60 "$output"
    fi
    rm -f "$output"
}
for test in "$build"/tests/*_test; do
    [ -x "$test" ] || continue
    name=$(basename "$test" _test)
    if [ "$which" = threads ] && [[ " $threaded " != *" $name "* ]]; then continue; fi
    run "$test"
done
if [ "$which" = all ]; then
    for script in tests/*_test.sh; do
        case $script in
        tests/readme_test.sh) run "$script" "$build" ;;
        tests/conformance_test.sh) run "$script" "$build/conformance" ;;
        *) run "$script" "$build/kv-shell" ;;
        esac
    done
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
