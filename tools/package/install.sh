#!/usr/bin/env bash
# Installs the build, or removes an installation.
# Usage: install.sh install|uninstall, with the settings of `make install` in the environment, and
# LDCONFIG, the program to run instead of ldconfig. Both go over one list of files, so that none is
# left.
#
# Directories made by the installation are listed in BUILD/installed-directories; uninstalling
# removes only those, if they are empty. Without the list (after `make clean`) empty directories
# stay.
set -eu
: "${BUILD:?}" "${VERSION:?}" "${SONAME:?}" "${PREFIX:?}" "${BINDIR:?}" "${LIBDIR:?}" "${INCLUDEDIR:?}" "${MANDIR:?}"
DESTDIR=${DESTDIR:-}
LDCONFIG=${LDCONFIG:-ldconfig}
HFILE_NEEDS=${HFILE_NEEDS:-}
here=$(dirname "$0")
note=$BUILD/installed-directories

# Call $1 MODE SOURCE TARGET for each file of library $2, whose header is $3: header, archive, shared
# library and its names, pkg-config's file, pages of calls.
each_file_of() {
    local page soname=${SONAME/libpetal/lib$2}
    "$1" 644 "$3" "$INCLUDEDIR/${3##*/}"
    "$1" 644 "$BUILD/lib$2.a" "$LIBDIR/lib$2.a"
    "$1" 644 "$BUILD/lib$2.so.$VERSION" "$LIBDIR/lib$2.so.$VERSION"
    "$1" link "lib$2.so.$VERSION" "$LIBDIR/$soname"
    "$1" link "$soname" "$LIBDIR/lib$2.so"
    "$1" 644 "$BUILD/$2.pc" "$LIBDIR/pkgconfig/$2.pc"
    for page in "$BUILD/man/$2"/*.3; do "$1" 644 "$page" "$MANDIR/man3/${page##*/}"; done
}

# Call $1 MODE SOURCE TARGET for each file; MODE `link`: a symbolic link to the name SOURCE.
each_file() {
    "$1" 755 "$BUILD/kv-shell" "$BINDIR/kv-shell"
    "$1" 755 "$BUILD/kv-bench" "$BINDIR/kv-bench"
    "$1" 755 "$BUILD/kv-check" "$BINDIR/kv-check"
    "$1" 755 "$BUILD/kv-filter" "$BINDIR/kv-filter"
    each_file_of "$1" petal engine/petal.h
    each_file_of "$1" petal-bloom bloom/petal_bloom.h
    "$1" 644 "$BUILD/petal-config.cmake" "$LIBDIR/cmake/petal/petal-config.cmake"
    "$1" 644 "$BUILD/petal-config-version.cmake" "$LIBDIR/cmake/petal/petal-config-version.cmake"
    "$1" 644 "$here/kv-shell.1" "$MANDIR/man1/kv-shell.1"
    "$1" 644 "$here/kv-bench.1" "$MANDIR/man1/kv-bench.1"
    "$1" 644 "$here/kv-check.1" "$MANDIR/man1/kv-check.1"
    "$1" 644 "$here/kv-filter.1" "$MANDIR/man1/kv-filter.1"
    "$1" 644 "$here/petal.3" "$MANDIR/man3/petal.3"
    "$1" 644 "$here/petal_bloom.3" "$MANDIR/man3/petal_bloom.3"
    # The library of HBase's files is built only where its dependencies are present.
    if [ "$1" = take_away ] || [ -e "$BUILD/kv-hfile" ]; then
        "$1" 755 "$BUILD/kv-hfile" "$BINDIR/kv-hfile"
        each_file_of "$1" petal-hfile tools/hfile/petal_hfile.h
        "$1" 644 "$here/kv-hfile.1" "$MANDIR/man1/kv-hfile.1"
    fi
}

# Make directory $1 and its parents, and list the new ones.
make_directory() {
    [ -d "$1" ] && return
    make_directory "$(dirname "$1")"
    mkdir -m 755 "$1"
    echo "$1" >>"$note"
}

# Strip debugging information and local symbols. An archive keeps the names needed for linking.
strip_symbols() {
    case $1 in
    *.a) "${STRIP:-strip}" --strip-debug --enable-deterministic-archives "$1" ;;
    */kv-shell | */kv-bench | */kv-check | */kv-filter | */kv-hfile | *.so.*) "${STRIP:-strip}" --strip-unneeded "$1" ;;
    esac
}

put() {
    make_directory "$(dirname "$DESTDIR$3")"
    if [ "$1" = link ]; then
        ln -sfn "$2" "$DESTDIR$3"
    else
        install -m "$1" "$2" "$DESTDIR$3"
        strip_symbols "$DESTDIR$3"
    fi
    echo "  $DESTDIR$3"
}

