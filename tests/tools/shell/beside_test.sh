#!/bin/bash
# beside_test.sh -- kv-shell on a database that another process has open: it reads next to that,
# says whom it found, and shows what the other has written when each command begins.
#
#     tests/tools/shell/beside_test.sh KV-SHELL
set -u
export LC_ALL=C
shell=${1:?usage: beside_test.sh KV-SHELL}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/beside_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# Two sessions that stay, each with a pipe for its commands and a file of its answers.
mkfifo "$scratch/to_writer" "$scratch/to_reader"
"$shell" --no-took "$scratch/db" <"$scratch/to_writer" >"$scratch/from_writer" 2>&1 &
writer=$!
exec 3>"$scratch/to_writer"

# Send $3 to the descriptor $1, until the session $2 has answered with the text $4.
ask() {
    echo "$3" >&"$1"
    for _ in $(seq 200); do
        grep -qF -- "$4" "$scratch/from_$2" && return
        sleep 0.1
    done
    echo "no answer with \"$4\" to: $3"
    failed=1
}

# The output of a session of $1 with the options that follow has the text.
expect() {
    wanted=$1 commands=$2 text=$3
    shift 3
    "$shell" --no-took "$@" "$scratch/db" -e "$commands" >"$scratch/out" 2>&1
    status=$?
    [ $status = "$wanted" ] && grep -qF -- "$text" "$scratch/out" && return
    echo "$commands: exit status $status, expected $wanted and \"$text\":"
    cat "$scratch/out"
    failed=1
}

ask 3 writer "create 't', 'f'; put 't', 'r', 'f:q', 'first'; puts 'made'" made
expect 0 "get 't', 'r'" "is open already, in process $writer: commands only read"
expect 0 "get 't', 'r'" "value=first"
for write in "put 't', 'r', 'f:q', 'mine'" "create 'v', 'f'" "transaction { put 't', 'r', 'f:q', 'mine' }"; do
    expect 3 "$write" "is open already, in process $writer, so this shell only reads: to write, open the database anew once that process has ended"
    grep -q "usage" "$scratch/out" && { echo "$write: usage is shown"; failed=1; }
done
expect 3 "put 't', 'r', 'f:q', 'mine'" "was opened read-only" --read-only
expect 0 "get 't', 'r'" "value=first" --read-only
grep -q "process" "$scratch/out" && { echo "what was asked for is said"; failed=1; }

"$shell" --no-took --read-only "$scratch/db" <"$scratch/to_reader" >"$scratch/from_reader" 2>&1 3>&- &
reader=$!
exec 4>"$scratch/to_reader"
ask 4 reader "get 't', 'r'" "value=first"
ask 3 writer "put 't', 'r', 'f:q', 'second'; flush; create 'u', 'g'; puts 'done'" "done"
ask 4 reader "get 't', 'r'" "value=second"
ask 4 reader "list" "u"
# A transaction reads one moment, whatever is written until it ends.
"$shell" --no-took --unsafe "$scratch/db" -e "transaction { get 't', 'r'; sleep 0.01 until File.exist?('$scratch/written'); get 't', 'r'; scan 't' }
get 't', 'r'" >"$scratch/from_transaction" 2>&1 3>&- 4>&- &
transaction=$!
for _ in $(seq 200); do
    grep -q 'value=second' "$scratch/from_transaction" && break
    sleep 0.1
done
ask 3 writer "put 't', 'r', 'f:q', 'later'; flush 't'; puts 'flushed'" "flushed"
touch "$scratch/written"
wait "$transaction"
[ "$(sed -n 's/.*value=//p' "$scratch/from_transaction" | tr '\n' ' ')" = "second second second later " ] || {
    echo "a transaction read:"
    cat "$scratch/from_transaction"
    failed=1
}
# The reader locks nobody out: the writer goes, and another one comes.
exec 3>&-
wait "$writer"
expect 0 "put 't', 'r', 'f:q', 'third'; compact 't'; puts 'merged'" merged
ask 4 reader "get 't', 'r'" "value=third"
exec 4>&-
wait "$reader"
exit $failed
