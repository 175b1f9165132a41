#!/bin/sh
# sets_test.sh -- kv-filter build, check, info and merge: no line of a filter is denied, as few
# others pass as its rate says, and each mistake, each damage, each file that does not fit is named.
#
#     tests/tools/lines/sets_test.sh KV-SHELL
set -u
. "$(dirname "$0")/place.sh"

# member FILE NAME: what info says of it.
member() {
    "$filter" info "$1" | sed -n "s/^ *$2: //p"
}

# near PERCENT WANTED FOUND
near() {
    awk -v part="$1" -v wanted="$2" -v found="$3" 'BEGIN { exit !(found >= wanted * (1 - part / 100) && found <= wanted * (1 + part / 100)) }'
}

keys=20000
seq 1 $keys | sed 's,.*,http://host/&/in,' >in
seq 1 $keys | sed 's,.*,http://host/&/out,' >out-lines
cat in out-lines >all

# ---- every kind ----

for kind in BLOCKED COUNTING GROWING RIBBON; do
    expect "$kind is built" 0 '^$' sh -c "'$filter' build --kind $kind f.$kind in && echo"
    same "$kind denies no line" in "$filter" check f.$kind in
    "$filter" check f.$kind out-lines >passed
    "$filter" check --absent f.$kind out-lines >absent
    sort passed absent >both
    sort out-lines | cmp - both >out 2>&1
    is_true "$kind: each line passes or is absent" $((1 - $?))
    rate=$(member f.$kind 'rate expected')
    awk -v passed="$(wc -l <passed)" -v rate="$rate" -v n=$keys 'BEGIN { sigma = sqrt(n * rate); exit !(rate <= 0.0103 && passed >= n * rate * 0.9 - 4 * sigma && passed <= n * rate * 1.1 + 4 * sigma) }'
    is_true "$kind: $(wc -l <passed) of $keys pass at a rate of $rate" $((1 - $?))
    [ "$(member f.$kind 'kind of filter')" = $kind ] && near 2 $keys "$(member f.$kind 'has about keys')"
    is_true "info of $kind" $((1 - $?))
done
near 5 "$(awk 'BEGIN { print 20000 * log(100) / log(2) / 8 }')" "$(member f.RIBBON bytes)"
is_true "RIBBON takes $(member f.RIBBON bytes) bytes" $((1 - $?))

# ---- what is asked for ----

expect 'a rate' 0 '^$' sh -c "'$filter' build --rate 0.1% --kind ribbon f.low in && echo"
near 2 0.001 "$(member f.low 'rate present')"
is_true 'is had' $((1 - $?))
expect 'a stream' 0 '^$' sh -c "cat in | '$filter' build --keys 20K f.stream && echo"
cmp f.stream f.BLOCKED >out 2>&1
is_true 'gives the same as the file' $((1 - $?))
expect 'several files, some a stream' 0 '^$' sh -c "'$filter' build --keys 40_000 f.all in - <out-lines && echo"
same 'with all lines' all "$filter" check f.all all
same 'of a stream' all sh -c "cat all | '$filter' check f.all"
tr '\n' '\0' <in >zeros
expect 'records that end with zero bytes' 0 '^$' sh -c "'$filter' build -z f.zeros zeros && echo"
cmp f.zeros f.BLOCKED >out 2>&1
is_true 'are the same keys' $((1 - $?))
same 'and are checked' zeros "$filter" check -z f.zeros zeros
expect 'a salt' 0 '^$' sh -c "'$filter' build --salt 12345678901234567890 f.salted in && echo"
same 'goes along' in "$filter" check f.salted in
is_true 'info says it' "$([ "$(member f.salted salt)" = 12345678901234567890 ] && echo 1)"
expect 'a random salt' 0 '^$' sh -c "'$filter' build --salt random f.r1 in && '$filter' build --salt random f.r2 in && echo"
is_true 'is another each time' "$([ "$(member f.r1 salt)" != "$(member f.r2 salt)" ] && echo 1)"
expect 'no line at all' 0 '^$' sh -c "'$filter' build f.none /dev/null --keys 5 && '$filter' check f.none in && echo"
for kind in RIBBON GROWING; do
    expect "no line at all, $kind" 0 '^$' sh -c "'$filter' build --kind $kind f.none </dev/null && '$filter' check f.none in && echo"
done
expect 'an output' 0 '^$' sh -c "'$filter' check --output found f.BLOCKED in && cmp found in && echo"
expect 'more lines than keys' 0 'about [0-9]* keys are in a filter for 10000: its rate is' "$filter" build --keys 10000 f.full in
expect 'so many more that nothing is told apart' 0 'at least [0-9]* keys are in a filter for 10: its rate is' "$filter" build --keys 10 f.full in
expect 'builders keep within little memory' 0 '^$' sh -c "'$filter' build --kind RIBBON --memory 12M f.little in && cmp f.little f.RIBBON && echo"

