#!/bin/sh
# integers_test.sh -- kv-filter integers: in order, twice, missing, as sort and awk find them, in
# memories that hold all of the numbers, a bitmap of them, or neither.
#
#     tests/tools/lines/integers_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"

# answers NAME FILE [OPTION..]: all three are what sort and awk say.
answers() {
    title=$1 file=$2
    shift 2
    sort -n -u "$file" >sorted
    same "$title: sort" sorted "$filter" integers sort "$@" "$file"
    sort -n "$file" | uniq -d >doubled
    same "$title: doubles" doubled "$filter" integers doubles "$@" "$file"
    # awk's numbers have 53 bits.
    awk 'NR > 1 && $1 > last + 1 { printf "%.0f %.0f\n", last + 1, $1 - 1 } { last = $1 }' sorted >gaps
    same "$title: missing" gaps "$filter" integers missing --ranges "$@" "$file"
}

# ---- small sets, by eye ----

printf '5\n3\n-2\n3\n\t9 \n+1\r\n' >few
printf '%s\n' -2 1 3 5 9 >wanted
same 'sort' wanted "$filter" integers sort few
echo 3 >wanted
same 'doubles' wanted "$filter" integers doubles few
printf '%s\n' -1 0 2 4 6 7 8 >wanted
same 'missing' wanted "$filter" integers missing few
printf '%s\n' '-1 0' '2 2' '4 4' '6 8' >wanted
same 'missing, as ranges' wanted "$filter" integers missing --ranges few
printf '%s\n' '-2 -2' '1 1' '3 3' '5 5' '9 9' >wanted
same 'sort, as ranges' wanted "$filter" integers sort --ranges few
printf '%s\n' '-4 -3' '-1 0' '2 2' '4 4' '6 8' '10 12' >wanted
same 'missing between bounds' wanted "$filter" integers missing --ranges --from -4 --to 12 few
printf '%s\n' 2 4 >wanted
same 'missing between narrow bounds' wanted "$filter" integers missing --from 2 --to 5 few
printf '%s\n' 3 5 >wanted
same 'sort between bounds' wanted "$filter" integers sort --from 2 --to 5 few
: >wanted
same 'doubles between bounds' wanted "$filter" integers doubles --from 4 few
same 'nothing' wanted "$filter" integers sort /dev/null
same 'nothing is missing of nothing' wanted "$filter" integers missing /dev/null
echo '3 7' >wanted
same 'all is missing between bounds' wanted "$filter" integers missing --ranges --from 3 --to 7 /dev/null
printf '%s\n' -9223372036854775808 9223372036854775807 >ends
same 'the ends of the range' ends "$filter" integers sort ends
echo '-9223372036854775807 9223372036854775806' >wanted
same 'and all between' wanted "$filter" integers missing --ranges ends
: >wanted
same 'nothing behind the last of all' wanted "$filter" integers missing --ranges --from 9223372036854775807 --to 9223372036854775807 ends
printf '%s\n' 0 18446744073709551615 >ends
same 'without signs' ends "$filter" integers sort --unsigned ends
echo '1 18446744073709551614' >wanted
same 'and all between them' wanted "$filter" integers missing --ranges --unsigned ends
printf '7\0-1\0007\0' >zeros
printf '%s\0' -1 7 >wanted
same 'ended by zero bytes' wanted "$filter" integers sort -z zeros
printf '4\n2' | "$filter" integers sort - few >printed
printf '%s\n' -2 1 2 3 4 5 9 | cmp - printed >out 2>&1
is_true 'several inputs' $((1 - $?))

# ---- sets of all forms, in memory, in a bitmap, on disk ----

random() { # COUNT RANGE FROM SEED
    awk -v n="$1" -v range="$2" -v from="$3" -v seed="$4" 'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%.0f\n", from + int(rand() * range) }'
}
random 20000 100000 -50000 1 >dense
random 120000 3000000 -1000000 2 >bitmap
random 150000 9000000000000 -4000000000000 3 >wide
# Clusters far apart, numbers that come again and again, ends of the range.
{
    random 50000 60000 -9000000000000 4
    random 50000 60000 1000 5
    random 50000 60000 9000000000000 6
    random 30000 3 77 7
    random 30000 90000000 -45000000 8
    seq 1000 60000
} | awk '{ line[NR] = $0 } END { srand(9); for (i = NR; i > 1; i--) { j = 1 + int(rand() * i); t = line[i]; line[i] = line[j]; line[j] = t } for (i = 1; i <= NR; i++) print line[i] }' >clusters
for file in dense bitmap wide clusters; do
    for memory in 1M 64M; do
        answers "$file in $memory" $file --memory $memory
    done
