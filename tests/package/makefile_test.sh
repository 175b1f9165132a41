#!/usr/bin/env bash
# The Makefile finds the headers that are there and no others, and reads versions out of headers;
# with every optional header out of sight it believes none to be there. What is measured is a
# release build; what brings stores to compare with fails in clear words. The list of targets is at
# most 80 columns wide. Usage: makefile_test.sh KV-SHELL (its folder is not written to)
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL CPPFLAGS CFLAGS LDFLAGS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "makefile_test: $*"
    exit 1
}
# Expression $1 of the Makefile expands to $2.
is() {
    local got
    got=$(make --no-print-directory -s BUILD="$scratch/build" --eval "expand: ; @echo '$1'" expand | xargs)
    [ "$got" = "$2" ] || fail "$1 is \"$got\", not \"$2\""
}

make --no-print-directory -s BUILD="$scratch/build" help >"$scratch/help"
[ "$(grep -c '^  [a-z]' "$scratch/help")" -gt 40 ] || fail "make help lists few targets"
awk 'length > 80 { print; wide = 1 } END { exit wide }' "$scratch/help" || fail "make help has lines of more than 80 letters"

is '$(call HAVE_HEADER,stdio.h)' yes
is '$(call HAVE_HEADER,no/such/header.h)' ''
mkdir -p "$scratch/elsewhere/include/peer"
echo '#define PEER 1' >"$scratch/elsewhere/include/peer/c.h"
is '$(call HAVE_HEADER,peer/c.h)' ''
is "\$(call HAVE_HEADER,peer/c.h,$scratch/elsewhere)" yes

version=$(sed -nE 's/^#define PETAL_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' engine/petal.h | paste -sd.)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "engine/petal.h says version \"$version\""
is '$(VERSION)' "$version"

# bench-quick is a release build, beside stores without assertions once `make rivals` has brought
# them.
quick() { make --no-print-directory -n BUILD="$scratch/build" "$@" bench-quick 2>&1 | grep -v '^  \|mkdir' || true; }
grep -q "RELEASE=1 BUILD=$scratch/build/release " <<<"$(quick)" || fail "bench-quick is no release build: $(quick | head -n 3)"
make --no-print-directory -n BUILD="$scratch/build" bench-report 2>&1 | grep -q "report.sh $scratch/build/release/kv-bench $scratch/build/bench-report full" ||
    fail "bench-report is of no release build"
make --no-print-directory -n BUILD="$scratch/build" bench-table 2>&1 | grep -q "$scratch/build/release/kv-bench compare --markdown .*bench-table-large.md" ||
    fail "bench-table is of no release build"
# The command that tools/bench/README.md gives for its table is bench-table-small's, for fewer rows.
cited=$(sed -n 's/^    .*kv-bench compare --markdown \(.*\)/\1/p' tools/bench/README.md)
made=$(make --no-print-directory -n RELEASE=1 BUILD="$scratch/build" bench-table-small 2>/dev/null | sed -n 's/.*kv-bench compare --markdown \(.*\) --json.*/\1/p')
[ -n "$made" ] || fail "bench-table-small runs no kv-bench compare"
for option in store threads num gets write-buffer repeats; do
    value=$(grep -o -- "--$option [^ ]*" <<<"$made") || fail "bench-table-small has no --$option"
    [[ " $cited " = *" $value "* ]] || fail "bench-table-small has $value, the command in tools/bench/README.md has not: $cited"
done
is '$(RIVAL_DIRS)' ''
mkdir -p "$scratch/build/rivals/leveldb/lib"
is '$(RIVAL_DIRS)' ''
touch "$scratch/build/rivals/leveldb/lib/libleveldb.a"
is '$(RIVAL_DIRS)' "LEVELDB_DIR=$scratch/build/rivals/leveldb"
grep -q "RELEASE=1 BUILD=$scratch/build/rivals LEVELDB_DIR=$scratch/build/rivals/leveldb " <<<"$(quick)" ||
    fail "bench-quick passes by what rivals brought: $(quick | head -n 3)"
