#!/bin/sh
# json_test.sh KV-SHELL -- what --format json prints and export writes is JSON and UTF-8, whatever
# bytes there are, and import takes every byte of both back.
set -u
export LC_ALL=C
shell=${1:?usage: json_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
scratch=$(mktemp -d "${TMPDIR:-/tmp}/json_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cd "$scratch" || exit 1
failed=0

fail() {
    echo "FAILED $1"
    failed=1
}

# Each byte alone, before and behind others, as row, qualifier and value; characters of every length
# and their pieces; what looks like escapes; markers; a family whose name is no ASCII.
{
    echo "create 't', {NAME => 'f', VERSIONS => 5}, \"\\xC3\\xA4\""
    awk 'BEGIN { for (i = 0; i < 256; i++) {
        b = sprintf("\\x%02X", i)
        printf "put \"t\", \"%s\", \"f:%s\", \"%s\", 1\n", b, b, b
        printf "put \"t\", \"a%s\", \"f:%sz\", \"12345678%s\", 2\n", b, b, b
        all = all b }
        printf "put \"t\", \"all\", \"f:all\", \"%s\", 3\n", all }'
    i=0
    for bytes in '\xC3\xA4' '\xE2\x82\xAC' '\xF0\x9F\x98\x80' '\xC3' '\xE2\x82' '\xF0\x9F\x98' '\xED\xA0\x80' '\xC0\x80' '\xF4\x90\x80\x80' \
        '\x5Cx41' '\x5C\x5Cx00' '\x5Cu0041' '{\x22b64\x22:\x22QQ==\x22}' 'null' '' '\xEF\xBB\xBF' '\xE2\x80\xA8' '12345678\xFF' '1234567\xC3'; do
        i=$((i + 1))
        echo "put 't', \"text$i$bytes\", \"\\xC3\\xA4:$bytes\", \"$bytes\", 4"
    done
    echo "deleteall 't', \"all\", 'f:all', 2; deleteall 't', \"a\\xFF\", 'f', 1; delete 't', 'text3', 'f:q', 9"
} >script
"$shell" --no-took db -n script >out 2>&1 || { cat out && exit 1; }

# scan DATABASE: all that it holds, as HBase prints it.
scan() {
    "$shell" --no-took --read-only "$1" -e "scan 't', {RAW => true, VERSIONS => 10}"
}

# valid FILE: each line is a JSON object, and all is UTF-8.
valid() {
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys
for number, line in enumerate(open(sys.argv[1], "rb"), 1):
    found = json.loads(line.decode("utf-8"))
    assert isinstance(found, dict), number' "$1" || fail "$1 is not JSON"
    elif command -v jq >/dev/null; then
        jq -e 'type == "object"' "$1" >/dev/null || fail "$1 is not JSON"
    else
        iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$1 is not UTF-8"
        echo "SKIPPED: neither python3 nor jq, so JSON was not read by another program"
    fi
}

# again FILE: what import makes of it is what was there.
again() {
    rm -rf new
    "$shell" new -e "create 't', {NAME => 'f', VERSIONS => 5}, \"\\xC3\\xA4\"" >/dev/null
    "$shell" --no-took new import t "$1" >out 2>&1 || { fail "import of $1:" && cat out; }
    scan db >wanted
    scan new >got
    diff wanted got >difference || { fail "$1 imported is not what it was" && head -20 difference; }
}

"$shell" --format json --read-only db -e "scan 't', {RAW => true, VERSIONS => 10}" 2>log >scan.jsonl
valid scan.jsonl
again scan.jsonl
[ "$(wc -l <scan.jsonl)" = 535 ] || fail "not every cell is a line: $(wc -l <scan.jsonl)"
"$shell" db export t export.jsonl --all-versions 2>log
valid export.jsonl
again export.jsonl
# Text is there to be read, and to be searched.
printf '{"row":"text1ä","family":"ä","qualifier":"ä","timestamp":4,"type":"Put","value":"ä"}\n' >line
grep -qxFf line scan.jsonl || fail 'UTF-8 is not printed as it is'
printf '{"row":"text2€","family":"ä","qualifier":"€","timestamp":4,"type":"Put","value":"€"}\n' >line
grep -qxFf line export.jsonl || fail 'UTF-8 is not exported as it is'
grep -qxF '{"row":{"b64":"/w=="},"family":"f","qualifier":{"b64":"/w=="},"timestamp":1,"type":"Put","value":{"b64":"/w=="}}' scan.jsonl ||
    fail 'a byte that is no UTF-8 is not base64'
grep -qxF '{"row":{"b64":"/w=="},"family":"f","qualifier":{"b64":"/w=="},"timestamp":1,"type":"Put","value":{"b64":"/w=="}}' export.jsonl ||
    fail 'a byte that is no UTF-8 is not exported in base64'

# All other answers, and what formatters make of bytes.
"$shell" --format json db -e "list; describe 't'; get 't', 'all'; get 't', 'all', {FORMATTER => 'toString'}; get 't', 'all', {MAXLENGTH => 3}
get 't', \"text1\\xC3\\xA4\", {MAXLENGTH => 1}
flush 't'; stats 't'; stats; explain get 't', 'all'; count 't'; show_filters; status; list_snapshots; describe_namespace 'default'; version" 2>log >answers
valid answers
grep -q '"value":"ä"}' answers || fail 'MAXLENGTH cuts a character'
exit $failed
