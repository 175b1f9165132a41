#!/bin/sh
# create_test.sh KV-SHELL -- a database begins with the command create or the option --create, and
# with nothing else: a path that was typed wrong never becomes a directory.
set -u
export LC_ALL=C
shell=${1:?usage: create_test.sh KV-SHELL}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/create_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
db=$scratch/db
failed=0

fail() {
    echo "$1; it said:"
    cat "$scratch/out"
    failed=1
}

# The exit status $1 and text $2 of kv-shell with the other arguments.
expect() {
    wanted=$1 text=$2
    shift 2
    "$shell" --no-took "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    [ $status = "$wanted" ] || fail "$*: exit status $status, expected $wanted"
    [ -z "$text" ] || grep -qF -- "$text" "$scratch/out" || fail "$*: no \"$text\""
}

# Nothing was made by what ran before.
nothing() {
    [ ! -e "$db" ] || fail "$1: there is a directory"
    rm -rf "$db"
}

expect 0 '--cache is more than --memory, which is the limit of it' --create --memory 64M --cache 1G "$scratch/noted" -e list
expect 0 '' --cache 1G "$scratch/noted" -e list
! grep -q 'the limit of it' "$scratch/out" || fail 'a note where --cache makes the limit'

missing="there is no database in $db: create 'table', 'family' makes one, and so does kv-shell --create"
import_makes="there is no database in $db: import"
row="row,f:a
r,v"
echo "$row" >"$scratch/rows.csv"
echo list >"$scratch/script"

# ---- What needs a database says so, and makes none -----------------------------------------------

for command in list "scan 't'" "put 't', 'r', 'f:q', 'v'" "exists 't'" "list_namespace" "status" "stats" "verify 't'" "flush 't'" \
    "export 't', '-'" "import_hfiles 't', '$scratch'" "checkpoint '$scratch/copy'" \
    "get_table 't'" "time list" "explain get 't', 'r'" "advise 't'" "clone_snapshot 's', 't'" "alter_namespace 'n', {METHOD => 'set'}"; do
    expect 1 "ERROR: $missing" "$db" -e "$command"
    nothing "$command"
done
expect 1 "$missing" "$db" -f "$scratch/script"
expect 1 "$import_makes t $scratch/rows.csv --create makes it, and the table from the file" "$db" import t "$scratch/rows.csv"
expect 1 "ERROR: $import_makes with CREATE => true makes it, and the table from the file" "$db" -e "import 't', '$scratch/rows.csv'"
expect 1 "$missing" "$db" export t
expect 1 "$missing" "$db" compare t "$scratch/rows.csv"
expect 1 "$missing" -n "$db" "$scratch/script"
expect 1 "kv-shell: there is no database in $db" --read-only "$db" -e list
nothing 'files and subcommands'
mkdir "$db"
expect 1 "$missing" "$db" -e list
expect 1 "kv-shell: there is no database in $db" --read-only "$db" -e list
rmdir "$db" || fail 'an empty directory was written to'
touch "$db"
expect 3 "$db" "$db" -e list
rm "$db"

# What needs none works.
expect 0 'PrefixFilter' "$db" -e "help; help 'get'; version; show_filters; whoami; x = 1; puts 'y'; balancer_enabled; quit"
nothing help

# ---- A create that is refused leaves nothing behind ----------------------------------------------

for command in "create 't'" "create 't', {NAME => 'f', BLOCKSIZE => 7}" "create 't', {NAME => 'f', TTL => 0}" "create 't', ''" \
    "create 'a b', 'f'" "create 't', {NAME => 'f', IN_MEMORY_COMPACTION => 'X'}" \
    "create_namespace 'a:b'" "create_namespace 'n', 'm'" "create"; do
    expect 2 'ERROR: ' "$db" -e "$command"
    nothing "$command"
done
expect 1 'Unknown namespace n!' "$db" -e "create 'n:t', 'f'"
nothing 'a table of a namespace that is not there'
expect 3 "$scratch/no/db" "$scratch/no/db" -e "create 't', 'f'"
nothing 'a folder that is not there'

# ---- Nor does --create where the input is not there ----------------------------------------------

for name in -f -n; do
    [ $name = -f ] && set -- -f "$scratch/nofile.rb" || set -- -n "$scratch/nofile.rb"
    expect 1 "kv-shell: cannot open $scratch/nofile.rb: No such file or directory" --create "$db" "$@"
    nothing "--create with $name and a file that is not there"
done
expect 1 "kv-shell: cannot open $scratch/nofile.csv: No such file or directory" --create "$db" import t "$scratch/nofile.csv" --create
nothing '--create and an import of a file that is not there'
expect 2 'kv-shell: there is no option "--nonsense"; there are --format, ' --create "$db" import t "$scratch/rows.csv" --nonsense
nothing '--create and an option that import has not'
expect 2 'kv-shell: --max-errors takes a number, not "x"' --create "$db" import t "$scratch/rows.csv" --max-errors x
nothing '--create and a value that an option of import has not'

# ---- What makes one ------------------------------------------------------------------------------

# made NAME: there is a database with the table t.
made() {
    expect 0 '1 row(s)' --read-only "$db" -e "list 't'"
    rm -rf "$db"
}

expect 0 'Created table t' "$db" -e "create 't', 'f'"
made
expect 1 "$missing" "$db" -e "list; create 't', 'f'; put 't', 'r', 'f:q', 'v'"
made
expect 0 'Created table n:t' "$db" -e "create_namespace 'n'; create 'n:t', 'f'"
rm -rf "$db"
expect 0 '0 row(s)' --create "$db" -e list
expect 0 '0 row(s)' "$db" -e list
expect 0 '0 row(s)' --create "$db" -e list
rm -rf "$db"
expect 0 '' --create "$db"
[ -f "$db/MANIFEST" ] || fail '--create alone made no database'
rm -rf "$db"
mkdir "$db"
expect 0 'Created table t' "$db" -e "create 't', 'f'"
made
expect 2 'read_only is given with create' --read-only --create "$db" -e list
nothing '--read-only --create'

# One that came meanwhile is opened.
mkfifo "$scratch/pipe"
"$shell" --no-took "$db" <"$scratch/pipe" >"$scratch/late" 2>&1 &
exec 3>"$scratch/pipe"
echo list >&3
tries=0
until grep -q 'there is no database' "$scratch/late" || [ $((tries += 1)) = 300 ]; do sleep 0.1; done
"$shell" "$db" -e "create 't', 'f'" >/dev/null || fail 'create'
echo "list 't'" >&3
exec 3>&-
wait $!
grep -q '^1 row(s)' "$scratch/late" || fail "a database that came meanwhile is not seen: $(cat "$scratch/late")"
made
exit $failed
