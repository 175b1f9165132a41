# shellcheck shell=sh
# expect.sh -- what test scripts share that run a program many times: a directory for what they
# write, removed at the end, and checks that are counted. Sourced:
# `. "$(dirname "$0")/../../support/expect.sh"`, which sets $scratch; then, at the end,
# `expect_end`.
export LC_ALL=C
scratch=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX") || exit 1
# Until its exec a background child has these traps too: a signal that comes so early must not make
# it remove the directory, and ends it with the status of a process that the signal killed.
tidy() {
    read -r process _ </proc/self/stat
    [ "$process" != $$ ] || rm -rf "$scratch"
}
trap tidy EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0
failed=0

# expect NAME STATUS PATTERN COMMAND..: the command ends with STATUS and prints, into $scratch/out,
# a line that matches PATTERN.
expect() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    if [ $status -ne "$wanted" ] || ! grep -q -- "$pattern" "$scratch/out"; then
        echo "FAILED $name: exit status $status, wanted $wanted and a line like: $pattern"
        cat "$scratch/out"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# is_true NAME 1: so it is; anything else: it is not, and what was printed last may tell why.
is_true() {
    if [ "$2" = 1 ]; then
        passed=$((passed + 1))
    else
        echo "FAILED $1"
        cat "$scratch/out"
        failed=$((failed + 1))
    fi
}

# same NAME FILE: FILE holds what comes from standard input, which is no pipe: at the end of one a
# failure would not be counted.
same() {
    if diff -u - "$2" >"$scratch/difference"; then
        passed=$((passed + 1))
    else
        echo "FAILED $1:"
        cat "$scratch/difference"
        failed=$((failed + 1))
    fi
}

# The script's exit status.
expect_end() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}
