#!/bin/sh
# log_level_test.sh KV-SHELL -- log_level and -d show the engine's messages on standard error, and
# nowhere else.
set -u
export TZ=UTC
shell=${1:?usage: log_level_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
cd "$scratch" || exit 1

# run OPTION.. COMMANDS: what it prints is in out, its messages without their times in log.
run() {
    "$shell" --no-took --no-compaction --seed 1 "$@" >out 2>err
    sed -E 's/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8},[0-9]{3} /TIME /; s/[0-9]+ bytes/N bytes/g; s/[0-9]+ ms/N ms/' err >log
}

run db -e "create 't', 'f'; log_level; put 't', 'r', 'f:q', 'v', 1; flush 't'
log_level 'debug'; put 't', 'r', 'f:q', 'v', 2; flush 't'; log_level :WARN; put 't', 'r', 'f:q', 'v', 3; flush 't'
log_level 'OFF'; put 't', 'r', 'f:q', 'v', 4"
same 'messages of one flush of three' log <<'EOF'
TIME INFO  flush of t:f, region 1: 1 cells in, 1 cells out, N bytes in 1 files; N ms
EOF
same 'what log_level says' out <<'EOF'
Created table t
Log level ERROR: errors of the engine are shown
Log level DEBUG: all messages of the engine are shown
Log level WARN: warnings and errors of the engine are shown
Log level OFF: no messages of the engine are shown
EOF
run db -e "log_level 'LOUD'"
grep -qF "There is no level 'LOUD'; there are OFF ERROR WARN INFO DEBUG TRACE" err || { echo 'FAILED: an unknown level' && failed=$((failed + 1)); }
run --format json db -e "log_level 'TRACE'"
same 'the level as a record' out <<'EOF'
{"log_level":"TRACE"}
EOF

# A process that was killed left a log; -d tells what came of it at the opening.
mkfifo pipe
"$shell" --no-took --no-compaction db <pipe >killed 2>&1 &
killed=$!
exec 3>pipe
echo "put 't', 'r', 'f:q', 'v', 5; puts 'done'" >&3
tries=0
until grep -q done killed || [ $((tries += 1)) = 300 ]; do sleep 0.1; done
kill -9 $killed
wait $killed 2>/dev/null
exec 3>&-
run -d db -e "list"
grep -q '^TIME INFO  recovered 1 cells from the log' log || { echo 'FAILED: the opening is not told:' && cat log && failed=$((failed + 1)); }
printf 'TABLE\nt\n1 row(s)\n=> ["t"]\n' >wanted
same 'answers beside messages' out <wanted
expect_end