done
sort -n clusters >ascending
sort -nr clusters >descending
answers 'ascending' ascending --memory 1M
answers 'descending' descending --memory 1M
# A few numbers, over and over: they stay in memory, though together they would not fit.
random 300000 500 0 10 | awk '{ printf "%.0f\n", $1 * 1000000007 }' >again
answers 'few numbers, often' again --memory 1M --temporary /nowhere

# The memory is what was given, and some for the program; the numbers take twice that.
if [ -z "${SANITIZE:-}" ]; then
    seq 1 4000000 | awk '{ printf "%.0f\n", ($1 * 2654435761) % 1000000000000 }' >many
    (
        ulimit -v 16000
        exec "$filter" integers sort --memory 1M many
    ) >printed 2>out
    is_true 'in little memory' $((1 - $?))
    sort -n -c printed >>out 2>&1 && [ "$(wc -l <printed)" = 4000000 ]
    is_true 'all of them, in order' $((1 - $?))
fi

# Bytes: the same numbers, as od reads them.
random 100000 4000000000 -2000000000 11 >numbers
if command -v python3 >/dev/null; then
    python3 -c 'import struct; v = [int(l) for l in open("numbers")]; open("32", "wb").write(struct.pack("<%di" % len(v), *v)); open("64", "wb").write(struct.pack("<%dq" % len(v), *v))'
    sort -n -u numbers >sorted
    for bits in 32 64; do
        expect "$bits bits" 0 '^$' sh -c "'$filter' integers sort --memory 1M --binary $bits $bits >printed && echo"
        od -An -v -w$((bits / 8)) -td$((bits / 8)) --endian=little printed | tr -d ' ' | cmp - sorted >out 2>&1
        is_true "$bits bits are in order" $((1 - $?))
    done
fi
printf '\001\000\000\000\377\377\377\377' >few32
"$filter" integers sort --binary 32 --unsigned few32 | cmp - few32 >out 2>&1
is_true '32 bits without signs' $((1 - $?))
"$filter" integers sort --binary 32 few32 | od -An -td4 --endian=little | tr -s ' ' >out
is_true '32 bits with signs' "$(grep -q '^ -1 1$' out && echo 1)"

# ---- what is no number, and other mistakes ----

printf '1\n2\n\n' >empty-line
expect 'an empty line' 2 'empty-line:3: "" is no whole number from -9223372036854775808 to 9223372036854775807' "$filter" integers sort empty-line
for word in x 1.5 1e3 0x10 '1 2' - + '--5' 9223372036854775808 -9223372036854775809 99999999999999999999 ''; do
    printf '1\n%s\n2\n' "$word" >bad
    expect "\"$word\"" 2 "bad:2: \".*\" is no whole number" "$filter" integers sort bad
done
seq 1 5000 >bad && echo five >>bad
expect 'the line of a long file' 2 'bad:5001: "five" is no whole number' "$filter" integers sort few bad
printf 'a\033[31mb' >bad
expect 'no control characters are printed' 2 '"a?\[31mb"' "$filter" integers sort bad
expect 'no signs' 2 'few:3: "-2" is no whole number from 0 to 18446744073709551615' "$filter" integers sort --unsigned few
expect 'too large without signs' 2 '"18446744073709551616" is no whole number' sh -c "echo 18446744073709551616 | '$filter' integers sort --unsigned"
printf '\001\000\000\000\002\000' >odd
expect 'bytes that are no number' 2 'odd: at 4, 2 bytes are too few for a number of 4' "$filter" integers sort --binary 32 odd
expect 'no such file' 2 'no-such' "$filter" integers sort no-such
expect 'no such file of bytes' 2 'no-such' "$filter" integers sort --binary 64 no-such
expect 'no such question' 2 'there is no work "sorted": say sort, doubles or missing' "$filter" integers sorted few
expect 'no question' 2 'an argument is missing: sort|doubles|missing;' "$filter" integers
expect 'a width that is none' 2 '--binary takes 32 or 64' "$filter" integers sort --binary 16 few
expect 'a bound that is none' 2 '--from 1x: it must be a whole number' "$filter" integers sort --from 1x few
expect 'a bound that no input can have' 2 '--to 4000000000: it must be a whole number that the input can have' "$filter" integers sort --binary 32 --to 4000000000 few32
expect 'bounds that leave nothing' 2 '--from 5 lies above --to 4' "$filter" integers sort --from 5 --to 4 few
expect 'ranges of bytes' 2 '--ranges writes lines' "$filter" integers sort --ranges --binary 32 few32
expect 'no temporary directory' 2 'cannot make a temporary file in /nowhere' "$filter" integers sort --memory 1M --temporary /nowhere wide
expect 'a full disk' 2 'cannot write to the standard output' sh -c "'$filter' integers sort wide >/dev/full"

expect_end
