#!/bin/sh
# errors_test.sh KV-SHELL -- where errors of kv-shell go, and that they name the file and the line
# of a script.
set -u
shell=${1:?usage: errors_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

cat >script <<'EOF'
create 't', 'f'
put 't', 'r', 'f:q',
  nosuch
put 'x',
  'r', 'f:q',
  'v'
[1, 2].each { |i|
  get 'y', 'r'
}
scan 't', }
raise 'enough'
t = get_table 't'; t.put 'r',
  'g:a', 'v'
import 't', 'bad.csv'; import 't', 'bad.jsonl', ON_ERROR => 'skip'
puts 'the end'
gett
get 't', 'unclosed
EOF
printf 'row,f:a\nr,v\n\nr,v,w\n' >bad.csv
printf '{"row":"r","column":"f:q","value":"v"}\n{"row":1}\n' >bad.jsonl
errors="script:3: NameError: undefined local variable or method 'nosuch'; text stands in quotes
  nosuch
  ^
script:4: ERROR: Unknown table x!
script:8: ERROR: Unknown table y!
script:8: ERROR: Unknown table y!
script:10: SyntaxError: unexpected '}'
scan 't', }
          ^
script:11: RuntimeError: enough
script:12: ERROR: Column family g does not exist in table t
script:14: ERROR: bad.csv:4: there are more values than the first line has columns (2)
The lines before it are in the table: 1 record and 1 cell imported
kv-shell: bad.jsonl:2: byte 8: a string in quotes must stand here
script:16: NameError: undefined local variable or method 'gett'; did you mean 'get'?
gett
^
script:17: SyntaxError: unterminated string meets end of file
get 't', 'unclosed
         ^"

"$shell" --no-took db -f script >out 2>err
echo "$errors" >wanted
same 'errors of a script' err <wanted
same 'answers of a script' out <<'EOF'
Created table t
=> Hbase::Table - t
=> [1, 2]
1 record and 1 cell imported, 1 bad record passed over
the end
EOF
rm -rf db
"$shell" --format json db -f script 2>err >out
grep '^script:' err >seen
grep '^script:' wanted >places
same 'errors beside records' seen <places
grep -v '^{' out >others
same 'records alone' others </dev/null

# In one place they stand in their order.
rm -rf db
"$shell" --no-took db -e "create 't', 'f'; list; scan 'x'
gett
puts 'behind'" >both 2>&1
same 'the order' both <<'EOF'
Created table t
TABLE
t
1 row(s)

ERROR: Unknown table x!

For usage try 'help "scan"'

NameError (petal:2: undefined local variable or method 'gett'; did you mean 'get'?)
gett
^
behind
EOF
"$shell" --no-took db -e "puts 'before'; import 't', 'bad.jsonl', ON_ERROR => 'skip'" >both 2>&1
same 'the order of what an import says' both <<'EOF'
before
kv-shell: bad.jsonl:2: byte 8: a string in quotes must stand here
1 record and 1 cell imported, 1 bad record passed over
EOF
echo "scan 'x'" | "$shell" --no-took db >out 2>err
grep -q '^ERROR: Unknown table x!' err || { echo "FAILED: an error of a pipe is not on standard error" && failed=$((failed + 1)); }
grep -q 'ERROR' out && echo "FAILED: an error of a pipe is on standard output" && failed=$((failed + 1))

# Under -n it is the last line of a script.
printf "put 't', 'r', 'f:q',\n'v'\n\nget 'x',\n 'r'\n" >stops
"$shell" --no-took -n db stops >out 2>err
[ $? = 1 ] || { echo "FAILED: exit status under -n" && failed=$((failed + 1)); }
same 'an error under -n' err <<'EOF'
stops:4: ERROR RuntimeError: Unknown table x!
EOF
printf "list\n\nscan 't', }\n" >stops
"$shell" --no-took -n db stops >out 2>err
same 'a mistake under -n' err <<'EOF'
stops:3: ERROR SyntaxError: unexpected '}'
scan 't', }
          ^
EOF

# A failed command ends the block of a transaction: the others of its line are not run.
printf "transaction do\n  put 't', 'r', 'f:q',\n  'v'\n  put 'x',\n  'r', 'f:q', 'v'\n  list\nend; list\nputs 'on'\n" >stops
"$shell" --no-took db -f stops >out 2>err
same 'an error in a transaction' err <<'EOF'
kv-shell: the transaction ended early: nothing of it is stored
stops:4: ERROR: Unknown table x!
EOF
same 'what is run after a transaction' out <<'EOF'
on
EOF
"$shell" --no-took -n db stops >out 2>err
same 'an error in a transaction under -n' err <<'EOF'
kv-shell: the transaction ended early: nothing of it is stored
stops:4: ERROR RuntimeError: Unknown table x!
EOF

