#!/usr/bin/env bash
# README's C example compiles with each command line that README gives for it, as it stands there,
# and prints what it should, the second time from what the first run stored; README's picture is
# made of lines that kv-bench readamp prints; and the lines of kv-filter's README run.
# Usage: readme_test.sh BUILD
set -eu
build=$(realpath "${1:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR MANDIR
fail() {
    echo "readme_test: $*"
    exit 1
}
awk '/^```c$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md |
    sed "s|/tmp/example|$work/db|" >"$work/example.c"
grep -q petal_open "$work/example.c" || fail "README has no example"
mapfile -t lines < <(sed -n 's/^    \(cc .*example\.c.*\)/\1/p' README.md)
[ ${#lines[@]} = 2 ] || fail "README has ${#lines[@]} lines that compile the example, not 2"

# Where the lines are read: in a checkout, or anywhere on a system on which Petal is installed. The
# files of the build are installed as they are.
mkdir "$work/checkout" "$work/anywhere"
ln -s "$PWD/engine" "$work/checkout/engine"
ln -s "$build" "$work/checkout/build"
cp "$work/example.c" "$work/checkout"
mv "$work/example.c" "$work/anywhere"
prefix=$work/prefix
tests/package/put_build.sh "$build" "$prefix" "$work" || fail "install.sh"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib

compiler=${CC:-cc}
# shellcheck disable=SC2086
cc() { command "$compiler" -std=c11 -Wall -Wextra -Werror ${SANITIZE:-} "$@"; }
for line in "${lines[@]}"; do
    place=$work/$(case $line in *pkg-config*) echo anywhere ;; *) echo checkout ;; esac)
    rm -rf "$work/db"
    (cd "$place" && eval "$line") || fail "$line"
    for run in first second; do
        got=$("$place/a.out") || fail "$line: the $run run ends with $?"
        [ "$got" = "name = Ada" ] || fail "$line: the $run run printed: $got"
    done
done
# What README says of CMake and of manual pages is there.
for file in lib/cmake/petal/petal-config.cmake share/man/man3/petal.3 share/man/man3/petal_get.3; do
    [ -s "$prefix/$file" ] || fail "README speaks of $file, which is not installed"
done
# The lines of kv-filter run as they stand there.
printf 'b\na\nb\n' | tee "$work/urls.txt" >"$work/today.txt"
echo a >"$work/black.txt"
mapfile -t lines < <(sed -n 's/^    \(kv-filter [^#]*\)#.*/\1/p' tools/lines/README.md)
[ ${#lines[@]} = 3 ] || fail "tools/lines/README.md has ${#lines[@]} examples of kv-filter, not 3"
(cd "$work" && PATH=$build:$PATH && for line in "${lines[@]}"; do eval "$line" || exit 1; done) >"$work/filtered" || fail "kv-filter ends with $?"
[ "$(head -n 3 "$work/filtered" | tr '\n' ' ')" = 'b a a ' ] || fail "kv-filter printed: $(head -n 3 "$work/filtered")"
grep -q '^RIBBON ' "$work/filtered" || fail "kv-filter plans no RIBBON"

# Each line of the picture is one that kv-bench prints.
LC_ALL=C.UTF-8 "$build/kv-bench" readamp >"$work/counted" || fail "kv-bench readamp"
awk '/^```$/ { if (inside) exit; inside = 1; next } inside' README.md >"$work/picture"
[ "$(wc -l <"$work/picture")" = 4 ] || fail "README's picture has not 4 lines"
grep -vxFf "$work/counted" "$work/picture" && fail "kv-bench readamp does not print that line of README's picture"
echo "README's example compiles in 2 ways and prints what it should, and so do its lines of kv-filter"
