#!/bin/sh
# plan_test.sh -- kv-filter plan: what it says is what the formulas say, and what a store's files
# have.
#
#     tests/tools/lines/plan_test.sh KV-SHELL
#
# kv-filter stands beside it.
set -u
shell=$(realpath "${1:?usage: plan_test.sh KV-SHELL}")
filter=$(dirname "$shell")/kv-filter
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

# within PERCENT WANTED FOUND
within() {
    awk -v part="$1" -v wanted="$2" -v found="$3" 'BEGIN { exit !(found > 0 && found >= wanted * (1 - part / 100) && found <= wanted * (1 + part / 100)) }'
}

# BLOCKED takes a little more than one array of bits, whose k probes want m = -k n / ln(1 - p^(1/k))
# bits, of the k for which that is least.
for case in '1000 0.1' '1e6 1%' '1G 0.001' '1_000_000_000 0.01%' '10K 0.5'; do
    # shellcheck disable=SC2086
    set -- $case
    "$filter" plan "$1" "$2" >out 2>&1
    keys=$(echo "$1" | sed 's/_//g; s/K/000/; s/G/000000000/')
    awk -v n="$keys" -v p="$2" '$1 == "BLOCKED" {
        if (p ~ /%/) p = p / 100
        for (k = 1; k <= 30; k++) { m = -k * n / log(1 - exp(log(p) / k)); if (k == 1 || m < best) best = m }
        found = $2 >= best && $2 < best * 1.17 }
        END { exit !found }' out
    is_true "bits of $case" $((1 - $?))
done

# The kinds, in the order of the header; each has a line.
"$filter" plan 1e6 1% >out
[ "$(sed -n '2,5s/ .*//p' out | tr '\n' ' ')" = 'BLOCKED COUNTING GROWING RIBBON ' ]
is_true 'four kinds' $((1 - $?))
"$filter" plan --json 1e6 1% >out
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON' >>out 2>&1
import json
plan = json.load(open("out"))
assert [k["kind"] for k in plan["kinds"]] == ["BLOCKED", "COUNTING", "GROWING", "RIBBON"]
for kind in plan["kinds"]:
    assert "error" in kind or (0 < kind["rate"] < 0.0102 and kind["bytes"] >= kind["bits"] / 8 and kind["bits_per_key"] > 6.6), kind
assert {f["kind"] for f in plan["families"]} == {"ROW", "ROWCOL"}
PYTHON
    is_true 'the same as JSON' $((1 - $?))
fi

# GROWING takes what is planned when the number of keys is known; what it takes else lies in the
# range below.
"$filter" plan 100000 1% >out
planned=$(awk '$1 == "GROWING" && $2 > 0 {print $4}' out)
range=$(sed -n 's/^GROWING with the number of keys known .* without, \([0-9]*\) to \([0-9]*\) bits a key.*/\1 \2/p' out)
for keys in 40000 90000 100000 200000; do
    seq 1 $keys | "$filter" build --kind GROWING f.grown
    bits=$("$filter" info f.grown | sed -n 's/^ *bits: //p')
    awk -v bits="$bits" -v keys=$keys -v range="$range" 'BEGIN { split(range, r, " "); exit !(r[1] > 9 && bits / keys > r[1] - 1.5 && bits / keys < r[2] + 1.5) }'
    is_true "GROWING of $keys keys nobody counted: $bits bits, in the range $range" $((1 - $?))
done
seq 1 100000 | "$filter" build --kind GROWING --keys 100000 f.known
within 1 "$planned" "$("$filter" info f.known | sed -n 's/^ *bits: //p' | awk '{print $1 / 100000}')"
is_true 'and with the number known what is planned' $((1 - $?))

# How numbers and options are written.
"$filter" plan 1500000 1% >wanted
for written in 1.5e6 1.5M 1_500_000 1500K 0.0015G; do
    "$filter" plan $written 1% 2>&1 | cmp - wanted >out 2>&1
    is_true "1500000 written $written" $((1 - $?))
done
"$filter" plan --columns 3 1000 1% >wanted
"$filter" plan --columns=3 1000 1% 2>&1 | cmp - wanted >out 2>&1
is_true 'an option with its value behind =' $((1 - $?))
expect 'a wrong one' 2 '--columns takes a number from 1 on, .* not "x"' "$filter" plan --columns=x 1000 1%
expect 'none' 2 '--columns takes' "$filter" plan --columns= 1000 1%
expect 'a flag has none' 2 '--json takes no value, not yes' "$filter" plan --json=yes 1000 1%
expect 'part of a name' 2 'there is no option "--column=3"' "$filter" plan --column=3 1000 1%
for written in 1.5 1.25e1 1..5e3 .5e3 1.5e6.1; do
    expect "no whole number: $written" 2 "N is \"$written\"; it must be a number" "$filter" plan $written 1%
