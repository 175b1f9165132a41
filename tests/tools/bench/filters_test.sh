#!/usr/bin/env bash
# filters_test.sh -- `kv-bench filters` with few keys: a line for each kind and rate, bits a key and
# rates as theory says, no present key missed, its file of results, and what is refused. No time is
# looked at.
# Usage: filters_test.sh KV-BENCH
set -eu
bench=${1:?usage: filters_test.sh KV-BENCH}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "filters_test: $*"
    exit 1
}
small=(--rates 0.01,0.001 --few-keys 20k --keys 200k --questions 20k --repeats 2)

"$bench" filters "${small[@]}" --all-present --json "$scratch/json" >"$scratch/out" || fail "$(cat "$scratch/out")"
[ "$(grep -c '^few: 20000 keys, many: 200000; asked for [0-9]* present keys, of which 0 were missed$' "$scratch/out")" = 2 ] ||
    fail "none is missed: $(cat "$scratch/out")"
kinds=$("$bench" filters --help | tr -s ' \n' ' ' | sed 's/.*--kinds NAMES of \([^;]*\); all .*/\1/; s/ //g' | tr , ' ')
petal_kinds="blocked counting growing ribbon"
case " $kinds " in *" $petal_kinds "*) ;; *) fail "the kinds are $kinds" ;; esac

# KIND RATE KEYS BITS EXPECTED MEASURED of each filter; - for what it does not say.
awk -F'"' '
    $2 == "operation" {operation = $4}
    $2 == "setting" {setting = $4; if (split($4, part, "[ ,]+") == 5 && !(setting in known)) {known[setting]; settings[++n] = setting}}
    is_count {sub(/^ */, ""); value[setting, operation] = $0 + 0; is_count = 0}
    $2 == "per_unit" {is_count = 1}
    END {
        for (i = 1; i <= n; i++) {
            split(settings[i], part, "[ ,]+")
            expected = (settings[i], "rate by theory") in value ? value[settings[i], "rate by theory"] : "-"
            print part[1], part[5], part[2], value[settings[i], "bits a key"], expected, value[settings[i], "rate"]
        }
    }' "$scratch/json" >"$scratch/filters"
for kind in $kinds; do
    [ "$(grep -c "^$kind " "$scratch/out")" = 3 ] || fail "$kind has not a line in each table and a bar"
    [ "$(grep -c "^$kind " "$scratch/filters")" = 4 ] || fail "$kind is not there with two numbers of keys at two rates: $(cat "$scratch/filters")"
done

# By theory one array of bits takes 1.4427 log2(1/p) bits; lines of 512 bits take 3.4 % more at 0.01, and 8 %
# at 0.001.
awk '
    function is_near(value, wanted, share) { return value >= wanted * (1 - share) && value <= wanted * (1 + share) }
    function wrong(what) { print what ": " $0; bad = 1 }
    { optimum = -log($2) / log(2); more = $2 > 0.005 ? 1.034 : 1.08 }
    $1 == "blocked" && !is_near($4, optimum * 1.4427 * more, 0.02) { wrong("bits") }
    $1 == "counting" && !($4 > 4 * optimum * 1.4427 && $4 < 5.6 * optimum * 1.4427) { wrong("bits") }
    $1 == "growing" { if (!($4 > optimum * 1.4427 && $4 < 4 * optimum * 1.4427 && $5 < $2 && $5 > $2 / 2)) wrong("bits or rate by theory") }
    # What no filter can do without is log2(1/p).
    $1 == "ribbon" && !($4 > optimum * 0.99 && $4 < optimum * 1.05) { wrong("bits") }
    $5 == "-" { if (!is_near($6, $2, 0.15)) wrong("rate"); next }
    $1 != "growing" && !is_near($5, $2, 0.05) { wrong("rate by theory") }
    !is_near($6, $5, 0.05 + 4 / sqrt(3000)) { wrong("rate") }
    END { exit bad }' "$scratch/filters" || fail "that is not as it has to be"

"$bench" diff "$scratch/json" "$scratch/json" >"$scratch/diff" || fail "diff: $(cat "$scratch/diff")"
grep -q '"operation": "absent, batch"' "$scratch/json" || fail "no times: $(cat "$scratch/json")"

"$bench" filters "${small[@]}" --kinds blocked --rates 0.05 >"$scratch/out" || fail "one kind: $(cat "$scratch/out")"
[ "$(grep -c '^blocked \|^counting ' "$scratch/out")" = 2 ] || fail "--kinds and --rates are not heard: $(cat "$scratch/out")"

refused() {
    local status=0
    "$bench" filters "$@" >"$scratch/out" 2>&1 || status=$?
    [ "$status" = 2 ] || fail "$* ends with $status: $(cat "$scratch/out")"
}
refused --kinds cuckoo
refused --rates 0
refused --rates 0.6
refused --keys 0
refused --keys 80k
refused --questions 1
refused --repeats 65
refused --nothing
echo "filters: $(echo "$kinds" | wc -w) kinds are as theory says"