# The file is as readable as others of the user, or as the one that it replaces, over links too.
(umask 022 && rm -f f.open && "$filter" build f.open in && stat -c %a f.open) >out 2>&1
is_true 'a new file is as the user has them' "$([ "$(cat out)" = 644 ] && echo 1)"
chmod 640 f.open && ln -s f.open f.link
expect 'another in its place' 0 '^640$' sh -c "'$filter' build f.link out-lines && stat -c %a f.open"
is_true 'the link is one still' "$([ -L f.link ] && echo 1)"
same 'and names the new filter' out-lines "$filter" check f.open out-lines
mkfifo f.pipe
expect 'what is no file is not replaced' 2 'f.pipe is no regular file' "$filter" build f.pipe in
cp in precious
expect 'nor one that holds no set' 2 'precious is there and holds no set, so it is not replaced' "$filter" build precious f.new
expect 'which stays what it is' 0 '^$' sh -c 'cmp precious in && echo'
expect 'nor by merge' 2 'precious is there and holds no set' "$filter" merge precious f.open
expect 'nor by a count' 2 'precious' "$filter" count --state precious in
expect 'nor a folder' 2 '. is no regular file' "$filter" merge . f.open
expect 'merged into it' 0 '^640$' sh -c "'$filter' merge f.open f.BLOCKED && stat -c %a f.open"

# ---- merge ----

"$filter" build --keys 40000 f.1 in
"$filter" build --keys 40000 f.2 out-lines
expect 'two filters' 0 '^$' sh -c "'$filter' merge f.12 f.1 f.2 && cmp f.12 f.all && echo"
expect 'into one of them' 0 '^$' sh -c "cp f.1 f.3 && '$filter' merge f.3 f.3 f.2 && cmp f.3 f.all && echo"
expect 'one alone' 0 '^$' sh -c "'$filter' merge f.copy f.1 && cmp f.copy f.1 && echo"
expect 'other sizes' 2 'f.BLOCKED does not go with f.1: .*bits' "$filter" merge f.x f.1 f.BLOCKED
expect 'other kinds' 2 'f.COUNTING does not go with f.BLOCKED: .*kind' "$filter" merge f.x f.BLOCKED f.COUNTING
expect 'other salts' 2 'f.salted does not go with f.BLOCKED: .*salt' "$filter" merge f.x f.BLOCKED f.salted
expect 'those that grow' 2 'f.GROWING does not go with f.GROWING' "$filter" merge f.x f.GROWING f.GROWING
expect 'those built once' 2 'f.RIBBON does not go with f.RIBBON' "$filter" merge f.x f.RIBBON f.RIBBON
expect 'nothing to merge' 2 'an argument is missing: FILE;' "$filter" merge f.x
expect 'a file that is not there' 2 'no-such' "$filter" merge f.x f.1 no-such
expect 'no room in memory' 2 'f.large has [0-9]* bytes; --memory is 1048576' sh -c "'$filter' build --keys 1M f.large in && '$filter' merge --memory 1M f.x f.large f.large"
is_true 'nothing was written' "$([ ! -e f.x ] && echo 1)"

# Counts of distinct lines, as kv-filter count keeps them.
"$filter" count --state c.1 in >out
"$filter" count --state c.2 out-lines >out
expect 'two counts' 0 'holds: a count of distinct keys' sh -c "'$filter' merge c.12 c.1 c.2 && '$filter' info c.12"
near 5 40000 "$(member c.12 'distinct keys about')"
is_true "are of all lines: $(member c.12 'distinct keys about')" $((1 - $?))
expect 'a count and a filter' 2 'c.1 is a count of distinct keys, and f.1 is a filter' "$filter" merge c.x c.1 f.1
expect 'a count is no filter' 2 'c.1 is a count of distinct keys, not a filter' "$filter" check c.1 in
expect 'nor is a count of' 2 'f.1' "$filter" count --state f.1 in

# ---- files that are none, or not whole ----

