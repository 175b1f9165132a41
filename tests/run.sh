#!/usr/bin/env bash
# Runs the test programs and scripts of a build, as many at once as there are processors, and counts them. Usage: run.sh BUILD [threads]
# With `threads` only the programs that start threads run (under ThreadSanitizer the others say nothing new).
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
which=${2:-all}
threaded="cache cache_lifetime cache_threads epoch cell_tree log_window memtable memtable_race engine_threads engine_read_threads engine_alter_threads engine_mutate_threads engine_model wal_threads sst_threads engine_kill_threads engine_log_race engine_write_threads engine_full_disk_threads file_pool engine_open_files engine_read_only engine_snapshot_threads engine_log engine_log_sync pace compactor compactor_threads engine_capture compactor_meanwhile write_queue"
# Under sanitizers the tests against the model and those of power cuts do less, unless they are told how much.
if [ -n "${SANITIZE:-}" ] || [ "$which" = threads ]; then
    export PETAL_SHORT=${PETAL_SHORT-1} PETAL_OPERATIONS=${PETAL_OPERATIONS:-20000} PETAL_DEPTH=${PETAL_DEPTH:-2}
fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
most=$(nproc)
started_tests=0
run_one() {
    local number=$1 started=$SECONDS
    shift
    # A test that hangs has failed: the longest takes minutes.
    if timeout --kill-after=10 "${TEST_SECONDS:-1200}" "$@" >"$results/$number.output" 2>&1; then
        touch "$results/$number.passed"
        printf 'ok    %-40s %3d s\n' "$(basename "$1")" $((SECONDS - started))
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
for test in "$build"/tests/*_test; do
    [ -x "$test" ] || continue
    name=$(basename "$test" _test)
    if [ "$which" = threads ] && [[ " $threaded " != *" $name "* ]]; then continue; fi
    run "$test"
done
if [ "$which" = all ]; then
    for script in tests/*_test.sh; do
        case $script in
        tests/agree_test.sh) run "$script" "$build/kv-bench" ;;
        tests/readme_test.sh) run "$script" "$build" ;;
        tests/memory_test.sh) run "$script" "$build/memory" ;;
        tests/replay_test.sh) run "$script" "$build/replay-shell" ;;
        tests/readamp_test.sh) run "$script" "$build/kv-bench" ;;
        tests/conformance_test.sh) run "$script" "$build/conformance" ;;
        tests/bench_*_test.sh) run "$script" "$build/kv-bench" ;;
        *) run "$script" "$build/kv-shell" ;;
        esac
    done
fi
wait
count() { find "$results" -name "*.$1" | wc -l; }
passed=$(count passed) failed=$(count failed)
echo "$passed passed, $failed failed"
[ $((passed + failed)) = $started_tests ] && [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
