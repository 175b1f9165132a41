#!/bin/sh
# damaged_test.sh -- kv-shell on a database with damaged files: tables are listed and described, and
# errors name file and remedy.
#
#     tests/tools/shell/damaged_test.sh KV-SHELL
set -u
export TZ=UTC
shell=${1:?usage: damaged_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

run() {
    "$shell" --no-compaction --no-took "$@"
}

# The first store file is that of family g: it alone has a row then.
run whole -e "create 't', 'f', 'g'; put 't', 'r1', 'g:a', '1'; flush 't'" >/dev/null
victim=$(basename whole/*.sst)
run whole -e "put 't', 'r2', 'f:a', '2'; flush 't'; create 'u', 'f'; put 'u', 'r', 'f:a', '3'" >/dev/null

# change FILE OFFSET: change a byte there, from the end where OFFSET is negative.
change() {
    at=$2
    [ "$at" -ge 0 ] || at=$(($(wc -c <"$1") + at))
    byte=$(dd if="$1" bs=1 skip="$at" count=1 2>/dev/null | od -An -tu1)
    # shellcheck disable=SC2059
    printf "\\$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$at" conv=notrunc 2>/dev/null
}

hint='; "kv-check verify bad" lists what is damaged'
for damage in missing cut empty trailer; do
    rm -rf bad
    cp -r whole bad
    case $damage in
    missing) what='No such file'; rm "bad/$victim" ;;
    cut) what='does not end like a store file'; truncate -s 300 "bad/$victim" ;;
    empty) what=.; : >"bad/$victim" ;;
    trailer) what=checksum; change "bad/$victim" -20 ;;
    esac
    expect "$damage: list" 0 '^=> \["t", "u"\]$' run bad -e list
    expect "$damage: describe" 0 "^{NAME => 'g'" run bad -e "describe 't'"
    is_true "$damage: says what is damaged, once" \
        "$(($(grep -c "^kv-shell: column family g of table t: .*bad/$victim.*$what.*$hint\$" out) == 1))"
    expect "$damage: describe as records" 0 "^kv-shell: column family g of table t: .*$hint\$" run --format json bad -e "describe 't'"
    expect "$damage: scan" 3 "^ERROR: column family g of table t: .*bad/$victim.*$what.*$hint\$" run bad -e "scan 't'"
    expect "$damage: get" 3 "^ERROR: column family g of table t: .*bad/$victim.*$hint\$" run bad -e "get 't', 'r1'"
    expect "$damage: the other family" 0 'value=2$' run bad -e "scan 't', COLUMNS => 'f'"
    expect "$damage: the other table" 0 'value=3$' run bad -e "scan 'u'"
    expect "$damage: exists" 0 'does exist' run bad -e "exists 't'"
    expect "$damage: a table that is sound" 0 '^1 row(s)$' run bad -e "describe 'u'"
    is_true "$damage: nothing is said of it" "$(($(grep -c kv-shell: out) == 0))"
    expect "$damage: truncate makes it usable" 0 '^0 row(s)$' run bad -e "truncate 't'; scan 't'"
done

rm -rf bad
cp -r whole bad
change "bad/$victim" 10
expect 'a block' 3 "^ERROR: column family g of table t: bad/$victim: data block at offset 0: checksum .*$hint\$" run bad -e "scan 't'"

expect 'verify' 3 "^fault: bad/$victim: .*family g" run bad -e "verify 't'"
run bad -e "verify 't'" 2>&1 | grep -v '^fault: ' >verdict
same 'verify ends with its verdict' verdict <<'EOF'
1 fault in the store files of table t: bring the files back from a backup, or have "kv-check salvage bad NEW" write what can still be read into a new database, NEW
EOF
expect 'verify under --bail' 3 '^1 fault in' run --bail bad -e "verify 't'" -e "puts 'behind'"
is_true 'it ends there' "$(($(grep -c behind out) == 0))"

for damage in flipped cut empty gone; do
    rm -rf bad
    cp -r whole bad
    case $damage in
    flipped) change bad/MANIFEST 200 ;;
    cut) truncate -s 100 bad/MANIFEST ;;
    empty) : >bad/MANIFEST ;;
    gone) rm bad/MANIFEST ;;
    esac
    expect "a manifest that is $damage" 3 '^kv-shell: cannot open the database: bad/' run bad -e list
    is_true "$damage: kv-check is named" "$(($(grep -c '^kv-shell: "kv-check verify bad" lists what is damaged, kv-check(1) says what to do$' out) == 1))"
done

expect_end
