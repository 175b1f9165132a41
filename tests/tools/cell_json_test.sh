#!/bin/sh
# cell_json_test.sh KV-SHELL -- a cell is the same JSON object wherever it is printed: by scan and
# get, by export, by kv-check dump and kv-hfile print; and import takes it.
#
# kv-check and kv-hfile stand beside kv-shell; where kv-hfile is not built it is left out.
set -u
shell=$(realpath "${1:?usage: cell_json_test.sh KV-SHELL}")
check=$(dirname "$shell")/kv-check
hfile=$(dirname "$shell")/kv-hfile
. "$(dirname "$0")/../support/expect.sh"
cd "$scratch" || exit 1

# prints WHAT WANTED COMMAND..: the command prints the lines that the file has, in its own order.
prints() {
    what=$1 file=$2
    shift 2
    "$@" >printed 2>err
    sort printed >sorted
    sort "$file" >wanted_lines
    same "$what" sorted <wanted_lines
}

# Text, bytes that are none, a time to live, nothing, a marker of each kind.
"$shell" --no-took db -e "create 't', {NAME => 'f', VERSIONS => 5, KEEP_DELETED_CELLS => true}
put 't', 'a', 'f:q', 'ä \"1\"', 1
put 't', \"\\xFF\", \"f:\\x00\\xFF\", \"\\xC3\", 2
put 't', 'c', 'f:q', 'dies', 20000000000000, TTL => 60000
put 't', 'd', 'f:', '', 4
put 't', 'e', 'f:q', '$(printf '%0200d' 7)', 5
for i in 1..4 do put 't', \"x#{i}\", 'f:q', 'hidden', i + 5 end
delete 't', 'x1', 'f:q', 6; deleteall 't', 'x2', 'f:q', 7; deleteall 't', 'x3', 'f', 8; delete 't', 'x4', 'f', 9
flush 't'" >out 2>&1 || cat out
cat >wanted <<'EOF2'
{"row":"a","family":"f","qualifier":"q","timestamp":1,"type":"Put","value":"ä \"1\""}
{"row":"c","family":"f","qualifier":"q","timestamp":20000000000000,"type":"Put","ttl":60000,"value":"dies"}
{"row":"d","family":"f","qualifier":"","timestamp":4,"type":"Put","value":""}
EOF2
echo "{\"row\":\"e\",\"family\":\"f\",\"qualifier\":\"q\",\"timestamp\":5,\"type\":\"Put\",\"value\":\"$(printf '%0200d' 7)\"}" >>wanted
cat >>wanted <<'EOF2'
{"row":"x1","family":"f","qualifier":"q","timestamp":6,"type":"Delete","value":null}
{"row":"x1","family":"f","qualifier":"q","timestamp":6,"type":"Put","value":"hidden"}
{"row":"x2","family":"f","qualifier":"q","timestamp":7,"type":"DeleteColumn","value":null}
{"row":"x2","family":"f","qualifier":"q","timestamp":7,"type":"Put","value":"hidden"}
{"row":"x3","family":"f","qualifier":"","timestamp":8,"type":"DeleteFamily","value":null}
{"row":"x3","family":"f","qualifier":"q","timestamp":8,"type":"Put","value":"hidden"}
{"row":"x4","family":"f","qualifier":"","timestamp":9,"type":"DeleteFamilyVersion","value":null}
{"row":"x4","family":"f","qualifier":"q","timestamp":9,"type":"Put","value":"hidden"}
{"row":{"b64":"/w=="},"family":"f","qualifier":{"b64":"AP8="},"timestamp":2,"type":"Put","value":{"b64":"ww=="}}
EOF2

prints scan wanted "$shell" --no-took --format json --read-only db -e "scan 't', {RAW => true, VERSIONS => 5}"
grep '"c"' wanted >one
prints get one "$shell" --no-took --format json --read-only db -e "get 't', 'c'"
expect export 0 . "$shell" --no-took --read-only db export t t.jsonl --all-versions
prints 'what was exported' wanted cat t.jsonl
expect import 0 '13 cells imported' "$shell" --no-took new import t wanted --format jsonl --create
expect 'export again' 0 . "$shell" --no-took new export t again.jsonl --all-versions
prints 'what was imported' wanted cat again.jsonl

# cells: the objects "kind":"cell" of a document, as one line each, without what stands behind.
cat >cells.py <<'PYTHON'
import json, sys

keys = ["row", "family", "qualifier", "timestamp", "type", "ttl", "value"]

def walk(node):
    if isinstance(node, list):
        for item in node:
            walk(item)
    elif isinstance(node, dict) and node.get("kind") == "cell":
        wanted = ["kind"] + [key for key in keys if key in node]
        assert list(node)[:len(wanted)] == wanted, node
        assert set(node) - set(wanted) <= {"sequence", "tags", "table_id", "family_id"}, node
        print(json.dumps({key: node[key] for key in wanted[1:]}, ensure_ascii=False, separators=(",", ":")))
    elif isinstance(node, dict):
        for item in node.values():
            walk(item)

walk(json.load(open(sys.argv[1], encoding="utf-8")))
PYTHON
if ! command -v python3 >/dev/null; then
    echo "SKIPPED: without python3 the JSON of kv-check and kv-hfile was not read"
    expect_end
    exit
fi
export PYTHONIOENCODING=utf-8
"$check" dump --json --cells "$(ls db/*.sst)" >dump.json
prints 'a store file' wanted python3 cells.py dump.json
# A log knows its families by their numbers.
"$shell" --no-took logged -e "create 't', 'f'; put 't', 'a', 'f:q', 'v', 1" >out
cp -r logged copy
sh -c "'$shell' copy -e \"put 't', 'b', 'f:q', 'w', 2; puts 'written'; sleep 60\" >said & echo \$! >pid; for i in \$(seq 300); do grep -q written said && break; sleep 0.1; done; kill -9 \$(cat pid)"
"$check" dump --json --cells copy >dump.json
python3 cells.py dump.json >got
expect 'a log' 0 '^{"row":"b","family":null,"qualifier":"q","timestamp":2,"type":"Put","value":"w"}$' cat got
if [ -x "$hfile" ]; then
    "$shell" --no-took db -e "export_hfiles 't', 'files'" >out 2>&1
    if grep -q 'was built without' out; then
        echo "SKIPPED: kv-shell was built without the libraries for HBase's files"
    else
        # Cells with tags are in a file of their own.
        find files -type f -exec "$hfile" print --json --cells {} + >print.json
        prints "a file of HBase's" wanted python3 cells.py print.json
    fi
fi
expect_end
