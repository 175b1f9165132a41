#!/usr/bin/env bash
# The shared libraries and the archives export petal_ names only, and each name of a shared library
# carries the version that engine/petal.h asks for.
# Usage: check_names.sh BUILD
set -u
build=${1:-build}
number() { awk -v name="PETAL_VERSION_$1" '$2 == name { print $3 }' engine/petal.h; }
# While the major version is 0 programs need the minor version that they were linked with.
version=$(number MAJOR)
[ "$version" != 0 ] || version=0.$(number MINOR)
# Library $1 exports names that begin with $2, with a version that begins with $3.
check() {
    local bad
    bad=$( { nm -D --defined-only "$build/$1.so"; nm -g --defined-only "$build/$1.a" 2>/dev/null; } |
        awk -v begin="^$2" 'NF == 3 && $2 != "A" && $3 !~ begin && $3 !~ /^_(init|fini)$/ {print $3}')
    if [ -n "$bad" ]; then
        echo "$1 exports names without $2:"
        echo "$bad"
        exit 1
    fi
    bad=$(nm -D --defined-only "$build/$1.so" | awk -v version="$3_$version" '
        $2 != "A" { of = $3; sub(/^[^@]*@*/, "", of); if (of != version && index(of, version ".") != 1) print $3 }')
    if [ -n "$bad" ]; then
        echo "names of $1.so are not of version $3_$version, which engine/petal.h wants (tools/package/${1#lib}.map gives it):"
        echo "$bad"
        exit 1
    fi
    echo "names: $1 exports $(nm -D --defined-only "$build/$1.so" | awk '$2 != "A"' | wc -l) names, all $2, of version $3_$version"
}
check libpetal petal_ PETAL
check libpetal-bloom 'petal_(bloom|bitmap2?|distinct)_' PETAL_BLOOM
if [ -e "$build/libpetal-hfile.so" ]; then check libpetal-hfile petal_hfile_ PETAL_HFILE; fi
