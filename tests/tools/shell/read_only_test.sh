#!/bin/sh
# read_only_test.sh -- kv-shell --read-only: it reads, says why it does not write, and makes no
# database.
#
#     tests/tools/shell/read_only_test.sh KV-SHELL
set -u
export LC_ALL=C
shell=${1:?usage: read_only_test.sh KV-SHELL}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/read_only_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# Run the commands $2 read-only; the exit status is $1, and the output has each of the texts that
# follow.
expect() {
    wanted=$1
    commands=$2
    shift 2
    "$shell" --no-took --read-only "$scratch/db" -e "$commands" >"$scratch/out" 2>&1
    status=$?
    if [ $status != "$wanted" ]; then
        echo "$commands: exit status $status, expected $wanted"
        cat "$scratch/out"
        failed=1
    fi
    for text in "$@"; do
        grep -qF -- "$text" "$scratch/out" && continue
        echo "$commands: no \"$text\" in"
        cat "$scratch/out"
        failed=1
    done
}

expect 1 "list" "there is no database"
[ -e "$scratch/db" ] && { echo "a database was made"; failed=1; }
"$shell" "$scratch/db" -e "create_namespace 'ns'; create_namespace 'empty'; create 'ns:t', 'f'; create 't', 'f'; put 't', 'r', 'f:q', 'value'" >/dev/null || exit 1
# READERS is what readers write to.
sums() { (cd "$scratch/db" && rm -f READERS && cksum ./*); }
before=$(sums)
expect 0 "get 't', 'r'" "value"
expect 0 "scan 't'" "1 row(s)"
expect 0 "describe 't'" "NAME => 'f'"
expect 0 "verify 't'" "sound"
expect 0 "list_namespace" "4 row(s)"
expect 0 "describe_namespace 'ns'" "{NAME => 'ns'}"
expect 0 "list_namespace_tables 'ns'" "1 row(s)"
expect 0 "transaction { get 't', 'r'; scan 't' }" "1 row(s)"
for command in "transaction { put 't', 'r', 'f:q', 'new' }" "put 't', 'r', 'f:q', 'new'" "delete 't', 'r', 'f:q'" "incr 't', 'r', 'f:n'" \
    "create 'u', 'f'" "create_namespace 'other'" "drop_namespace 'empty'" "alter 't', NAME => 'g'" "disable 't'; drop 't'" "flush 't'" "major_compact 't'"; do
    expect 3 "$command" "was opened read-only"
done
expect 0 "get 't', 'r'" "value"
if [ "$before" != "$(sums)" ]; then
    echo "files have changed"
    failed=1
fi
exit $failed
