#!/usr/bin/env bash
# README's C example compiles with each command line that README gives for it, as it stands there, and prints what it should, the
# second time from what the first run stored; README's picture has what kv-bench counts. Usage: readme_test.sh BUILD
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

# Where the lines are read: in a checkout, or anywhere on a system on which Petal is installed. The files of the build are installed
# as they are; what installing writes into its build goes elsewhere.
mkdir "$work/checkout" "$work/anywhere" "$work/installed"
ln -s "$PWD/engine" "$work/checkout/engine"
ln -s "$build" "$work/checkout/build"
cp "$work/example.c" "$work/checkout"
mv "$work/example.c" "$work/anywhere"
ln -s "$build"/* "$work/installed"
rm -f "$work"/installed/{petal.pc,installed-directories}
version=$(sed -nE 's/^#define PETAL_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' engine/petal.h | paste -sd.)
prefix=$work/prefix
BUILD=$work/installed VERSION=$version SONAME=libpetal.so.${version%%.*} LDCONFIG=true PREFIX=$prefix BINDIR=$prefix/bin \
    LIBDIR=$prefix/lib INCLUDEDIR=$prefix/include MANDIR=$prefix/man tools/package/install.sh install >"$work/log" ||
    { cat "$work/log" && fail "install.sh"; }
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
# The lines of kv-filter run as they stand there.
printf 'b\na\nb\n' | tee "$work/urls.txt" >"$work/today.txt"
echo a >"$work/black.txt"
mapfile -t lines < <(sed -n 's/^    \(kv-filter [^#]*\).*/\1/p' README.md)
[ ${#lines[@]} = 3 ] || fail "README has ${#lines[@]} lines of kv-filter, not 3"
(cd "$work" && PATH=$build:$PATH && for line in "${lines[@]}"; do eval "$line" || exit 1; done) >"$work/filtered" || fail "kv-filter ends with $?"
[ "$(head -n 3 "$work/filtered" | tr '\n' ' ')" = 'b a a ' ] || fail "kv-filter printed: $(head -n 3 "$work/filtered")"
grep -q '^RIBBON ' "$work/filtered" || fail "kv-filter plans no RIBBON"

# The picture has what kv-bench counts.
"$build/kv-bench" readamp --files 8 --caches filters+index >"$work/counted" || fail "kv-bench readamp"
# Blocks of lookup $1 under BLOOMFILTER $2.
counted() { awk -v lookup="$1" -v filter="$2" 'index($0, lookup) == 1 && $0 ~ " " filter " +8 " { sub(/.*filters\+index +/, ""); printf "%.2f", $1; exit }' "$work/counted"; }
drawn=0
while IFS='|' read -r line lookup; do
    figures=$(for filter in NONE ROW ROWCOL; do counted "$lookup" $filter && echo; done)
    [ "$(grep "^$line  " README.md | grep -oE '[0-9]+\.[0-9]+')" = "$figures" ] || fail "the picture's \"$line\" should have" $figures
    drawn=$((drawn + 1))
done <<'END'
the row is in no file|row absent, column named
row and column in the oldest file|row and column in oldest only
row in all, column in the oldest|row in all, column in oldest
END
[ $drawn = 3 ] || fail "the picture has $drawn lookups"
echo "README's example compiles in 2 ways and prints what it should, and so do its lines of kv-filter"
