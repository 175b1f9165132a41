#!/usr/bin/env bash
# expect_test.sh -- the directory of tests/support/expect.sh goes when its script ends, by itself or
# by a signal, and not when a signal meets a background child before its exec. In bash and, where
# there is one, in dash.
set -u
folder=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "expect_test: $*"
    exit 1
}
cat >"$work/children.sh" <<'END'
. "$1/expect.sh"
for signal in INT TERM HUP; do
    count=0
    while [ $count -lt 60 ]; do
        count=$((count + 1))
        (exec sleep 0.01) 2>/dev/null &
        kill -$signal $!
        wait $!
        status=$?
        [ -d "$scratch" ] || { echo "gone after $count of $signal"; exit 1; }
        [ $status = 0 ] || [ $status -gt 128 ] || echo "status $status after $signal"
    done
done
END
cat >"$work/killed.sh" <<'END'
. "$1/expect.sh"
touch "$scratch/there"
[ "$2" = NONE ] || kill -"$2" $$
END
for shell in bash dash; do
    command -v $shell >/dev/null || continue
    said=$(TMPDIR=$work $shell "$work/children.sh" "$folder" 2>/dev/null) || fail "$shell: $said"
    [ -z "$said" ] || fail "$shell: $said"
    for signal in NONE INT TERM HUP; do
        TMPDIR=$work $shell "$work/killed.sh" "$folder" $signal 2>/dev/null
        status=$?
        [ $signal = NONE ] || [ $status -gt 128 ] || fail "$shell: status $status after $signal"
    done
    [ "$(ls "$work")" = "$(printf 'children.sh\nkilled.sh')" ] || fail "$shell: left: $(ls "$work")"
done
echo "the directory goes with its shell"
