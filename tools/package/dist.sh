#!/usr/bin/env bash
# Packs the committed sources as petal-VERSION.tar.xz, which builds, tests and installs without git.
# Usage: dist.sh DIRECTORY; XZ_LEVEL=6. The same commit gives the same bytes: files in order of
# names, the time of the commit, owner 0, one thread of xz.
set -eu
place=${1:?usage: dist.sh DIRECTORY}
: "${VERSION:?}"
cd "$(dirname "$0")/../.."
if ! git rev-parse --verify -q HEAD >/dev/null || [ "$(git rev-parse --show-toplevel)" != "$(pwd -P)" ]; then
    echo "dist: this is no checkout: a tarball is made of what git knows" >&2
    exit 1
fi
if [ -n "$(git status --porcelain)" ]; then echo "dist: what is not committed is not in it" >&2; fi
name=petal-$VERSION
mkdir -p "$place"
# A user's git attributes do not change the contents.
git -c tar.umask=0022 -c core.autocrlf=false -c core.attributesFile=/dev/null archive --format=tar --prefix="$name/" HEAD |
    env -u XZ_OPT -u XZ_DEFAULTS xz --threads=1 "-${XZ_LEVEL:-6}" --check=crc64 >"$place/$name.tar.xz.new"
mv "$place/$name.tar.xz.new" "$place/$name.tar.xz"
(cd "$place" && sha256sum "$name.tar.xz" >"$name.tar.xz.sha256")
bytes=$(wc -c <"$place/$name.tar.xz" | sed -e :a -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')
echo "$place/$name.tar.xz: $bytes bytes, of commit $(git rev-parse --short HEAD)"
