#!/usr/bin/env bash
# Debian packages of a finished build, made with dpkg's own tools and without root. Usage: deb.sh FOLDER, where FOLDER/build holds the
# build; the packages come into FOLDER. `make deb` makes that build and calls this.
#
# DEBFULLNAME and DEBEMAIL name the maintainer; SOURCE_DATE_EPOCH the time, else it is that of the last commit, or of the public header. The same
# sources give the same bytes.
set -eu
: "${VERSION:?}" "${SONAME:?}"
folder=$(realpath "${1:?usage: deb.sh FOLDER}")
build=$folder/build
here=$(realpath "$(dirname "$0")")
sources=$(realpath "$here/../..")
stage=$folder/stage
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
architecture=$(dpkg-architecture -qDEB_HOST_ARCH)
maintainer="${DEBFULLNAME:-The Petal authors} <${DEBEMAIL:-petal@packages.invalid}>"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$sources" log -1 --format=%ct 2>/dev/null || stat -c %Y "$sources/engine/petal.h")}
export SOURCE_DATE_EPOCH
umask 022
rm -rf "$stage" "$folder/debian" "$folder"/*.deb
mkdir -p "$folder/debian"

fill_in() {
    sed -e "s|@VERSION@|$VERSION|" -e "s|@MAINTAINER@|$maintainer|" \
        -e "s|@DATE@|$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')|" "$1"
}

# Move path $2 (may be a pattern) of what was installed to package $1.
give() {
    local path
    for path in "$stage/all/usr/"$2; do
        mkdir -p "$(dirname "$stage/$1${path#"$stage/all"}")"
        mv "$path" "$stage/$1${path#"$stage/all"}"
    done
}

# Copyright and changelog, which every package has.
document() {
    local place=$stage/$1/usr/share/doc/$1
    mkdir -p "$place"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        echo "Upstream-Name: Petal"
        echo
        echo "Files: *"
        sed -n 's/^Copyright (c) /Copyright: /p' "$sources/LICENSE"
        echo "License: Expat"
        sed -e '1,/^Copyright/d' -e '/./,$!d' "$sources/LICENSE" | sed -e 's/^$/./' -e 's/^/ /'
    } | sed '/^License/{n;/^ \.$/d}' >"$place/copyright"
    gzip -9nc "$folder/debian/changelog" >"$place/changelog.gz"
}

# What package $1 needs of other packages, from the programs and libraries $2.. in it.
find_depends() {
    local package=$1
    shift
    (cd "$folder" && dpkg-shlibdeps -Tdebian/$package.substvars -l"$stage/libpetal0/usr/lib/$multiarch" \
        -S"$stage/libpetal0" "$@")
}

close() {
    local root=$stage/$1
    (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    [ -f "$folder/debian/$1.substvars" ] || : >"$folder/debian/$1.substvars"
    (cd "$folder" && dpkg-gencontrol -p"$1" -P"$root" -Tdebian/"$1".substvars)
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --build "$root" "$folder/$1_${VERSION}_$architecture.deb"
}

fill_in "$here/debian/control" >"$folder/debian/control"
fill_in "$here/debian/changelog" >"$folder/debian/changelog"

MAKEFLAGS= "${MAKE:-make}" -s -C "$sources" BUILD="$build" TOOL_LIBRARY="$build/libpetal.so" HAVE_HEADER=no RELEASE=1 STRIP=true install DESTDIR="$stage/all" \
    PREFIX=/usr LIBDIR="/usr/lib/$multiarch" >/dev/null
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$stage/all/usr/lib/$multiarch/libpetal.so.$VERSION" \
    "$stage/all/usr/bin/"*
strip --strip-debug --remove-section=.comment --enable-deterministic-archives "$stage/all/usr/lib/$multiarch/libpetal.a"
gzip -9n "$stage/all/usr/share/man/"man?/*

for package in libpetal0 libpetal-dev petal-tools; do
    mkdir -p "$stage/$package/DEBIAN"
    document $package
done
give libpetal0 "lib/$multiarch/libpetal.so.*"
give libpetal-dev "lib/$multiarch/*"
give libpetal-dev include
give libpetal-dev "share/man/man3"
give petal-tools "bin"
give petal-tools "share/man/man1"
mkdir -p "$stage/libpetal-dev/usr/share/doc/libpetal-dev/examples"
install -m 644 "$sources"/tests/examples/*.[ch] "$stage/libpetal-dev/usr/share/doc/libpetal-dev/examples"
if [ -n "$(find "$stage/all" ! -type d)" ]; then
    echo "no package has: $(find "$stage/all" ! -type d)" >&2
    exit 1
fi

# While the major version is 0 a program wants the minor version that it was linked with.
IFS=. read -r major minor _ <<<"$VERSION"
limit=$([ "$major" = 0 ] && echo "0.$((minor + 1))~" || echo "$((major + 1))~")
echo "libpetal ${SONAME##*.} libpetal0 (>= $VERSION), libpetal0 (<< $limit)" >"$stage/libpetal0/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$stage/libpetal0/DEBIAN/triggers"
find_depends libpetal0 "$stage/libpetal0/usr/lib/$multiarch/libpetal.so.$VERSION"
find_depends petal-tools "$stage/petal-tools/usr/bin/kv-shell" "$stage/petal-tools/usr/bin/kv-bench" \
    "$stage/petal-tools/usr/bin/kv-check" "$stage/petal-tools/usr/bin/kv-filter"
for package in libpetal0 libpetal-dev petal-tools; do close $package; done
