#!/bin/sh
# ruby_test.sh KV-SHELL -- Ruby in the shell, where it depends on options or takes its time: failures
# that scripts rescue, --unsafe, long inputs.
set -u
shell=${1:?usage: ruby_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1
"$shell" --no-took db -e "create 't', 'f'" >out

# ---- Failures --------------------------------------------------------------------------------------

# Under -n a command that fails raises, as in HBase's shell.
printf '%s\n' 'begin' "  put 'nosuch', 'r', 'f:a', 'v'" 'rescue => e' '  puts "#{e.class}: #{e.message}"' 'end' \
    'def try' '  yield' 'rescue ArgumentError' "  'rescued'" 'end' "puts try { get 't' }" "puts 'goes on'" \
    "begin; put 't'; ensure; puts 'ensured'; end" "puts 'not here'" >script
"$shell" -n --no-took db script >out 2>err
is_true 'the failure that is not rescued ends it' "$([ $? = 1 ] && echo 1)"
same 'failures under -n' out <<'EOF'
RuntimeError: Unknown table nosuch!
=> :try
rescued
goes on
ensured
EOF
same 'the last failure' err <<'EOF'
script:13: ERROR ArgumentError: wrong number of arguments (given 1, expected 4..6)
EOF
# Without -n it is told, and the next command is run, whatever is rescued; exit is never rescued.
"$shell" --no-took db -e "begin; get 'nosuch', 'r'; puts 'goes on'; exit 5; rescue Exception; puts 'not here'; end; puts 'nor here'" >out 2>err
is_true 'the status of exit' "$([ $? = 5 ] && echo 1)"
same 'told and gone on' out <<'EOF'
goes on
EOF
same 'the failure' err <<'EOF'

ERROR: Unknown table nosuch!

For usage try 'help "get"'

EOF
"$shell" --no-took --bail db -e "begin; get 'nosuch', 'r'; ensure; list; end" -e list >out 2>err
same 'nothing runs after a failure that ends it' out </dev/null

# ---- Files and processes ---------------------------------------------------------------------------

"$shell" --no-took db -e "File.open('made', 'w') { |file| file.write 'x' }" >out 2>err
is_true 'no files' "$([ ! -e made ] && grep -q 'uninitialized constant File' err && echo 1)"
"$shell" --no-took db -e '`touch made`' >out 2>err
is_true 'no processes' "$([ ! -e made ] && echo 1)"
"$shell" --no-took --unsafe db -e "File.open('made', 'w') { |file| file.write 'x' }; puts \`cat made\` + 'y'" >out 2>err
same 'files with --unsafe' out <<'EOF'
xy
EOF

# ---- Long inputs -----------------------------------------------------------------------------------

# A list of many lines is not parsed anew with each of them.
awk 'BEGIN { print "a = ["; for (i = 1; i <= 10000; i++) printf "  [\"r%06d\", %d],\n", i, i; print "]; puts a.size" }' >script
"$shell" --no-took db -f script >out 2>err
same 'a long list' out <<'EOF'
10000
EOF
# Nor do many inputs leave anything behind: 64 MB are room enough for what is left of none.
awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "x = \"%d\" * 500; nil\n", i; print "puts x.size" }' >script
(
    [ -n "${SANITIZE:-}" ] || ulimit -v 100000
    "$shell" --no-took db -f script >out 2>err
)
same 'many inputs' out <<'EOF'
2500
EOF
printf 'x = [1,\n  2' | "$shell" --no-took db >out 2>err
is_true 'an input that has no end' "$(grep -q 'SyntaxError (petal:2: unexpected end of' err && echo 1)"
expect_end
