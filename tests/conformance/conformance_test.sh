#!/bin/sh
# conformance_test.sh -- runs the recorded HBase cases of tests/conformance, then tests the program
# that runs them.
#
#     tests/conformance/conformance_test.sh CONFORMANCE
#
# The cases are run as they are, with regions that are split and merged between the operations, and,
# unless SANITIZE says that the build is slow, with every kind of filter: nothing of that may change
# an answer.
set -u
export LC_ALL=C
here=$(dirname "$0")
conformance=${1:?usage: conformance_test.sh CONFORMANCE}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/conformance_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

fail() {
    echo "FAILED: $1"
    [ -s "$scratch/said" ] && tail -n 40 "$scratch/said"
    failed=$((failed + 1))
}

# run STATUS WHAT ARGUMENT..: the program must exit so; what it says is left in $scratch/said.
run() {
    wanted=$1 what=$2
    shift 2
    "$conformance" "$@" >"$scratch/said" 2>&1
    got=$?
    [ $got = "$wanted" ] || fail "$what: exit status $got, not $wanted"
}

# ---- the cases ----

run 0 "the cases" "$here/cases"
echo "counted: conformance: $(tail -n 1 "$scratch/said")"
run 0 "the cases with regions that change" --regions "$here/cases"
grep '^counted: ' "$scratch/said"
grep -q ': [1-9][0-9]* splits and [1-9][0-9]* merges ' "$scratch/said" || fail "regions: nothing was split or merged"
if [ -z "${SANITIZE:-}" ]; then
    for kind in NONE ROW ROWCOL ROW_ROWCOL ROWPREFIX; do
        run 0 "the cases with BLOOMFILTER $kind" --bloom $kind "$here/cases"
    done
fi

# What is right where HBase contradicts itself is right without a list of differences.
: >"$scratch/none"
run 0 "the right answers" --differences "$scratch/none" "$here/cases/right.txt"

# ---- malformed input ----

# malformed LINE MESSAGE TEXT: the mistake is told with its line.
malformed() {
    printf '%b' "$3" >"$scratch/bad.txt"
    run 2 "malformed: $2" "$scratch/bad.txt"
    grep -qF "$scratch/bad.txt:$1: $2" "$scratch/said" || fail "malformed: no message '$1: $2'"
}
head='case x-1 1\nfamily "f" VERSIONS=2\nclock 5\n= ok\n'

