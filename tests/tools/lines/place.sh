# shellcheck shell=sh
# place.sh -- what the scripts about kv-filter share: the program, which is next to the kv-shell that
# they are given, a folder of their own, random lines, and comparison with what other programs print.
filter=$(dirname "$(realpath "${1:?usage: ${0##*/} KV-SHELL}")")/kv-filter
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch/temporary
mkdir "$TMPDIR"
export TMPDIR
seed=${PETAL_SEED:-$(date +%s)}

# lines COUNT DIFFERENT SALT: so many lines, of so many different ones, some of them odd.
lines() {
    awk -v count="$1" -v different="$2" -v seed="$((seed + $3))" 'BEGIN {
        srand(seed)
        for (i = 0; i < count; i++) {
            n = int(rand() * different)
            if (n % 100 == 7) printf "%s\n", substr("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, n % 31)
            else if (n % 100 == 8) printf "%d\001\377\t \n", n
            else printf "http://host%d.example.org/%d/page-%x.html\n", n % 100, n % 77, n * 2654435761 % 4294967296
        }
    }'
}

# same NAME EXPECTED COMMAND..: it prints just what the file holds.
same() {
    name=$1 wanted=$2
    shift 2
    "$@" >printed 2>out
    status=$?
    cmp printed "$wanted" >>out 2>&1
    is_true "$name (exit status $status)" $((1 - $? - status))
}
