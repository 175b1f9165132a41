#!/usr/bin/env bash
# `make dist` gives a tarball of the sources, the same bytes each time, from which the library and a
# tool are built, tested and installed where there is no git.
# Usage: dist_test.sh KV-SHELL (its folder takes nothing)
set -eu
build=$(realpath "$(dirname "${1:?usage: dist_test.sh KV-SHELL}")")
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: a tarball is the same with sanitizers"
    exit 0
fi
if ! git rev-parse --verify -q HEAD >/dev/null 2>&1 || [ "$(git rev-parse --show-toplevel)" != "$(pwd -P)" ]; then
    echo "SKIPPED: make dist (this is no checkout of git)"
    exit 0
fi
command -v xz >/dev/null || { echo "SKIPPED: make dist (there is no xz)" && exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR MANDIR CFLAGS CPPFLAGS LDFLAGS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "dist_test: $*"
    exit 1
}
run() { "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" && fail "$*"; }; }

# Less pressed than a real one, which takes ten seconds.
export XZ_LEVEL=1
run make -s BUILD="$scratch/first" dist
# Neither the clock nor the user's settings are in it.
run env TZ=Pacific/Kiritimati XZ_OPT=-0 make -s BUILD="$scratch/second" dist
tarball=$(echo "$scratch"/first/petal-*.tar.xz)
grep -Eq "[.]tar[.]xz: [1-9][0-9]{0,2}(,[0-9]{3})+ bytes, of commit $(git rev-parse --short HEAD)$" "$scratch/log" || fail "what dist says: $(cat "$scratch/log")"
run cmp "$tarball" "$scratch/second/${tarball##*/}"
(cd "$scratch/first" && sha256sum -c --quiet ./*.sha256) || fail "the sum beside it is another's"
name=$(basename "$tarball" .tar.xz)
version=${name#petal-}
tar -C "$scratch" -xJf "$tarball"
[ "$(tar -tvJf "$tarball" | awk '{ print $2 }' | sort -u)" = root/root ] || fail "its files have an owner"
missing=$(comm -23 <(git ls-files | LC_ALL=C sort) <(cd "$scratch/$name" && find . ! -type d -printf '%P\n' | LC_ALL=C sort))
[ -z "$missing" ] || fail "it lacks $missing"

# Where there is no git, neither the program nor a repository around: the library, a test of it, and
# a release that is installed.
mkdir "$scratch/without"
printf '#!/bin/sh\nexit 127\n' >"$scratch/without/git"
chmod +x "$scratch/without/git"
cd "$scratch/$name"
export PATH=$scratch/without:$PATH GIT_CEILING_DIRECTORIES=$scratch
run make -s -j2 OPTIMIZE=-O0 build/kv-filter build/tests/base/cell_key_test
run build/tests/base/cell_key_test
[ "$(printf 'b\na\nb\n' | build/kv-filter unique - | tr '\n' ' ')" = 'b a ' ] || fail "kv-filter of the tarball"
# The library and the tools that were built beside the test stand for a whole build.
for file in "$build"/{kv-*,libpetal*}; do [ -e "build/${file##*/}" ] || ln -s "$file" build; done
run tests/package/put_build.sh build "$scratch/prefix" "$scratch"
[ -s "$scratch/prefix/lib/libpetal.so.$version" ] && [ -s "$scratch/prefix/share/man/man3/petal_open.3" ] || fail "what is installed"
run make -s named
echo "$(du -k "$tarball" | cut -f1) KiB, the same each time, build, pass a test and install without git"