grep -q "LEVELDB_DIR=$scratch/build/rivals" <<<"$(quick LEVELDB_DIR=/elsewhere)" && fail "who names a store's place is not heard"

# What brings them says what is missing, takes apt's settings as they are, and no library but the
# one that it knows.
mkdir -p "$scratch/tools" "$scratch/apt/sources.list.d" "$scratch/rocksdb"
for tool in sh sed awk mkdir rm ls cat tail id dirname basename touch cp mv cut sha256sum uname find; do
    ln -s "$(command -v $tool)" "$scratch/tools/$tool"
done
rivals() {
    said=$(PATH="$scratch/tools" APT_SETTINGS="$scratch/apt" ROCKSDB_INCLUDE="$scratch/rocksdb" tools/bench/rivals/rivals.sh "$scratch/rivals" 2>&1) &&
        fail "rivals.sh says that all is well: $said"
    grep -q "$1" <<<"$said" || fail "rivals.sh does not say \"$1\": $said"
}
stub() { printf '#!/bin/sh\n%s\n' "$2" >"$scratch/tools/$1" && chmod +x "$scratch/tools/$1"; }
rivals 'apt-get is missing'
stub dpkg-source ''
stub apt-get 'for word; do case $word in Dir::Etc::Source*) cat "${word#*=}" "${word#*=}"/* ;; esac; done >>'"$scratch/asked"' 2>/dev/null; exit 100'
rivals 'no place to fetch from is named'
printf '# deb a comment\ndeb [signed-by=/a/key] https://packages.invalid/debian bookworm main\n' >"$scratch/apt/sources.list"
printf 'Types: deb\nURIs: https://packages.invalid/deb822\nSigned-By: /b/key\n' >"$scratch/apt/sources.list.d/debian.sources"
rivals 'does not bring .* of leveldb. Is there a network?'
for line in 'deb-src [signed-by=/a/key] https://packages.invalid/debian bookworm main' 'Types: deb-src' 'Signed-By: /b/key'; do
    grep -qxF -- "$line" "$scratch/asked" || fail "apt-get is not asked by \"$line\": $(cat "$scratch/asked")"
done
rivals 'That takes an hour of processor time; with Maven'
printf '#define ROCKSDB_%s\n' 'MAJOR 7' 'MINOR 8' 'PATCH 3' >"$scratch/rocksdb/version.h"
if [[ $(uname -m) =~ ^(x86_64|aarch64)$ ]]; then
    stub mvn 'exit 1'
    rivals 'Maven does not bring RocksDB. Is there a network?'
    stub mvn 'for word; do case $word in -DoutputDirectory=*) d=${word#*=} ;; -Dmdep*) f=${word#*=} ;; esac; done; mkdir -p "$d"; echo other >"$d/$f"'
    rivals 'is not what is known of RocksDB 7.8.3'
    [ ! -e "$scratch/rivals/rocksdb" ] || fail "rivals.sh keeps a library that it does not know"
    printf '#define ROCKSDB_%s\n' 'MAJOR 9' 'MINOR 0' 'PATCH 0' >"$scratch/rocksdb/version.h"
    rivals 'librocksdb-dev is of version 9.0.0, the library that Maven brings of 7.8.3'
fi

# Each optional header is on the list of them, and none of them is believed to be there when it
# cannot be read.
listed=$(make --no-print-directory -s BUILD="$scratch/build" --eval 'expand: ; @echo $(OPTIONAL_HEADERS)' expand)
for header in $(grep -oE 'call HAVE_HEADER,[a-z0-9_/]+\.h' Makefile | cut -d, -f2); do
    [[ " $listed " == *" $header "* ]] || fail "$header is not in OPTIONAL_HEADERS: $listed"
done
for header in $listed; do
    mkdir -p "$(dirname "$scratch/hidden/$header")"
    echo '#error "out of sight"' >"$scratch/hidden/$header"
done
export CPPFLAGS="-I$scratch/hidden"
is '$(PEER_LIBS)' ''
is '$(filter -DHAVE_%,$(CPPFLAGS))' ''
echo "headers are found if and only if they are there, version $version"
