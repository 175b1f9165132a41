#!/bin/sh
# scripts_test.sh -- runs the scripts in tests/tools/shell/scripts through kv-shell, each on a new
# database.
#
#     tests/tools/shell/scripts_test.sh [--update] KV-SHELL [SCRIPT..]
#
# A script is what kv-shell --echo prints: `petal> ` and `petal* ` begin the lines of input,
# `petal? ` the answer to a command's question, all others are the expected output.  Lines before
# the first input that begin with # are comments, but for
#     #! options: OPTIONS      more options for kv-shell
#     #! exit: STATUS          the exit status of the last part, 0 if it is not given
# The seed is 1 unless they say otherwise: with another one a filter may let a row pass for nothing.
# A line `--- reopen` ends a part: the next one runs in a new process on the same database, or with
# `--- reopen DIRECTORY` on another one.  Relative paths are those of a directory of the script's
# own. Timestamps that the store assigned (from 2024 on) stand as NOW, dates of snapshots as (DATE)
# or "created":NOW, bytes of compressed files as N, that of processlist as DATE.  --update writes
# what is printed into the scripts.
set -u
export LC_ALL=C TZ=UTC
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
here=$(dirname "$0")
shell=${1:?usage: scripts_test.sh [--update] KV-SHELL [SCRIPT..]}
shift
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
[ $# -gt 0 ] || set -- "$here"/scripts/*.txt
scratch=$(mktemp -d "${TMPDIR:-/tmp}/shell_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

# Run the parts of script $1; what they print goes to $scratch/printed, the last exit status to
# $status.
run_script() {
    options=$(sed -n 's/^#! options: //p' "$1")
    rm -rf "$scratch"/run "$scratch"/part.* "$scratch"/printed
    mkdir "$scratch"/run
    awk -v base="$scratch/part." 'BEGIN { part = 1 }
        /^--- reopen/ { part++; print $3 > (base part ".directory") }
        /^petal[>*?]( |$)/ { print substr($0, 8) > (base part) }' "$1"
    sed -n '/^petal>/q; p' "$1" >"$scratch/printed"
    for part in "$scratch"/part.?; do
        directory=
        if [ "$part" != "$scratch/part.1" ]; then
            directory=$(cat "$part.directory")
            echo "--- reopen${directory:+ $directory}" >>"$scratch/printed"
        fi
        # shellcheck disable=SC2086
        (cd "$scratch"/run && exec "$shell" --no-took --no-compaction --create --seed 1 --echo $options "${directory:-db}") <"$part" >"$scratch/raw" 2>&1
        status=$?
        sed -e 's/timestamp=20\(2[4-9]\|[3-9][0-9]\)-[-0-9T:.]*/timestamp=NOW/' \
            -e 's/"created":[0-9]*/"created":NOW/' -e 's/"storefile_bytes":[1-9][0-9]*/"storefile_bytes":N/' \
            -e 's/ as of: 20.*/ as of: DATE/' \
            -e 's/(20\(2[4-9]\|[3-9][0-9]\)-[-0-9]* [0-9:]* +0000)/(DATE)/' "$scratch/raw" >>"$scratch/printed"
    done
}

for script in "$@"; do
    wanted=$(sed -n 's/^#! exit: //p' "$script")
    run_script "$script"
    if [ $update = yes ]; then
        cp "$scratch/printed" "$script"
    fi
    if ! diff -u "$script" "$scratch/printed" >"$scratch/difference"; then
        echo "FAILED $script"
        cat "$scratch/difference"
        failed=$((failed + 1))
    elif [ "$status" -ne "${wanted:-0}" ]; then
        echo "FAILED $script: exit status $status instead of ${wanted:-0}"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