malformed 1 "there should be the beginning of a case" 'clock 5\n'
malformed 1 "the seed of the case is missing" 'case x-1\n'
malformed 2 "'SIZE' is no attribute" 'case x-1 1\nfamily "f" SIZE=2\n'
malformed 2 "VERSIONS should be a number" 'case x-1 1\nfamily "f" VERSIONS=0\n'
malformed 2 "RowPrefixBloomFilter.prefix_length goes with" 'case x-1 1\nfamily "f" BLOOMFILTER=ROWPREFIX_FIXED_LENGTH\n'
malformed 3 "the case has this family already" 'case x-1 1\nfamily "f"\nfamily "f"\n'
malformed 3 "the first operation of a case is not clock" 'case x-1 1\nfamily "f"\nflush\n= ok\nend\n'
malformed 2 "the case has no family" 'case x-1 1\nclock 5\n= ok\nend\n'
malformed 4 "the file ends inside a case" "$head"
malformed 5 "the last line does not end with a line feed" "${head}end"
malformed 5 "the clock goes back" "${head}clock 4\n= ok\nend\n"
malformed 5 "'jump' is no operation" "${head}jump\n= ok\nend\n"
malformed 5 "a string has no closing quote" "${head}get \"a\n"
malformed 5 'a \ in a string is not followed by' "${head}get \"\\\\\\\\x0a\"\n"
malformed 5 "byte 4 of the line, 0x09" "${head}get\t\"a\"\n"
malformed 5 "'limit' is no option of a get" "${head}get \"a\" limit=1\n"
malformed 5 "the option limit is given twice" "${head}scan limit=1 limit=2\n"
malformed 5 "the option raw takes no value" "${head}scan raw=1\n"
malformed 5 "there is a space before" "${head}scan start= \"a\"\n"
malformed 5 "limit= is not followed by a number of 64" "${head}scan limit=9223372036854775808\n"
malformed 5 "filterx, byte 5: " "${head}scan filterx=\"and('a')\"\n"
malformed 5 "a time (a number here) should be" "${head}delete \"a\" {version \"f\" \"q\" now}\n"
malformed 5 "{row T} does not stand alone" "${head}delete \"a\" {row 1} {latest \"f\" \"q\"}\n"
malformed 5 "'timerange' is no option of this mutation" "${head}put \"a\" timerange=1,2 {\"f\" \"q\" 1 \"v\"}\n"
malformed 5 "batch and atomic take puts and deletes only" "${head}batch [append \"a\" {\"f\" \"q\" \"v\"}]\n"
malformed 5 "']' is missing" "${head}atomic [put \"a\" {\"f\" \"q\" 1 \"v\"}\n"
malformed 5 "minor merges 1 to 1000 files" "${head}minor 0\n"
malformed 5 "then is missing" "${head}checkandmutate \"a\" absent \"f\" \"q\" timerange=1,2 put \"a\"\n"
malformed 6 "the operation before has no answer" "${head}flush\nflush\n"
malformed 6 "this is no answer to the operation before" "${head}flush\n= true\n"
malformed 7 "a result has fewer cells than it says" "${head}get \"a\"\n= result 1\nend\n"
malformed 7 "'Row' is no type of cell" "${head}get \"a\"\n= result 1\n- \"a\" \"f\" \"q\" 1 Row \"\"\n"
malformed 6 "the answer has 1 members, the batch 2" "${head}batch [delete \"a\"] [delete \"b\"]\n= batch ok\n"
malformed 6 "the case x-1 is in" "${head}end\n${head}end\n"

# ---- usage ----

run 2 "no path"
run 2 "a path that is not there" "$scratch/nothing"
run 2 "an option that is not there" --colour "$here/cases"
run 2 "a case that is not there" --case nobody-1 "$here/cases"
run 2 "a kind of filter that is not there" --bloom BLUE "$here/cases"
printf '1 ties wishes\n  reason\n' >"$scratch/list"
run 2 "a list with an unknown rule" --differences "$scratch/list" "$here/cases/errors.txt"
grep -q 'list: line 1: the rule is none of' "$scratch/said" || fail "an unknown rule is not told with its line"
printf '1 ties equal-timestamps\n' >"$scratch/list"
run 2 "a list without a reason" --differences "$scratch/list" "$here/cases/errors.txt"
run 0 "the list of cases" --list "$here/cases"
grep -q ': ties-.*, [0-9]* operations$' "$scratch/said" || fail "--list names no case of the group ties"

# ---- differences ----

# case_of NAME FAMILY-LINE-OR-STEPS: a case of one family whose steps are given.
case_of() {
    printf "case $1 1\nfamily \"f\"\nclock 5\n= ok\n$2end\n" >"$scratch/case.txt"
}
put='put "a" {"f" "q" 3 "v"}\n= ok\n'
marker='delete "a" {column "f" "q" 3}\n= ok\n'
hidden='get "a"\n= result 0\n'