take_away() {
    [ -e "$DESTDIR$3" ] || [ -L "$DESTDIR$3" ] || return 0
    rm -f "$DESTDIR$3"
    echo "  $DESTDIR$3 is removed"
}

# Is $1 above a file of this installation?
is_above() {
    local directory
    for directory in "$BINDIR" "$INCLUDEDIR" "$LIBDIR/pkgconfig" "$LIBDIR/cmake/petal" "$MANDIR/man1" "$MANDIR/man3"; do
        case $DESTDIR$directory/ in "$1"/*) return 0 ;; esac
    done
    return 1
}

# The last ones made, the innermost, first.
take_away_directories() {
    [ -f "$note" ] || return 0
    tac "$note" | while IFS= read -r directory; do
        if is_above "$directory"; then
            rmdir "$directory" 2>/dev/null || true
        else
            echo "$directory"
        fi
    done | tac >"$note.left"
    mv "$note.left" "$note"
}

# Path $1 for petal.pc: relative to the prefix variable, so that the installation can be moved.
below_prefix() {
    case $1 in "$PREFIX"/*) printf '${prefix}/%s' "${1#"$PREFIX"/}" ;; *) printf %s "$1" ;; esac
}

replace() { sed -e "s|@$1@|$(printf %s "$2" | sed 's/[\\&|]/\\&/g')|g"; }

# Makes $1.pc with the dependencies of the static library: the libraries that follow it, each as
# NAME=LIBRARY, by the name that pkg-config knows, or else by its linker option.
write_pc() {
    local file=$1 requires= libs=
    local needed
    shift
    for needed in "$@"; do
        if pkg-config --exists "${needed%=*}" 2>/dev/null; then
            requires="$requires${requires:+, }${needed%=*}"
        else
            libs="$libs-l${needed#*=} "
        fi
    done
    replace PREFIX "$PREFIX" <"$here/$file.pc.in" | replace LIBDIR "$(below_prefix "$LIBDIR")" |
        replace INCLUDEDIR "$(below_prefix "$INCLUDEDIR")" | replace VERSION "$VERSION" |
        replace REQUIRES "$requires" | replace LIBS "$libs-lm -pthread" >"$BUILD/$file.pc"
}

# Directory $2 relative to directory $1, if both are below the prefix, so that the installation can
# be moved.
seen_from() {
    case $1/$2 in
    "$PREFIX"/*/"$PREFIX"/*) realpath -ms --relative-to="$1" "$2" ;;
    *) printf %s "$2" ;;
    esac
}

# Makes the files for CMake's find_package. $1: the dependencies of the archive of HBase's files, as
# for write_pc.
write_cmake() {
    local place=$LIBDIR/cmake/petal
    local file needed hfile_needs=
    for needed in $1; do hfile_needs="$hfile_needs${hfile_needs:+ }${needed#*=}"; done
    for file in petal-config petal-config-version; do
        replace LIBRARIES "$(seen_from "$place" "$LIBDIR")" <"$here/cmake/$file.cmake.in" |
            replace HEADERS "$(seen_from "$place" "$INCLUDEDIR")" | replace VERSION "$VERSION" |
            replace SOVERSION "${SONAME##*.}" | replace HFILE_NEEDS "$hfile_needs" >"$BUILD/$file.cmake"
    done
}

# Update the running system's list of libraries; for a staging directory that is the package's task.
refresh_libraries() {
    if [ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ] && command -v "$LDCONFIG" >/dev/null; then
        "$LDCONFIG"
    else
        echo "  ldconfig was not run: programs find the library after it, if $LIBDIR is among its directories"
    fi
}

# The pages of calls are generated from the headers.
for library in petal petal-bloom petal-hfile; do "$here/man/pages.sh" "$BUILD/man/$library" $library; done
case ${1:-} in
install)
    write_pc petal liblz4=lz4 libxxhash=xxhash libpcre2-8=pcre2-8
    write_pc petal-bloom libxxhash=xxhash
    # Snappy is C++; its dependencies must follow it, an order that pkg-config would not keep.
    hfile_needs="zlib=z liblz4=lz4 libisal=isal $HFILE_NEEDS by-name=snappy by-name=stdc++"
    # shellcheck disable=SC2086
    [ ! -e "$BUILD/kv-hfile" ] || write_pc petal-hfile $hfile_needs
    write_cmake "$hfile_needs"
    each_file put
    refresh_libraries
    ;;
uninstall)
    each_file take_away
    take_away_directories
    refresh_libraries >/dev/null
    ;;
*)
    echo "usage: install.sh install|uninstall" >&2
    exit 2
    ;;
esac
