#!/bin/sh
# wrap_test.sh KV-SHELL -- at a terminal of 80 columns Petal's own tables and messages have the
# words that they have in a pipe: none is cut in two.
set -u
shell=$(realpath "${1:?usage: wrap_test.sh KV-SHELL}")
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1
command -v script >/dev/null || {
    echo "SKIPPED: no script(1), so there is no terminal to print at"
    exit 0
}

"$shell" --no-took db >/dev/null <<'END' || exit 1
create 'users', {NAME => 'cf', BLOOMFILTER => 'ROW'}
3.times { |f| (1..400).each { |i| put 'users', "row#{i * 3 + f}", 'cf:name', 'x' * 100 }; flush 'users' }
END

echo 'name,age,town,street,number of the house,telephone,what is said of it' >columns.csv

# printed COMMAND: what it prints in a pipe, into $scratch/pipe, and at a terminal, into
# $scratch/terminal.
printed() {
    echo "$1" >command
    "$shell" --no-took db -f command >pipe 2>&1 </dev/null
    script -qec "stty cols 80; '$shell' --no-took db -f command" /dev/null </dev/null | tr -d '\r' >terminal
    is_true "lines of $1" "$(awk 'length > 80 { wide = 1; print } END { exit wide }' terminal >"$scratch/out" && echo 1)"
}

# words FILE: each once, without their digits, which depend on the time and on chance, and without
# those that stand before the commands that advise has in lines of their own.
words() { sed 's/[0-9.,;]//g' "$1" | tr -s ' \n' '\n\n' | grep -vx 'this\|would\|help:' | sort -u; }

for command in "advise 'users', SAMPLE => 50" 'stats' "stats 'users'" "explain get 'users', 'row7', 'cf:name'" \
    "import 'users', 'columns.csv'" \
    "get 'users', 'r', VERSIONS => 3"; do
    printed "$command"
    words pipe >"$scratch/out"
    words terminal >seen
    same "words of $command" seen <"$scratch/out"
done

# What is to be typed again stands whole in lines of its own, and a caret under what it means.
printed "advise 'users', SAMPLE => 50"
is_true 'the command can be copied' "$(grep -cx "alter 'users', {NAME => 'cf'.*}" terminal)"
script -qec "stty cols 40; '$shell' db -e \"scan 'users', FILTER => 'PrefixFilter(r) AND PageFilter(1) AND PageFilter(2)'\"" /dev/null \
    </dev/null | tr -d '\r' >terminal
is_true 'a caret' "$(grep -cx '               ^ this must be a string in quotes.*' terminal)"
is_true 'a long line above it' "$(grep -cx '  PrefixFilter(r) AND PageFilter(1) AND PageFilter(2)' terminal)"
expect_end
