#!/bin/sh
# backup_test.sh -- kv-shell DIR backup and restore: what is skipped, linked and copied, that copies
# are sound, and what is refused. tests/engine/db/backup_test.c has crashes, failures and full disks.
#
#     tests/tools/shell/backup_test.sh KV-SHELL
#
# kv-check stands beside it.
set -u
shell=$(realpath "${1:?usage: backup_test.sh KV-SHELL}")
check=$(dirname "$shell")/kv-check
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

# The rows of a table, as a number.
rows() {
    "$shell" --no-took --read-only "$1" -e "count '$2'" | sed -n 's/ row(s)//p'
}

"$shell" --create db -e "create 't', 'f'
    2000.times { |i| put 't', \"row-#{i}\", 'f:q', 'value ' * 20 }
    flush 't'; snapshot 't', 's'" >out || { cat out; exit 1; }

# ---- one directory that is brought up to date ----
# A table of 2000 rows: its file and the snapshot's.
expect 'the first' 0 ' 0 skipped, [1-9][0-9]* linked, 0 copied, 0 written from the log; 0 bytes copied' "$shell" db backup b
expect 'it is sound' 0 '^sound$' "$check" verify b
is_true 'it has the rows' "$([ "$(rows b t)" = 2000 ] && echo 1)"
expect 'its snapshot' 0 '^=> \["s"\]$' "$shell" --no-took --read-only b -e list_snapshots
expect 'unchanged' 0 '[1-9][0-9]* skipped, 0 linked, 0 copied, 0 written from the log; 0 bytes copied, 0 old files removed' "$shell" db backup b
"$shell" db -e "put 't', 'one more', 'f:q', 'v'; create 'u', 'g'; put 'u', 'r', 'g:q', 'v'" >out
expect 'two new files' 0 '[1-9][0-9]* skipped, 2 linked, 0 copied' "$shell" db backup b
is_true 'their rows' "$([ "$(rows b t),$(rows b u)" = 2001,1 ] && echo 1)"
"$shell" db -e "major_compact 't'" >out
expect 'merged files go' 0 '[1-9][0-9]* old files removed' "$shell" db backup b
expect 'it is still sound' 0 '^sound$' "$check" verify b
expect 'as a record' 0 '^{"files":[0-9]*,"skipped":[0-9]*,.*"state_at":"20[0-9T:.-]*Z","seconds":' "$shell" --format json db backup b

# ---- directories that share ----
expect 'copies' 0 ' 0 skipped, [0-9]* linked, [1-9][0-9]* copied' "$shell" db backup --copy day1
is_true 'share nothing with the database' "$(for file in db/*.sst; do find day1 -samefile "$file"; done | grep -q . || echo 1)"
"$shell" db -e "put 't', 'day 2', 'f:q', 'v'; flush 't'" >out
expect 'the next' 0 ' 0 skipped, [1-9][0-9]* linked, 1 copied' "$shell" db backup --copy day2 --previous day1
expect 'none before' 0 'there is no day0: nothing is shared with it' "$shell" db backup day3 --previous day0
rm -r day1
expect 'what is left is sound' 0 '^sound$' "$check" verify day2
is_true 'and has the rows' "$([ "$(rows day2 t)" = 2002 ] && echo 1)"

# ---- read while the next run brings it up to date ----
mkfifo to_reader
"$shell" --no-took --read-only b <to_reader >from_reader 2>from_reader.err &
reader=$!
exec 3>to_reader
# Send a command, until the reader has answered so many.
ask_reader() {
    echo "$1; puts 'answered'" >&3
    for _ in $(seq 200); do
        [ "$(grep -c answered from_reader)" != "$2" ] || return 0
        sleep 0.1
    done
    echo "the reader does not answer to: $1"
}
before=$(rows b u)
ask_reader "count 'u'" 1
"$shell" db -e "put 'u', 'since', 'g:q', 'v'; flush 'u'" >out
expect 'the next backup' 0 '^backup: ' "$shell" db backup b
ask_reader "count 'u'" 2
ask_reader "count 'u'" 3
exec 3>&-
wait "$reader"
is_true 'a reader ends well' "$([ $? = 0 ] && echo 1)"
is_true 'it shows what was there' "$([ "$(sed -n 's/ row(s)//p' from_reader | tr '\n' ' ')" = "$before $before $before " ] && echo 1)"
is_true 'and says so once' "$([ "$(cat from_reader.err)" = 'kv-shell: another database, or the next backup, is in b by now: commands show what was there; open it anew to see the other' ] && echo 1)"
expect 'an opening shows the next' 0 "^$((before + 1)) row" "$shell" --no-took --read-only b -e "count 'u'"

# ---- from the process that writes, and of one that was killed ----
expect 'a command' 0 '^backup: ' "$shell" db -e "put 't', 'by command', 'f:q', 'v'; backup 'c', {COPY => true, PREVIOUS => 'b'}; put 't', 'later', 'f:q', 'v'"
is_true 'of that moment' "$([ "$(rows c t)" = 2003 ] && echo 1)"
expect 'a wrong option' 2 'COPY' "$shell" db -e "backup 'c', {COPY => 'perhaps'}"
expect 'no directory' 2 'must be text that is not empty' "$shell" db -e "backup ''"
cat >writer <<'END'
n = 0
loop { put 't', "killed-#{n += 1}", 'f:q', 'v' ; puts n if n == 500 }
END
touch written
"$shell" db -f writer >written 2>&1 &
writer=$!
for _ in $(seq 100); do
    grep -q 500 written && break
    sleep 0.1
done

# Next to it: whole, and a prefix of what it writes.
for _ in 1 2 3 4; do
    expect 'next to a writer' 0 '^backup: ' "$shell" db backup beside
    expect 'sound' 0 '^sound$' "$check" verify beside
    rows=$(rows beside t)
    is_true 'a prefix' "$("$shell" --no-took --read-only beside -e "get 't', 'killed-$((rows - 2004))'" | grep -q 'value=v' && echo 1)"
done
is_true 'it has gone on' "$(kill -9 $writer && echo 1)"
wait $writer 2>/dev/null
before=$(cd db && cksum [!R]*) # all but READERS, in which readers have their places
expect 'what its log has' 0 '[1-9][0-9]* written from the log' "$shell" db backup b
is_true 'nothing was written into it' "$([ "$before" = "$(cd db && cksum [!R]*)" ] && echo 1)"
is_true 'at least what it had told' "$([ "$(rows b t)" -ge 2504 ] && echo 1)"
is_true 'all that there is' "$([ "$(rows b t)" = "$(rows db t)" ] && echo 1)"

# ---- killed itself ----
for delay in 0.001 0.003 0.006 0.01; do
    "$shell" db backup --copy killed >out 2>&1 &
    backup=$!
    sleep $delay
    kill -9 $backup 2>/dev/null
    wait $backup 2>/dev/null
done
expect 'the next completes it' 0 '^backup: ' "$shell" db backup --copy killed
expect 'and it is sound' 0 '^sound$' "$check" verify killed

# ---- what is not replaced ----
mkdir full && echo mine >full/notes
expect 'a directory with something else' 2 'full is not empty' "$shell" db backup full
expect 'the database itself' 2 'lies in db' "$shell" db backup db
expect 'in it' 2 'db/in lies in db' "$shell" db backup db/in
"$shell" --create other -e "create 'x', 'f'" >out
expect 'of another database' 2 'b is a backup of another database' "$shell" other backup b
"$shell" c -e "put 't', 'own', 'f:q', 'v'" >out
expect 'one that was written to' 2 'c was opened to write' "$shell" db backup c
expect 'no database' 1 'there is no database in none' "$shell" none backup b
expect 'no directory named' 2 'Say into which one directory' "$shell" db backup
expect 'two' 2 "not 'e' as well" "$shell" db backup d e

# ---- restoring ----
expect 'a new one' 0 '^restore: .* 0 skipped' "$shell" new restore b
is_true 'of all rows' "$([ "$(rows new t)" = "$(rows b t)" ] && echo 1)"
expect 'it can be written' 0 '' "$shell" new -e "put 't', 'restored', 'f:q', 'v'; delete_snapshot 's'"
expect 'it is there' 2 'not empty; --replace replaces a database' "$shell" new restore b
mkfifo typed
"$shell" --read-only new <typed >heard 2>&1 &
reader=$!
exec 3>typed
echo 'puts 1 + 1' >&3
for _ in $(seq 100); do
    grep -q 2 heard && break
    sleep 0.1
done
expect 'somebody reads it' 3 'new/READERS is locked: somebody reads the database' "$shell" new restore b --replace
exec 3>&-
wait $reader
expect 'by a word' 0 '^restore: ' "$shell" new restore b --replace
is_true 'without what came later' "$([ "$(rows new t)" = "$(rows b t)" ] && echo 1)"
expect 'a backup is none' 2 'b is a backup, which is not replaced' "$shell" b restore day2 --replace
expect 'nor is anything else' 2 'what is there is no database' "$shell" full restore b --replace
expect 'no backup' 1 'there is no database in none' "$shell" new2 restore none
expect '-e has no place' 2 'restore' "$shell" -e list new2 restore b
is_true 'nothing was made' "$([ ! -e new2 ] && echo 1)"

# A bit of the backup is turned: it is told, and what was there stays.
file=$(ls -S day2/*.sst | head -1)
cp "$file" damaged && printf 'X' | dd of=damaged bs=1 seek=100 conv=notrunc 2>/dev/null && mv damaged "$file"
expect 'damaged' 3 "$(basename "$file")" "$shell" new restore day2 --replace
is_true 'what was there stays' "$([ "$(rows new t)" = "$(rows b t)" ] && echo 1)"
rm "$file"
expect 'the file comes back' 0 ' [1-9][0-9]* copied' "$shell" db backup --copy day2
expect 'and is sound' 0 '^sound$' "$check" verify day2
expect_end