case_of core-1 "$put$hidden"
run 1 "a wrong answer" "$scratch/case.txt"
grep -q "case.txt:7: case core-1: DIFFERENT" "$scratch/said" || fail "a wrong answer is not told with its place"
case_of ties-1 "$put$hidden"
run 1 "a difference in ties without a tie" "$scratch/case.txt"
case_of ties-1 "$marker$put$hidden"
run 0 "a difference at a tie" "$scratch/case.txt"
case_of core-1 "$marker$put$hidden"
run 1 "a difference at a tie in a group that has no entry" "$scratch/case.txt"
case_of ties-1 "$marker$put"'put "b" {"f" "q" 3 "v"}\n= ok\nget "b"\n= result 0\n'
run 1 "a difference in another row than the tie" "$scratch/case.txt"
raw='scan raw\n= results 1\n= result 1\n- "a" "f" "q" 9 Put "v"\n'
behind='put "a" {"f" "q" 9 "v"}\n= ok\n'
case_of core-1 "$put${marker}${behind}flush\n= ok\n$raw"
run 0 "a marker that HBase has stepped over" "$scratch/case.txt"
case_of core-1 "$put$marker$behind$raw"
run 1 "a marker that nothing has flushed" "$scratch/case.txt"
case_of core-1 "$put${marker}flush\n= ok\nscan raw\n= results 0\n"
run 1 "a marker that no put stands before" "$scratch/case.txt"
case_of core-1 "${behind}${put}flush\n= ok\nscan raw versions=2\n= results 0\n"
run 1 "a put that a raw scan lacks" "$scratch/case.txt"
shown='get "a"\n= result 1\n- "a" "f" "q" 3 Put "v"\n'
case_of core-1 "$put$marker$shown"
run 0 "a deleted put that HBase shows" "$scratch/case.txt"
case_of core-1 "delete \"a\" {column \"f\" \"q\" 4}\n= ok\n$put$shown"
run 1 "a put that was written after what hides it" "$scratch/case.txt"
printf 'case core-1 1\nfamily "f" NEW_VERSION_BEHAVIOR=true\nclock 5\n= ok\n%bend\n' "$put$hidden" >"$scratch/case.txt"
run 0 "a live put that HBase lacks, in the order of writes" "$scratch/case.txt"
printf 'case core-1 1\nfamily "f" NEW_VERSION_BEHAVIOR=true\nclock 5\n= ok\n%bend\n' "$put$behind"'get "a"\n= result 0\n' >"$scratch/case.txt"
run 0 "the newest of two, in the order of writes" "$scratch/case.txt"
printf 'case core-1 1\nfamily "f" NEW_VERSION_BEHAVIOR=true\nclock 5\n= ok\n%bend\n' "$put"'get "a"\n= result 2\n- "a" "f" "q" 4 Put "w"\n- "a" "f" "q" 3 Put "v"\n' >"$scratch/case.txt"
run 1 "a put that nobody wrote, in the order of writes" "$scratch/case.txt"
dies='put "a" ttl=2 {"f" "q" 4 "v"}\n= ok\n'
outlived() {
    printf 'case core-1 1\nfamily "f" MIN_VERSIONS=1\nclock 5\n= ok\n%b%bclock 9\n= ok\n%bend\n' "$put" "$1" "$hidden" >"$scratch/case.txt"
}
outlived "${dies}flush\n= ok\n"
run 0 "a version that HBase dropped for one with its own TTL" "$scratch/case.txt"
outlived "$dies"
run 1 "one that nothing has flushed" "$scratch/case.txt"
outlived "flush\n= ok\n"
run 1 "one that stands behind none with its own TTL" "$scratch/case.txt"
case_of core-1 'batch [put "a" {"f" "q" 3 "v"}] [put "a" {"x" "q" 3 "v"}]\n= batch NoSuchColumnFamily ok\n'
run 0 "a batch of which HBase refused a member" "$scratch/case.txt"
case_of core-1 'checkandmutate "a" value "f" "q" = "v" then put "a" {"x" "q" 3 "v"}\n= false\n'
run 0 "a family that a check never looks for" "$scratch/case.txt"
case_of core-1 'put "a" {"x" "q" 3 "v"}\n= error NoSuchColumnFamily\nget ""\n= error Other\n'
run 0 "both refuse" "$scratch/case.txt"

[ $failed = 0 ]
