#!/bin/sh
# verify_test.sh -- kv-check verify: every fault of a database is listed, by file, place and what it
# concerns, and nothing is written.
#
#     tests/tools/check/verify_test.sh KV-SHELL
#
# kv-check stands beside it.
set -u
shell=$(realpath "${1:?usage: verify_test.sh KV-SHELL}")
check=$(dirname "$shell")/kv-check
. "$(dirname "$0")/../../support/expect.sh"
. "$(dirname "$0")/place.sh"
cd "$scratch" || exit 1

make_database db
before=$(state_of db)
expect sound 0 '^sound$' "$check" verify db
grep -q 'tables 2, snapshots 1, families 5' out
is_true 'everything was looked at' $((1 - $?))
is_true 'nothing was written' "$([ "$before" = "$(state_of db)" ] && echo 1)"

# What cannot be looked at.
expect 'no database' 2 'there is no database' "$check" verify nowhere
mkdir empty
expect 'an empty directory' 2 'there is no database' "$check" verify empty
expect 'no directory' 2 '^kv-check verify: an argument is missing: DIRECTORY; "kv-check verify --help"' "$check" verify
expect 'two of them' 2 '^kv-check verify: "db" is one argument too many; ' "$check" verify db db
expect 'a wrong option' 2 '^kv-check verify: there is no option "--jason"; ' "$check" verify --jason db
is_true 'in one line' "$([ "$(wc -l <out)" = 1 ] && echo 1)"
expect 'an option behind it' 0 '"sound": true' "$check" verify db --json
expect 'none behind two dashes' 2 'no database in --json' "$check" verify -- --json
expect 'all commands' 0 'salvage' "$check" --help
is_true 'in 80 columns' "$(grep -q '.\{81\}' out || echo 1)"
for command in verify dump salvage; do
    expect "help of $command" 0 "^usage: kv-check $command" "$check" $command --help
    is_true 'in 80 columns' "$(grep -q '.\{81\}' out || echo 1)"
done
expect help 0 'usage: kv-check verify' "$check" verify --help
expect 'help, short' 0 'usage: kv-check verify' "$check" verify -h
expect 'help as a command' 0 'usage: kv-check verify' "$check" help verify
expect 'all commands so' 0 'salvage' "$check" help
expect 'all commands, short' 0 'salvage' "$check" -h
expect 'a wrong command' 2 'there is no command "verfy"; did you mean "verify"? "kv-check --help" lists them' "$check" verfy db

