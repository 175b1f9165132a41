# shellcheck shell=sh
# place.sh -- what the scripts about kv-hfile share: tables with all that tables have, and the proof
# that two are the same. Sourced behind expect.sh, with $shell set.

# make_table DATABASE TABLE: two families, versions, markers of all kinds that the shell makes, a
# time to live, binary and empty parts.
make_table() {
    {
        echo "create '$2', {NAME => 'a', VERSIONS => 5, BLOCKSIZE => 4096}, {NAME => 'b', BLOOMFILTER => 'ROWCOL', COMPRESSION => 'NONE'}"
        awk -v table="$2" 'BEGIN {
            for (row = 0; row < 300; row++) {
                for (version = 1; version <= 3; version++)
                    printf "put \x27%s\x27, \x27row%04d\x27, \x27a:q%d\x27, \x27value %d of %d\x27, %d\n", table, row, row % 7, version, row, 1000 * version + row
                if (row % 3 == 0) printf "put \x27%s\x27, \x27row%04d\x27, \x27b:\x27, \x27\x27, %d\n", table, row, row
            }
            for (row = 5; row < 300; row += 50) {
                printf "deleteall \x27%s\x27, \x27row%04d\x27\n", table, row
                printf "deleteall \x27%s\x27, \x27row%04d\x27, \x27a:q%d\x27, %d\n", table, row + 1, (row + 1) % 7, 2500
                printf "delete \x27%s\x27, \x27row%04d\x27, \x27a:q%d\x27, %d\n", table, row + 2, (row + 2) % 7, 2000 + row + 2
            }
        }'
        echo "put '$2', \"\\x00\\xFF binary\", \"a:\\x00\\x01\", \"\\x00\\xFF\\x80\", 5"
        echo "put '$2', 'lives', 'a:long', 'value', {TTL => 86400000000}"
    } | "$shell" --no-compaction --no-took "$1" >made 2>&1 || { cat made; exit 1; }
}

# raw DATABASE TABLE: every cell that is stored.
raw() {
    echo "scan '$2', {RAW => true, VERSIONS => 1000000}" | "$shell" --no-compaction --no-took --read-only "$1" 2>&1
}

# same NAME DATABASE TABLE DATABASE TABLE: they hold the same.
same() {
    raw "$2" "$3" >first.raw
    raw "$4" "$5" >second.raw
    diff first.raw second.raw >out 2>&1
    is_true "$1" $((1 - $?))
    [ "$(wc -l <first.raw)" -gt 3 ]
    is_true "$1: and that is something" $((1 - $?))
}

# flip FILE OFFSET: a bit of the byte there.
flip() {
    old=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "\\$(printf %03o $((old ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# tables DATABASE: their names, and what is in its directory.
tables() {
    "$shell" --no-compaction --no-took --read-only "$1" -e list
}

# with_little_room KIBIBYTES COMMAND..: no file becomes larger.
with_little_room() {
    # shellcheck disable=SC2016
    sh -c 'trap "" XFSZ; ulimit -f $(($1 * 2)); shift; exec "$@"' sh "$@"
}

# interrupt_process PROCESS [SECONDS]: send it Ctrl-C, so long after it has begun to heed it.
interrupt_process() {
    # SIGINT is bit 2 of the mask. Before it is the program the process is a copy of this shell,
    # which heeds it, too.
    until [ ! -d "/proc/$1" ] || { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = kv-hfile ] &&
        grep -q '^SigCgt:.*[2367abefABEF]$' "/proc/$1/status" 2>/dev/null; }; do
        sleep 0.01
    done
    [ "${2:-0}" = 0 ] || sleep "$2"
    kill -INT "$1" 2>/dev/null
}

# interrupt SECONDS COMMAND..: run it, and send it Ctrl-C; the exit status is its.
interrupt() {
    pause=$1
    shift
    "$@" >"$scratch/out" 2>&1 </dev/null &
    process=$!
    interrupt_process $process "$pause"
    wait $process
}
