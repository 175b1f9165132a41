#!/usr/bin/env bash
# The shared library and the archive export petal_ names only. Usage: check_names.sh BUILD
set -u
build=${1:-build}
bad=$( { nm -D --defined-only "$build/libpetal.so"; nm -g --defined-only "$build/libpetal.a" 2>/dev/null; } |
    awk 'NF == 3 && $3 !~ /^petal_/ && $3 !~ /^_(init|fini)$/ {print $3}')
if [ -n "$bad" ]; then
    echo "names without petal_ are exported:"
    echo "$bad"
    exit 1
fi
echo "names: the library exports $(nm -D --defined-only "$build/libpetal.so" | wc -l) names, all petal_"
