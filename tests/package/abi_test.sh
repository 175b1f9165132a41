#!/usr/bin/env bash
# `make abi` notices what programs that were compiled would notice, tells in words what it means for
# them, and which version it asks for. Headers and lists are changed in a copy of them.
# Usage: abi_test.sh KV-SHELL (beside it are the libraries)
set -eu
build=$(realpath "$(dirname "${1:?usage: abi_test.sh KV-SHELL}")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "abi_test: $*"
    exit 1
}
if [ "$(getconf LONG_BIT)" != 64 ]; then
    echo "SKIPPED: the binary interface (this system is not LP64)"
    exit 0
fi
# The interface as it is must be the kept one, or a change that breaks programs passes unnoticed.
tools/package/abi/abi.sh "$build" compare >"$scratch/log" 2>&1 || fail "the interface has changed: $(cat "$scratch/log")"
mkdir -p "$scratch/build"
ln -s "$build"/libpetal{,-bloom}.so "$scratch/build"
# A tree with the headers and the tool, as they are; and with a struct and an enumeration of the
# test's own.
mkdir -p "$scratch/kept/engine" "$scratch/kept/bloom" "$scratch/kept/tools/hfile" "$scratch/kept/tools/package/abi"
sed '/^enum petal_status {/i typedef struct petal_probe { size_t size; bool first; uint32_t second; bool third; } petal_probe;\
enum petal_probe_kind { PETAL_PROBE_ONE = 1, PETAL_PROBE_TWO = 2 };' engine/petal.h >"$scratch/kept/engine/petal.h"
cp bloom/petal_bloom.h "$scratch/kept/bloom"
cp tools/hfile/petal_hfile.h "$scratch/kept/tools/hfile"
cp tools/package/abi/*.{sh,awk,in,txt} "$scratch/kept/tools/package/abi"
anew() {
    rm -rf "$scratch"/{engine,bloom,tools}
    cp -r "$scratch/kept"/* "$scratch"
    cases=$((cases + 1))
}
abi() { (cd "$scratch" && tools/package/abi/abi.sh build "$1") >"$scratch/log" 2>&1; }
# In header $1 replaces the text $2 by $3.
change() {
    awk -v from="$2" -v to="$3" '{ at = index($0, from); if (at && !done) { $0 = substr($0, 1, at - 1) to substr($0, at + length(from)); done = 1 } print }
        END { exit !done }' "$scratch/$1" >"$scratch/changed" || fail "$1 has no \"$2\""
    mv "$scratch/changed" "$scratch/$1"
}
cases=0
# The comparison fails, and says each of "$@".
says() {
    ! abi compare || fail "not noticed: $*"
    local words
    for words in "$@"; do grep -qF -- "$words" "$scratch/log" || fail "instead of \"$words\": $(cat "$scratch/log")"; done
}
says_not() { ! grep -qE -- "$1" "$scratch/log" || fail "$1: $(cat "$scratch/log")"; }

anew
abi accept || fail "the interface as it is: $(cat "$scratch/log")"
abi compare || fail "it is not what was kept: $(cat "$scratch/log")"
rm -rf "$scratch/kept/tools" && cp -r "$scratch/tools" "$scratch/kept"

# ---- fields ----
anew && change engine/petal.h "bool third; }" "bool third; uint64_t last; }"
says "extension: field petal_probe.last is new, at the end of a struct that begins with its size"
says_not "^  breaking"
anew && change engine/petal.h "bool third; }" "bool third, fourth; }"
says "breaking: field petal_probe.fourth is new, at 17, where programs of before have another field or padding"
anew && change engine/petal.h "bool first; uint32_t second" "bool first; uint64_t between; uint32_t second"
says "breaking: field petal_probe.between is new" "breaking: field petal_probe.second moves from 12 to 24"
anew && change engine/petal.h "uint32_t second" "int32_t second"
says "breaking: field petal_probe.second is int32_t instead of uint32_t"
anew && change engine/petal.h "uint32_t second;" ""
says "breaking: field petal_probe.second is gone"
anew && change engine/petal.h "} petal_slice;" "size_t capacity; } petal_slice;"
says "breaking: field petal_slice.capacity is new: struct petal_slice, which does not begin with its size, grows from 16 to 24 bytes" \
    "breaking: field petal_cell.qualifier moves"
# What follows the options of reads in those of scans begins where their own size says.
anew && change engine/petal.h "} petal_read_options;" "uint64_t last; } petal_read_options;"
says "extension: field petal_read_options.last is new"
says_not "^  breaking"

# ---- numbers, functions ----
anew && change engine/petal.h "PETAL_PROBE_TWO = 2" "PETAL_PROBE_TWO = 3"
says "breaking: PETAL_PROBE_TWO is 3 instead of 2: programs of before have the former in them"
anew && change engine/petal.h "PETAL_PROBE_TWO = 2" "PETAL_PROBE_TWO = 2, PETAL_PROBE_THREE"
says "addition: PETAL_PROBE_THREE is new"
says_not "^  (breaking|extension)"
anew && change engine/petal.h "#define PETAL_MAX_ROW_BYTES " "#define PETAL_MAX_ROW_BYTES 65535 //"
says "breaking: PETAL_MAX_ROW_BYTES is 65535 instead of 32767"
# Numbers that are one as doubles are two.
anew && change engine/petal.h "#define PETAL_LATEST              INT64_MAX" "#define PETAL_LATEST (INT64_MAX - 1)"
says "breaking: PETAL_LATEST is 9223372036854775806 instead of 9223372036854775807"
says_not "^  perhaps"
anew && change bloom/petal_bloom.h "PETAL_BLOOM_DEFAULT_RATE 0.01" "PETAL_BLOOM_DEFAULT_RATE 0.010000001"
says "breaking: PETAL_BLOOM_DEFAULT_RATE is 0.010000001 instead of 0.01"
# Macros with parameters and initialisers are compiled into programs; of a constant the number is,
# whatever its text.
anew && change engine/petal.h "(1u << (skip))" "(2u << (skip))"
says "breaking: macro PETAL_WITHOUT is (skip) (2u << (skip)) instead of (skip) (1u << (skip)): programs of before have the former in them"
anew && change engine/petal.h "#define PETAL_DEFAULTS {0}" "#define PETAL_DEFAULTS {1}"
says "breaking: macro PETAL_DEFAULTS is {} | {1} instead of {} | {0}"
anew && change engine/petal.h "#define PETAL_DEFAULTS {}" "#define PETAL_DEFAULTS {1}"
says "breaking: macro PETAL_DEFAULTS is {1} | {0} instead of {} | {0}"
anew && change engine/petal.h "#define PETAL_WITHOUT(skip)" "#define PETAL_WITH(skip)"
says "breaking: macro PETAL_WITHOUT is gone" "addition: macro PETAL_WITH is new"
anew && change engine/petal.h "(1u << 30)" "1073741824u"
says "perhaps: PETAL_MAX_BATCH_BYTES is written 1073741824u instead of (1u << 30): the meaning may have changed; if it is only the text"
says_not "^  (breaking|extension|addition)"
# Two parameters of one type that change places are told by their names alone.
anew && change engine/petal.h "petal_delete_rows(petal_table *table, petal_slice from, petal_slice to" "petal_delete_rows(petal_table *table, petal_slice to, petal_slice from"
says "perhaps: the parameters of petal_delete_rows are (petal_table *table, petal_slice to, petal_slice from, " \
    "the meaning may have changed; if it is only a name, \`make abi-accept\` keeps it"
says_not "^  (breaking|extension|addition)"
abi accept && abi compare || fail "another name is not kept: $(cat "$scratch/log")"
anew && change engine/petal.h "size_t alignment, size_t size" "size_t size, size_t alignment"
says "perhaps: the parameters of petal_allocator.allocate are "
anew && change engine/petal.h "PETAL_API void petal_batch_clear(petal_batch *" "PETAL_API void petal_batch_clear(const petal_batch *"
says "breaking: function petal_batch_clear is void (const petal_batch *) instead of void (petal_batch *)"
anew && change engine/petal.h "PETAL_API void petal_batch_clear(" "void petal_batch_clear("
says "petal_batch_clear is exported by libpetal.so, and no header declares it"
anew && change engine/petal.h "PETAL_API void petal_batch_clear(" "PETAL_API void petal_batch_clean(petal_batch *batch); PETAL_API void petal_batch_clear("
says "petal_batch_clean is declared, and libpetal.so does not export it"
# A name of the kept list that the library lacks has vanished; one that the list lacks is new.
anew && change tools/package/abi/petal.txt "function petal_batch_clear since" "function petal_batch_clean since"
says "breaking: function petal_batch_clean is gone: programs that call it do not start" "addition: function petal_batch_clear is new"
# A field that is not understood does not go unseen.
anew && change engine/petal.h "uint32_t second;" "uint32_t second : 3, fifth : 2;"
says "is not understood"

# ---- what a version stands for, once one is released ----
anew && change engine/petal.h "#define PETAL_VERSION_MINOR" "#define PETAL_VERSION_MINOR 1 //" &&
    change engine/petal.h "#define PETAL_VERSION_PATCH" "#define PETAL_VERSION_PATCH 0 //"
abi accept && abi release && abi compare || fail "release: $(cat "$scratch/log")"
change engine/petal.h "PETAL_PROBE_TWO = 2" "PETAL_PROBE_TWO = 2, PETAL_PROBE_THREE"
says 'of kind "addition" and asks for version 0.1.1; engine/petal.h says 0.1.0'
! abi accept || fail "an addition is kept without its version"
change engine/petal.h "#define PETAL_VERSION_PATCH 0" "#define PETAL_VERSION_PATCH 1"
says "Version 0.1.1 stands for that"
abi accept && abi compare || fail "version 0.1.1: $(cat "$scratch/log")"
change engine/petal.h "bool third; }" "bool third; uint64_t last; }"
says 'of kind "extension" and asks for version 0.2.0; engine/petal.h says 0.1.1'
change engine/petal.h "#define PETAL_VERSION_MINOR 1" "#define PETAL_VERSION_MINOR 2"
abi accept && abi compare || fail "version 0.2.1: $(cat "$scratch/log")"
# The list knows since when each function is there.
grep -q '^function petal_open since 0.1.0: ' "$scratch/tools/package/abi/petal.txt" || fail "petal_open is there since 0.1.0"
echo "in $cases copies of the headers each change is noticed and told"
