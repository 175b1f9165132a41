#!/bin/sh
# took_test.sh KV-SHELL -- how many lines with durations there are: one for a command, one for a
# loop of them, none for a loop without.
set -u
shell=${1:?usage: took_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

"$shell" db -e "create 't', 'f'" >out

# took LINES WHAT COMMANDS [OPTION]: so many durations.
took() {
    # shellcheck disable=SC2086
    "$shell" ${4:-} db -e "$3" >out 2>err
    lines=$(grep -c '^Took [0-9.]* seconds$' out)
    [ "$lines" = "$1" ] || cat out
    is_true "$2: $lines durations, not $1" "$([ "$lines" = "$1" ] && echo 1)"
}

took 2 'two commands' "put 't', 'r', 'f:a', 'v'; put 't', 'r', 'f:a', 'v'"
took 1 'a thousand' "1000.times { |i| put 't', \"r#{i}\", 'f:a', 'v' }"
took 1 'a loop in a loop' "for i in 'a'..'c' do (1..3).each { |j| put 't', \"#{i}#{j}\", 'f:a', 'v' } end"
took 1 'while' "i = 0
while i < 5
  put 't', \"w#{i}\", 'f:a', 'v'
  i += 1
end"
took 1 'loop' "i = 0
loop { i += 1; put 't', 'l', 'f:a', 'v'; break if i > 3 }"
took 2 'a command, then its list' "list('t').each { |t| count t }"
took 2 'two loops' "2.times { |i| incr 't', 'n', 'f:n' }; 2.times { |i| incr 't', 'n', 'f:n' }"
took 0 'no command' "3.times { |i| puts i }"
took 2 'a command behind a loop' "3.times { |i| incr 't', 'n', 'f:n' }; list"
took 1 'a loop that fails' "3.times { |i| put 't', 'r', 'x:a', 'v' }"
took 1 'a script' "3.times { |i| put 't', 'r', 'f:a', 'v' }" -n
took 0 'none wanted' "3.times { |i| put 't', 'r', 'f:a', 'v' }" --no-took
# Answers of the commands in a loop stay.
"$shell" db -e "2.times { |i| get 't', 'n', 'f:n' }; 2.times { |i| scan 'u' }" >out 2>err
is_true 'two answers' "$([ "$(grep -c 'COLUMN  CELL' out)" = 2 ] && echo 1)"
is_true 'two errors' "$([ "$(grep -c '^ERROR: Unknown table u!' err)" = 2 ] && echo 1)"
expect_end