expect 'no set' 2 'out-lines: this is not a file of a filter' "$filter" info out-lines
expect 'nothing' 2 'empty: ' sh -c ": >empty; '$filter' info empty"
expect 'a folder' 2 'directory' "$filter" info .
expect 'nobody' 2 'no-such' "$filter" check no-such in
# put FILE OFFSET OCTAL: another byte there.
put() {
    # shellcheck disable=SC2059
    printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
cp f.BLOCKED newer && put newer 8 002
expect 'a newer version' 2 'newer: .*version' "$filter" info newer
cp f.BLOCKED f.header && put f.header 20 007
expect 'a damaged header' 2 'f.header: .*checksum' "$filter" info f.header
cp f.BLOCKED longer && echo >>longer
expect 'a file with more behind it' 2 'longer: ' "$filter" info longer
for kind in BLOCKED COUNTING GROWING RIBBON; do
    size=$(wc -c <f.$kind)
    head -c $((size - 1)) f.$kind >cut
    expect "a cut file of $kind" 2 'cut: ' "$filter" info cut
    cp f.$kind damaged && put damaged $((size - 5000)) "$([ "$(od -An -tu1 -j $((size - 5000)) -N 1 f.$kind | tr -d ' ')" = 1 ] && echo 002 || echo 001)"
    expect "a damaged file of $kind" 2 'damaged: .*checksum' "$filter" info damaged
    expect "nor is it asked" 2 'damaged: .*checksum' "$filter" check damaged in
    expect "nor merged" 2 'damaged: .*checksum' "$filter" merge f.x damaged f.$kind
done
# Whatever a file is called, words of the message are no name.
mkdir short && cp out-lines short/a && cp out-lines short/in && cp f.1 short/good && cp damaged short/1
for called in a in; do
    expect "the file $called is named" 2 "^kv-filter info: $called: this is not a file of a filter" sh -c "cd short && '$filter' info $called"
    expect "the file $called is named by merge" 2 "^kv-filter merge: $called: this is not a file of a filter" sh -c "cd short && '$filter' merge m good $called"
done
expect 'where the checksum is wrong' 2 '^kv-filter info: 1: the checksum of the body, from byte 4096 on, is' sh -c "cd short && '$filter' info 1"
expect 'the bad ones among several' 2 'path: good' sh -c "cd short && '$filter' info a good in"
is_true 'are all named' "$(grep -q 'info: a: this' out && grep -q 'info: in: this' out && echo 1)"
ln -s good short/link && ln -s a short/bad && ln -s nobody short/broken
same 'a link is followed' in "$filter" check short/link in
expect 'to what is none' 2 'info: short/bad leads to .*short/a: this is not a file' "$filter" info short/bad
expect 'to nothing' 2 'cannot follow short/broken: No such file' "$filter" info short/broken
for line in 'build - in' 'check - in' 'info -' 'merge - f.1' 'merge f.x -' 'merge f.x f.1 -'; do
    # shellcheck disable=SC2086
    expect "a stream: $line" 2 'a filter is a file, not a stream' "$filter" $line
done
is_true 'no file is called -' "$([ ! -e ./- ] && echo 1)"
expect 'info of several, the last damaged' 2 'damaged: .*checksum' "$filter" info f.1 damaged
is_true 'after the sound one' "$(grep -q 'path: f.1' out && echo 1)"

# ---- what cannot be asked for ----

expect 'no keys' 2 '--keys takes a number from 1 on' "$filter" build --keys 0 f.x in
expect 'a rate of 0' 2 '--rate takes a part between 0 and 1' "$filter" build --rate 0 f.x in
expect 'a rate of 1' 2 '--rate takes a part between 0 and 1' "$filter" build --rate 1 f.x in
expect 'a rate that is too low' 2 'rate is 1e-07; it must be 1e-06 to 0.5' "$filter" build --rate 1e-7 f.x in
expect 'a rate that is too high' 2 'rate is 0.9; it must be 1e-06 to 0.5' "$filter" build --kind GROWING --rate 90% f.x in
expect 'a kind that is none' 2 '--kind takes BLOCKED, COUNTING' "$filter" build --kind CUCKOO f.x in
expect 'a salt that is none' 2 '--salt takes' "$filter" build --salt -1 f.x in
expect 'keys beyond memory' 2 'the filter takes [0-9]* bytes; --memory is 268435456' "$filter" build --keys 1G f.x in
expect 'keys beyond any memory' 2 'need more memory than can be addressed' "$filter" build --keys 10000000000G f.x in
expect 'a filter that grows over it' 2 'the filter has grown to [0-9]* bytes; --memory is 1048576' sh -c "seq 1 400000 | '$filter' build --kind GROWING --memory 1M f.x"
expect 'keys nobody counted' 2 'kind BLOCKED needs --keys N, since the standard input cannot be read twice' "$filter" build f.x
expect 'too little memory for a builder' 2 '--memory 2097152 is too little for kind RIBBON, which needs 12M' "$filter" build --kind RIBBON --memory 2M f.x in
expect 'an output beside the filter' 2 '--output does not go with FILTER' "$filter" build --output f.y f.x in
expect 'no place for it' 2 'no-such' "$filter" build no-such/f.x in
for kind in BLOCKED RIBBON GROWING; do
    expect "an input that is not there, $kind" 2 'cannot open no-such: No such file or directory' "$filter" build --kind $kind f.x no-such
done
is_true 'no filter was written' "$([ ! -e f.x ] && echo 1)"
if command -v python3 >/dev/null; then
    "$filter" info --json f.1 f.GROWING >out
    python3 - <<'PYTHON' >>out 2>&1
import json
def once(members):
    assert len(dict(members)) == len(members), members
    return dict(members)
files = json.load(open("out"), object_pairs_hook=once)["files"]
assert [f["path"] for f in files] == ["f.1", "f.GROWING"] and all(f["checksum"] == "right" for f in files), files
PYTHON
    is_true 'the same as JSON' $((1 - $?))
fi

expect_end
