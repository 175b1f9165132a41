#!/bin/sh
# replay_test.sh REPLAY-SHELL -- replays the recorded sessions, then tests the program that replays
# them.
set -u
here=$(dirname "$0")
replay=${1:?usage: replay_test.sh REPLAY-SHELL}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/replay_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# run STATUS WHAT ARGUMENT..: the program must exit so; what it says is left in $scratch/said.
run() {
    wanted=$1 what=$2
    shift 2
    "$replay" "$@" >"$scratch/said" 2>&1
    got=$?
    [ $got = "$wanted" ] && return
    echo "FAILED: $what: exit status $got, not $wanted"
    tail -n 100 "$scratch/said"
    failed=$((failed + 1))
}

# said TEXT: the last run said so.
said() {
    grep -qF -e "$1" "$scratch/said" && return
    echo "FAILED: it is not said: $1"
    tail -n 40 "$scratch/said"
    failed=$((failed + 1))
}

run 0 "the sessions" "$here/sessions"
tail -n 1 "$scratch/said"

# ---- what it must notice ----

# session MODE EXIT LINE..: a session of these lines.
session() {
    printf '# a test\n#! group: test\n#! mode: %s\n#! exit: %s\n' "$1" "$2" >"$scratch/one.session"
    shift 2
    printf '%s\n' "$@" >>"$scratch/one.session"
}
exists='Took T seconds'
session pipe 0 "hbase> is_enabled 't'" "true" "$exists" "=> true"
run 1 "another answer" "$scratch/one.session"
said "one.session:5: is_enabled 't'"
said "    -true"
said "1 sessions, 1 commands, "
session pipe 0 "hbase> list" "TABLE" "0 row(s)" "$exists" "=> []" "hbase> list" "TABLE" "$exists" "=> []"
run 1 "a line too much" "$scratch/one.session"
said "    +0 row(s)"
said "1 differences: 0 deliberate, 1 others"
session script 3 "hbase> exit 7"
run 1 "another exit status" "$scratch/one.session"
said "(exit status)"
session script 7 "hbase> exit 7" "hbase> list"
run 0 "the same exit status" "$scratch/one.session"
session terminal-40 0 "hbase> list" "TABLE" "0 row(s)" "$exists" "=> []"
run 1 "a line that is not padded" "$scratch/one.session"
session terminal-40 0 "hbase> list" "TABLE                                   " "0 row(s)" "$exists" "=> []"
run 0 "a line that is padded" "$scratch/one.session"
session pipe 0 "hbase> list 5, 6" "" "ERROR: no method 'x' for y" "" "For usage try 'help \"list\"'" "" "$exists"
run 0 "any message where one of Java's was recorded" "$scratch/one.session"

# ---- rules ----

mkdir "$scratch/rules"
cp "$here/sessions/masks.txt" "$here/sessions/loose.txt" "$scratch/rules"
session script 0 "hbase> exists 't'" "Table t is not there" "$exists" "=> false"
printf '%s\n' 'entry words' 'command ^exists ' 'rewrite does not exist$ ==> is not there' '  a reason' >"$scratch/rules/DIFFERENCES"
run 0 "a rewriting" --rules "$scratch/rules" --verbose "$scratch/one.session"
said "(deliberate: words)"
session script 0 "hbase> exists 't'" "Table u is not there" "$exists" "=> false"
run 1 "a rewriting that is not enough" --rules "$scratch/rules" "$scratch/one.session"
said "not used: words"
printf '%s\n' 'entry words' 'session test/*' 'expected ^Table u' '  a reason' >"$scratch/rules/DIFFERENCES"
run 0 "an entry for the whole output" --rules "$scratch/rules" "$scratch/one.session"
printf '%s\n' 'entry words' 'session other/*' '  a reason' >"$scratch/rules/DIFFERENCES"
run 1 "an entry for another session" --rules "$scratch/rules" "$scratch/one.session"
printf '%s\n' 'entry words' >"$scratch/rules/DIFFERENCES"
run 2 "an entry without a reason" --rules "$scratch/rules" "$scratch/one.session"
printf '%s\n' 'entry words' 'drop (' '  a reason' >"$scratch/rules/DIFFERENCES"
run 2 "a malformed pattern" --rules "$scratch/rules" "$scratch/one.session"
said "DIFFERENCES:2: (: "

run 2 "no path"
run 2 "a path that is not there" "$scratch/nothing"
session elsewhere 0 "hbase> list"
run 2 "an unknown mode" "$scratch/one.session"

[ $failed = 0 ]