done

# A store's files are what is planned, and columns are keys of ROWCOL.
{
    echo "create 't', {NAME => 'r', COMPRESSION => 'NONE'}, {NAME => 's', BLOOMFILTER_KIND => 'RIBBON', COMPRESSION => 'NONE'},
        {NAME => 'c', BLOOMFILTER => 'ROWCOL', COMPRESSION => 'NONE'}, {NAME => 'd', BLOOMFILTER => 'ROWCOL', BLOOMFILTER_KIND => 'RIBBON', COMPRESSION => 'NONE'},
        {NAME => 'l', CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.0002'}, COMPRESSION => 'NONE'}, {NAME => 'm', BLOOMFILTER_KIND => 'RIBBON', CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.0002'}, COMPRESSION => 'NONE'}" | tr -d '\n'
    echo
    awk 'BEGIN { for (i = 0; i < 3000; i++) {
        printf "put \x27t\x27, \x27row%05d\x27, \x27r:q\x27, \x27%010d\x27; put \x27t\x27, \x27row%05d\x27, \x27s:q\x27, \x27%010d\x27\n", i, i, i, i
        printf "put \x27t\x27, \x27row%05d\x27, \x27l:q\x27, \x27%010d\x27; put \x27t\x27, \x27row%05d\x27, \x27m:q\x27, \x27%010d\x27\n", i, i, i, i
        if (i % 2) printf "put \x27t\x27, \x27row%05d\x27, \x27c:one\x27, \x27\x27; put \x27t\x27, \x27row%05d\x27, \x27c:two\x27, \x27\x27\n", i, i
        if (i % 2) printf "put \x27t\x27, \x27row%05d\x27, \x27d:one\x27, \x27\x27; put \x27t\x27, \x27row%05d\x27, \x27d:two\x27, \x27\x27\n", i, i } }'
    echo "flush 't'"
    echo "major_compact 't'"
    echo "stats 't'"
} | "$shell" --no-took db >said 2>&1
for family in 'r ROW BLOCKED 3000 1 1%' 's ROW RIBBON 3000 1 1%' 'c ROWCOL BLOCKED 1500 2 1%' 'd ROWCOL RIBBON 1500 2 1%' \
    'l ROW BLOCKED 3000 1 0.02%' 'm ROW RIBBON 3000 1 0.02%'; do
    # shellcheck disable=SC2086
    set -- $family
    stored=$(sed -n "s/^ $1 file .* \([0-9]*\) filter; .*/\1/p" said)
    "$filter" plan --json --columns "$5" "$4" "$6" >out
    planned=$(tr -d '\n' <out | grep -oE "\"kind\": \"$2\", *\"BLOOMFILTER_KIND\": \"$3\"[^}]*" | sed 's/.*"bytes": *//; s/[^0-9].*//')
    within 4 "${stored:-0}" "${planned:-0}"
    is_true "a family of $family: planned $planned bytes, stored $stored" $((1 - $?))
done
"$filter" plan 1000 0.00001 >out
is_true 'no family has that rate' "$(grep -q BLOOMFILTER out || echo 1)"

# What cannot be planned.
expect 'no keys' 2 'N is "0"; it must be a number from 1 on' "$filter" plan 0 1%
expect 'no number' 2 'N is "1x"; it must be a number' "$filter" plan 1x 1%
expect 'too long a number' 2 'N is "20000000000000000000"; it must be a number' "$filter" plan 20000000000000000000 1%
for rate in 0 1 1.5 -0.1 x 100%; do
    expect "a rate of $rate" 2 "RATE is \"$rate\"; it must be a part between 0 and 1\|there is no option" "$filter" plan 1000 "$rate"
done
expect 'too low a rate' 2 'rate is 1e-07; it must be 1e-06 to 0.5' "$filter" plan 1000 1e-7
expect 'too high a rate' 2 'rate is 0.7; it must be 1e-06 to 0.5' "$filter" plan 1000 70%
expect 'beyond all memory' 2 'need more memory than can be addressed' "$filter" plan 10000000000G 10%
expect 'an argument is missing' 2 '^kv-filter plan: an argument is missing: RATE; "kv-filter plan --help"' "$filter" plan 1000
expect 'both are missing' 2 '^kv-filter plan: arguments are missing: N, RATE;' "$filter" plan

# Words that are no commands.
expect 'the beginning of one' 2 'there is no command "uniq"; did you mean "unique"? "kv-filter --help" lists them$' "$filter" uniq
expect 'one mistyped' 2 'there is no command "mergr"; did you mean "merge"?' "$filter" mergr
expect 'nothing like any' 2 'there is no command "frobnicate"; "kv-filter --help" lists them$' "$filter" frobnicate
expect 'one letter is too few' 2 'there is no command "u"; "kv-filter --help"' "$filter" u

expect_end
