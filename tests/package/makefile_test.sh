#!/usr/bin/env bash
# The Makefile finds the headers that are there and no others, and reads versions out of headers; with every optional header out of
# sight it believes none to be there. Usage: makefile_test.sh KV-SHELL (its folder is not written to)
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

is '$(call HAVE_HEADER,stdio.h)' yes
is '$(call HAVE_HEADER,no/such/header.h)' ''
mkdir -p "$scratch/elsewhere/include/peer"
echo '#define PEER 1' >"$scratch/elsewhere/include/peer/c.h"
is '$(call HAVE_HEADER,peer/c.h)' ''
is "\$(call HAVE_HEADER,peer/c.h,$scratch/elsewhere)" yes

version=$(sed -nE 's/^#define PETAL_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' engine/petal.h | paste -sd.)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "engine/petal.h says version \"$version\""
is '$(VERSION)' "$version"

# Each optional header is on the list of them, and none of them is believed to be there when it cannot be read.
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
