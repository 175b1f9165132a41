# shellcheck shell=sh
# place.sh -- what the scripts about kv-check share: a database with all that databases have,
# damage, and the proof that nobody wrote. Sourced behind expect.sh, with $check and $shell set.

# puts FROM TO TABLE COLUMN TIME: a put for each number of the range, at TIME and the number.
puts() {
    awk -v from="$1" -v to="$2" -v table="$3" -v column="$4" -v time="$5" 'BEGIN {
        for (i = from; i <= to; i++) printf "put \x27%s\x27, \x27row%04d\x27, \x27%s\x27, \x27value %d\x27, %d\n", table, i, column, i, time + i }'
}

# make_database DIR: two tables, one of two families, a snapshot, several store files.
make_database() {
    {
        echo "create 'big', {NAME => 'f', VERSIONS => 3, BLOCKSIZE => 1024, BLOOMFILTER => 'ROWCOL'}, {NAME => 'g', COMPRESSION => 'NONE'}"
        echo "create 'other', 'f'"
        puts 0 399 big f:a 1000
        puts 0 99 big g:b 2000
        echo "put 'other', 'r1', 'f:q', 'kept', 5"
        echo "put 'other', 'r2', 'f:q', 'gone', 5"
        echo "flush 'big'"
        echo "flush 'other'"
        echo "delete 'other', 'r2', 'f:q', 5"
        echo "snapshot 'big', 'before'"
        puts 400 449 big f:a 1000
        echo "flush 'big'"
    } | "$shell" --no-took "$1" >"$1.made" || { cat "$1.made"; exit 1; }
    rm "$1.made"
}

# change FILE OFFSET: the byte there becomes another one.
change() {
    old=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "\\$(printf %03o $((old ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# state_of DIR: its files with their bytes and times.
state_of() {
    (cd "$1" && find . -printf '%p %s %m %T@ %C@\n' | sort && find . -type f | sort | xargs cksum)
}
