#!/usr/bin/env bash
# Makes the manual pages of calls and types from the public headers.
# Usage: pages.sh DIRECTORY petal|petal-bloom|petal-hfile
# Their date is that of the guide petal.3, so that the same sources give the same bytes.
set -eu
place=$1
here=$(dirname "$0")
sources=$here/../../..
date=$(sed -n 's/^\.Dd //p' "$here/../petal.3")
rm -rf "$place"
mkdir -p "$place"
from() { # HEADER GUIDE [INTRODUCTION]
    LC_ALL=C awk -v HEADER="$(basename "$1")" -v PLACE="$place" -v DATE="$date" -v GUIDE="$2" -v INTRODUCTION="${3:-}" -f "$here/header.awk" "$sources/$1"
}
case ${2:-} in
petal) from engine/petal.h petal petal_conventions ;;
petal-bloom) from bloom/petal_bloom.h petal_bloom ;;
petal-hfile) from tools/hfile/petal_hfile.h petal_hfile petal_hfile ;;
*)
    echo "usage: pages.sh DIRECTORY petal|petal-bloom|petal-hfile" >&2
    exit 2
    ;;
esac