# Each kind of file, one fault after the other.
largest=$(ls -S db/*.sst | head -1)
victim=$(basename "$largest")
damaged() {
    rm -rf bad
    cp -rp db bad
}
damaged
change "bad/$victim" 100
expect 'a data block' 1 "fault: bad/$victim: data block at offset 0: checksum [^,]*, its [0-9]* bytes give [0-9a-f]*, table 'big', family 'f', from row 'row0000', to row 'row00" \
    "$check" verify bad
expect 'one fault' 1 'faults 1,' "$check" verify bad
change "bad/$victim" $(($(wc -c <"bad/$victim") - 3))
expect 'a data block and the trailer' 1 'does not end like a store file' "$check" verify bad
expect 'both are told' 1 'faults 2,' "$check" verify bad
truncate -s -200 "bad/$victim"
expect 'cut off' 1 "bad/$victim has [0-9]* bytes; the manifest says" "$check" verify bad
rm "bad/$victim"
expect 'missing' 1 "fault: bad/$victim is missing; it had .*table 'big', family 'f'" "$check" verify bad
cp "db/$victim" bad
expect 'there again' 0 sound "$check" verify bad
cp "$(ls -S db/*.sst | tail -1)" "bad/$victim"
expect 'another file' 1 'another file stands here' "$check" verify bad
damaged
change bad/MANIFEST 200
expect 'the manifest' 1 'fault: bad/MANIFEST is damaged at offset' "$check" verify bad
expect 'what to do' 1 '^damaged: "kv-check salvage DIR NEW" writes what can be read' "$check" verify bad
"$shell" --no-took --read-only bad -e list >out 2>&1
is_true 'the shell names kv-check' "$(grep -q '"kv-check verify [^ ]*" lists what is damaged' out && echo 1)"
rm bad/MANIFEST
expect 'no manifest' 1 'fault: bad/MANIFEST is missing' "$check" verify bad
damaged
cp "db/$victim" bad/000999.sst
echo half >bad/MANIFEST.tmp
expect 'what nothing names is no fault' 0 'note: bad/000999.sst is a store file that belongs to no table' "$check" verify bad
grep -q 'note: bad/MANIFEST.tmp is a manifest that was not completed' out
is_true 'an unfinished manifest' $((1 - $?))
expect 'notes are not wanted' 0 'harmless 2' "$check" verify --quiet bad
is_true 'and not given' "$(grep -q note: out || echo 1)"

# What cannot be opened is not damaged.
damaged
unprivileged=
if [ "$(id -u)" = 0 ]; then
    unprivileged="setpriv --reuid 65534 --regid 65534 --clear-groups"
    chmod 711 . && chmod -R a+rX bad
fi
if $unprivileged "$check" --version >out 2>&1; then
    chmod 000 "bad/$victim"
    expect 'a file of somebody else' 2 "^not looked at: .*bad/$victim: Permission denied" $unprivileged "$check" verify bad
    is_true 'is no fault' "$(grep -q 'fault:\|manifest says' out || echo 1)"
    is_true 'the others were looked at' "$(grep -q 'tables 2, snapshots 1, families 5, .* faults 0,' out && echo 1)"
    expect 'and not salvaged' 2 "cannot open bad/$victim: Permission denied" $unprivileged "$check" salvage bad bad-saved
    is_true 'nothing was begun' "$([ ! -e bad-saved ] && echo 1)"
    change "bad/$(basename "$(ls -S db/*.sst | tail -1)")" 20
    expect 'damage beside it' 1 '^damaged' $unprivileged "$check" verify bad
    grep -q 'not everything could be looked at' out
    is_true 'both are told' $((1 - $?))
    damaged
    [ -z "$unprivileged" ] || chmod -R a+rX bad
    chmod 000 bad/LOCK
    expect 'the lock of somebody else' 0 'note: bad/LOCK may not be opened' $unprivileged "$check" verify bad
    chmod 000 bad/MANIFEST
    expect 'the manifest of somebody else' 2 'kv-check: cannot open bad/MANIFEST: Permission denied' $unprivileged "$check" verify bad
    [ -z "$unprivileged" ] || chmod 700 .
else
    echo 'SKIPPED what may not be opened: nobody else may run kv-check here'
fi
expect 'no descriptors' 2 'Too many open files' sh -c 'ulimit -n 6; exec "$0" verify db' "$check"
is_true 'are no fault' "$(grep -q 'fault:' out || echo 1)"
expect 'nor salvaged' 2 'Too many open files' sh -c 'ulimit -n 7; exec "$0" salvage db db-saved' "$check"
is_true 'nothing stays of it' "$([ ! -e db-saved/MANIFEST ] && echo 1)"

# Logs: of a process that was killed.
cp -rp db killed
mkfifo pipe
"$shell" --no-took killed <pipe >/dev/null 2>&1 &
writer=$!
exec 3>pipe
{
    puts 0 99 other f:q 3000
    sleep 1.5 # the log is synced in the background, and the next record promises it
    echo "put 'other', 'last', 'f:q', 'x'"
} >&3
i=0
until grep -aq 'last' killed/*.log 2>/dev/null || [ $i -gt 200 ]; do
    sleep 0.05
    i=$((i + 1))
done
expect 'somebody has it open' 2 "open already, in process $writer$" "$check" verify killed
kill -9 $writer
wait $writer 2>/dev/null
exec 3>&-
before=$(state_of killed)
expect 'what a killed process left' 0 'logs 1, log records 10[1-9]' "$check" verify killed
is_true 'the log was not replayed' "$([ "$before" = "$(state_of killed)" ] && echo 1)"
log=$(ls killed/*.log | tail -1)
change "$log" 20
expect "a log's header" 1 "fault: killed/.*log is damaged at offset 0: [0-9]* bytes were synced" "$check" verify killed

# The shell's verify tells each fault of its table, too.
damaged
for file in bad/*.sst; do
    change "$file" 30
done
wanted=$("$check" verify bad | grep -c "^fault: .*table 'big'")
is_true 'some faults' "$([ "$wanted" -ge 2 ] && echo 1)"
"$shell" --no-took --read-only bad -e "verify 'big'" >faults 2>error
is_true 'its exit status' "$([ $? = 3 ] && echo 1)"
cat faults error >out
is_true 'all faults of a table' "$([ "$(grep -c '^fault: bad/.*sst: .*, family [fg], from row row0.*, to row row0' faults)" = "$wanted" ] && echo 1)"
is_true 'and at the end how many' "$(grep -q "^$wanted faults in the store files of table big: .*kv-check salvage" out && echo 1)"
"$shell" --no-took --read-only --format json bad -e "verify 'big'" >out 2>/dev/null
is_true 'as records' "$([ "$(grep -c '"fault":.*"family":"[fg]".*"from_row":"row0' out)" = "$wanted" ] && echo 1)"
# Without a table it goes through all of them, past faults.
all=$("$check" verify bad | grep -c "^fault: .*, table '")
"$shell" --no-took --read-only bad -e "verify" >faults 2>error
is_true 'the exit status for all tables' "$([ $? = 3 ] && echo 1)"
cat faults error >out
is_true 'all faults of all tables' "$([ "$(grep -c '^fault: bad/.*sst: .*, table [^,]*, family ' faults)" = "$all" ] && echo 1)"
is_true 'the tables that have them' "$(grep -q "^$all faults* in the store files of tables big, other: .*kv-check salvage" out && echo 1)"
"$shell" --no-took --read-only db -e "verify" >out 2>&1
is_true 'none where there are none' "$(grep -q '^All store files of [1-9][0-9]* tables* are sound$' out && echo 1)"

# JSON is JSON, and has it all.
damaged
change "bad/$victim" 100
rm "$(ls bad/*.sst | grep -v "$victim" | head -1)"
expect 'as JSON' 1 '"sound": false' "$check" verify --json bad
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON'
import json, sys
found = json.load(open("out"))
assert len(found["faults"]) == 2, found
assert found["counts"]["faults"] == 2 and not found["sound"]
block = [f for f in found["faults"] if "checksum" in f["what"]][0]
assert block["table"] == "big" and block["family"] == "f" and block["offset"] == 0 and block["from_row"] == "row0000", block
PYTHON
    is_true 'the JSON can be read' $((1 - $?))
fi

expect_end
