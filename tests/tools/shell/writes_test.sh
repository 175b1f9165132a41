#!/bin/sh
# writes_test.sh KV-SHELL -- writes of one column never share a timestamp, however fast they come,
# and the later one hides the earlier; those of different rows have the clock's.
set -u
export LC_ALL=C
shell=${1:?usage: writes_test.sh KV-SHELL}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/writes_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# `stamps` of $2 cells that the commands $3 leave in a new table t are to be $1 what they are.
check() {
    rm -rf "$scratch/db"
    printed=$("$shell" --no-took --create "$scratch/db" -e "create 't', {NAME => 'f', VERSIONS => 10000}; $3; scan 't', RAW => true, VERSIONS => 10000" 2>&1 |
        sed -nE 's/.*column=([^,]*), (timestamp=[^,]*),.*/\1 \2/p')
    cells=$(printf '%s\n' "$printed" | wc -l)
    stamps=$(printf '%s\n' "$printed" | sort -u | wc -l)
    if [ "$cells" -ne "$2" ] || [ ! "$stamps" "$1" "$2" ]; then
        echo "$3: $cells cells with $stamps timestamps, expected $2 with $1 so many"
        failed=1
    fi
}

check -eq 200 "200.times { |i| put 't', 'r', 'f:a', i }"
check -eq 200 "100.times { |i| put 't', 'r', 'f:a', i; deleteall 't', 'r', 'f:a' }"
check -eq 200 "100.times { |i| put 't', 'r', 'f:a', i; deleteall 't', 'r', 'f:a' }"
check -eq 300 "100.times { |i| incr 't', 'r', 'f:n'; append 't', 'r', 'f:a', 'x'; put 't', 'r', 'f:b', 'v' }"
check -le 200 "100.times { |i| put 't', 'r', 'f:a', i; deleteall 't', {ROWPREFIXFILTER => 'r'}, 'f:a' }"
check -lt 2000 "2000.times { |i| put 't', \"r#{i}\", 'f:a', i }"
[ $failed = 0 ] && echo "each write of a row has a timestamp of its own"
exit $failed