# A syntax error in several lines ends the input: the rest of the block is not run for itself.
cat >broken <<'EOF'
transaction do
  put 't', 'half', 'f:q', 'v')
  put 't', 'half', 'f:q', 'w'
end
puts 'behind'
EOF
rest='kv-shell: what follows is not run: it may belong to the lines that have this mistake'
expect 'a mistake in a block of a script' 2 "^$rest" "$shell" --no-took db -f broken
is_true 'it is the end' "$(grep -q behind "$scratch/out" || echo 1)"
expect 'one in a pipe' 2 "^$rest" sh -c '"$0" --no-took db <broken' "$shell"
is_true 'it is the end, too' "$(grep -q behind "$scratch/out" || echo 1)"
expect 'a block in several -e' 2 "^$rest" "$shell" --no-took db -e 'transaction do' -e "put 't', 'half', 'f:q', 'w'" -e end
expect 'one in -e before a file' 2 "^$rest" "$shell" --no-took db -e '[1,' -f broken
expect 'nothing was written' 0 '^0 row(s)' "$shell" --no-took db -e "count 't', ROWPREFIXFILTER => 'half'"
expect 'a block left open' 2 'unexpected end of input' "$shell" --no-took db -e 'transaction do'
is_true 'nothing follows it' "$(grep -q "$rest" "$scratch/out" || echo 1)"
expect 'one in a line of its own' 2 '^behind' "$shell" --no-took db -e "scan 't', }
puts 'behind'"

# What is wrong stands below HBase's words; under -n these are alone.
cat >refused <<'EOF'
scan 't', FILTER => "ValueFilter(=, 'v1')"
scan 't', FILTER => "PageFilter('x')"
scan 't', FILTER => "PrefixFilter(r)"
scan 't', FILTER => "PageFiltr(1)"
get 't', 'r', VERSIONS => 0
get 't', 'r', VERSIONS => 3
get 't', 'r', LIMIT => 3
get 'users', 'r'
EOF
"$shell" db -e "create 'usres', 'f'" >out 2>&1
"$shell" --no-took db -f refused 2>err >out
same 'reasons' err <<'EOF'
refused:1: ERROR: Incorrect filter string ValueFilter(=, 'v1')
  ValueFilter(=, 'v1')
                 ^ a comparator must be written 'type:value'
refused:2: ERROR: Incorrect filter string PageFilter('x')
  PageFilter('x')
             ^ it must be a number
refused:3: ERROR: Incorrect filter string PrefixFilter(r)
  PrefixFilter(r)
               ^ this must be a string in quotes, a number, true, false or a comparison
refused:4: ERROR: Filter Name PageFiltr not supported
Did you mean 'PageFilter'?
  PageFiltr(1)
  ^
refused:5: ERROR: Failed parse of {"VERSIONS"=>0}, Hash
VERSIONS must be a number, at least 1; it stands beside COLUMN, TIMERANGE or TIMESTAMP
refused:6: ERROR: Failed parse of {"VERSIONS"=>3}, Hash
VERSIONS stands beside COLUMN, TIMERANGE or TIMESTAMP, as in COLUMN => 'f:q', VERSIONS => 3
refused:7: ERROR: Failed parse of {"LIMIT"=>3}, Hash
A get has no such key; help 'get' shows those that it has
refused:8: ERROR: Unknown table users!
Did you mean 'usres'?
EOF
"$shell" --no-took -n db refused >out 2>err
same 'no reason under -n' err <<'EOF'
refused:1: ERROR RuntimeError: Incorrect filter string ValueFilter(=, 'v1')
EOF

# A file of rows at which a table is split.
printf 'b\n\nd\n' >rows
expect 'an empty row in SPLITS_FILE' 2 '^ERROR: rows:2: the line is empty; each has a row' "$shell" db -e "create 'split', 'f', SPLITS_FILE => 'rows'"
printf 'b\r\nd' >rows
expect 'rows in SPLITS_FILE' 0 '^Total number of splits = 3' "$shell" db -e "create 'split', 'f', SPLITS_FILE => 'rows'; get_splits 'split'"

# At a terminal they are among the answers.
if command -v script >/dev/null; then
    script -qec "'$shell' --no-took db -e \"scan 'x'\" 2>err" /dev/null >out </dev/null
    grep -q '^ERROR: Unknown table x!' out || { echo "FAILED: an error is not on the terminal" && failed=$((failed + 1)); }
    same 'standard error of a terminal' err </dev/null
else
    echo "SKIPPED: no script(1), so errors at a terminal are not looked at"
fi
expect_end
