#!/usr/bin/env bash
# Debian packages of a finished build, made with dpkg's own tools and without root.
# Usage: deb.sh FOLDER, with the build in FOLDER/build; the packages go into FOLDER.
# `make deb` makes that build and calls this script.
#
# DEBFULLNAME and DEBEMAIL name the maintainer; SOURCE_DATE_EPOCH is the time, by default that of
# the last commit, or of the public header. The same sources give the same bytes.
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

# Move installed path $2 (may be a pattern) to package $1.
give() {
    local path
    for path in "$stage/all/usr/"$2; do
        mkdir -p "$(dirname "$stage/$1${path#"$stage/all"}")"
        mv "$path" "$stage/$1${path#"$stage/all"}"
    done
}

# Copyright and changelog, which every package needs.
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

# The dependencies of package $1, from the programs and libraries $2.. in it.
find_depends() {
    local package=$1
    shift
    (cd "$folder" && dpkg-shlibdeps -Tdebian/$package.substvars -l"$stage"/libpetal{0,-bloom0,-hfile0}"/usr/lib/$multiarch" -S"$stage"/libpetal{0,-bloom0,-hfile0} "$@")
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

eval "settings=($DEB_BUILD)"
MAKEFLAGS= "${MAKE:-make}" -s -C "$sources" "${settings[@]}" STRIP=true install DESTDIR="$stage/all" PREFIX=/usr LIBDIR="/usr/lib/$multiarch" >/dev/null
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$stage/all/usr/lib/$multiarch/"lib*.so."$VERSION" \
    "$stage/all/usr/bin/"*
strip --strip-debug --remove-section=.comment --enable-deterministic-archives "$stage/all/usr/lib/$multiarch/"lib*.a
gzip -9n "$stage/all/usr/share/man/"man?/*

packages=(libpetal0 libpetal-dev petal-tools libpetal-bloom0 libpetal-bloom-dev)
# The library of HBase's files is built only where its dependencies are present.
if [ -e "$stage/all/usr/bin/kv-hfile" ]; then
    packages+=(libpetal-hfile0 libpetal-hfile-dev)
else
    echo "deb: without libpetal-hfile and kv-hfile: zlib.h, snappy-c.h or isa-l/crc.h is not there (make deps)" >&2
fi
for package in "${packages[@]}"; do
    mkdir -p "$stage/$package/DEBIAN"
    document $package
done
# Library petal-$1: its shared library and, in another package, what else it has.
give_library() {
    local name=$1 path
    give "libpetal-${name}0" "lib/$multiarch/libpetal-$name.so.*"
    for path in "lib/$multiarch/libpetal-$name.*" "lib/$multiarch/pkgconfig/petal-$name.pc" "include/petal_$name.h"; do
        give "libpetal-$name-dev" "$path"
    done
    for path in "$build/man/petal-$name"/*.3; do give "libpetal-$name-dev" "share/man/man3/${path##*/}.gz"; done
}
give libpetal0 "lib/$multiarch/libpetal.so.*"
give_library bloom
give libpetal-bloom-dev share/man/man3/petal_bloom.3.gz
[ ${#packages[@]} = 5 ] || give_library hfile
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

# While the major version is 0 a program needs the minor version that it was linked with.
IFS=. read -r major minor _ <<<"$VERSION"
limit=$([ "$major" = 0 ] && echo "0.$((minor + 1))~" || echo "$((major + 1))~")
soversion=${SONAME##*.}

# The dependency of programs linked with lib$2.so, which is in package $1: the version that added
# the newest name they use, by the kept list ($2.txt of tools/package/abi), and no version of
# another series. dpkg-gensymbols fails if the names differ.
shared_library() {
    local package=$1 library=$2
    local root=$stage/$package
    echo "lib$library $soversion $package (>= $VERSION), $package (<< $limit)" >"$root/DEBIAN/shlibs"
    echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
    awk -v so="lib$library.so.$soversion" -v package="$package" -v limit="$limit" '
        /^version / { version = $2 }
        /^names / { names = $2; print so " " package " #MINVER#, " package " (<< " limit ")"; print " " names "@" names " " version }
        /^function / { sub(/:$/, "", $4); print " " $2 "@" names " " $4 }' "$sources/tools/package/abi/$library.txt" >"$folder/debian/$package.symbols"
    (cd "$folder" && dpkg-gensymbols -q -c4 -p"$package" -v"$VERSION" -P"$root" -I"debian/$package.symbols" \
        -e"$root/usr/lib/$multiarch/lib$library.so.$VERSION" -O"$root/DEBIAN/symbols") ||
        { echo "$package: the names of lib$library.so are not those that are kept: make abi-accept" >&2 && exit 1; }
    find_depends "$package" "$root/usr/lib/$multiarch/lib$library.so.$VERSION"
}
shared_library libpetal0 petal
shared_library libpetal-bloom0 petal-bloom
[ ${#packages[@]} = 5 ] || shared_library libpetal-hfile0 petal-hfile
find_depends petal-tools "$stage/petal-tools/usr/bin/"*
for package in "${packages[@]}"; do close "$package"; done
