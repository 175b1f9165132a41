#!/usr/bin/env bash
# The shared libraries and the archives export petal_ names only. Usage: check_names.sh BUILD
set -u
build=${1:-build}
# Library $1 exports names that begin with $2.
check() {
    local bad
    bad=$( { nm -D --defined-only "$build/$1.so"; nm -g --defined-only "$build/$1.a" 2>/dev/null; } |
        awk -v begin="^$2" 'NF == 3 && $3 !~ begin && $3 !~ /^_(init|fini)$/ {print $3}')
    if [ -n "$bad" ]; then
        echo "$1 exports names without $2:"
        echo "$bad"
        exit 1
    fi
    echo "names: $1 exports $(nm -D --defined-only "$build/$1.so" | wc -l) names, all $2"
}
check libpetal petal_
if [ -e "$build/libpetal-hfile.so" ]; then check libpetal-hfile petal_hfile_; fi
