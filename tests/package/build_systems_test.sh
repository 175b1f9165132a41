#!/usr/bin/env bash
# CMake and meson find an installed Petal, also one that was moved: small projects in C and in C++
# are configured, built and run, with the shared and with the static libraries; versions that do not
# fit are refused, and what is missing is named. Usage: build_systems_test.sh KV-SHELL (of its
# folder the build is installed into a place that goes again)
set -eu
build=$(dirname "${1:?usage: build_systems_test.sh KV-SHELL}")
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: a library with sanitizers is not installed"
    exit 0
fi
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR MANDIR CFLAGS CXXFLAGS LDFLAGS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "build_systems_test: $*"
    exit 1
}
# ZSTD is in the library where its header is there.
if ldd "$build/libpetal-hfile.so" 2>/dev/null | grep -q libzstd; then export HFILE_NEEDS=libzstd=zstd; fi
tests/package/put_build.sh "$build" "$scratch/first" "$scratch" || fail "install.sh"
hfile=
[ ! -e "$scratch/first/lib/libpetal-hfile.so" ] || hfile=yes
# CMake's files go with the prefix. The names of pkg-config's stay what they were, unless it is
# asked to follow.
mv "$scratch/first" "$scratch/moved"
prefix=$scratch/moved
echo "this is no store file" >"$scratch/none"

# Runs the programs of a project built in $1.
run_programs() {
    local kind printed
    for kind in "" _static; do
        rm -rf "$scratch/db"
        printed=$("$1/store$kind" "$scratch/db") && [ "$printed" = "name = Ada" ] || fail "$1/store$kind printed: $printed"
        printed=$("$1/seen$kind") && [ "$printed" = "Ada: seen" ] || fail "$1/seen$kind printed: $printed"
        [ -z "$hfile" ] || { printed=$("$1/codecs$kind" "$scratch/none") && [ "$printed" = "SNAPPY is refused" ]; } ||
            fail "$1/codecs$kind printed: $printed"
    done
    readelf -d "$1/store" | grep -q 'NEEDED.*libpetal.so.0' || fail "$1/store is not linked with the shared library"
    readelf -d "$1/seen" | grep -q 'NEEDED.*libpetal-bloom.so.0' || fail "$1/seen is not linked with the library of sets"
    ! readelf -d "$1/seen" | grep 'NEEDED.*libpetal.so' || fail "$1/seen wants the store"
    ! readelf -d "$1/store_static" "$1/seen_static" | grep 'NEEDED.*libpetal' || fail "$1: a static program wants a shared Petal"
    programs="$programs$1, "
}
programs=
try() { "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" && fail "$*"; }; }

if command -v cmake >/dev/null; then
    configure() { cmake -S tests/package/projects/cmake -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "$@"; }
    version=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion petal)
    IFS=. read -r major minor patch <<<"$version"
    refused="$major.$((minor + 1)) $((major + 1)).0 $major.$minor.$((patch + 1))"
    for wanted in $refused; do
        if configure -DWANTED_VERSION="$wanted" >"$scratch/log" 2>&1; then fail "CMake takes Petal $version for $wanted"; fi
        tr '\n' ' ' <"$scratch/log" | tr -s ' ' | grep -q "requested version \"$wanted\"" || { cat "$scratch/log" && fail "version $wanted"; }
        rm -rf "$scratch/cmake"
    done
    try configure -DWANTED_VERSION="$major.$minor"
    try cmake --build "$scratch/cmake" --parallel 2
    run_programs "$scratch/cmake"
    # A project that wants the archive is told that it is not there.
    rm -rf "$scratch/cmake" && mv "$prefix/lib/libpetal.a" "$scratch/kept.a"
    if configure >"$scratch/log" 2>&1; then fail "CMake finds an archive that is not there"; fi
    tr '\n' ' ' <"$scratch/log" | tr -s ' ' | grep -q 'component static of Petal is not there' || { cat "$scratch/log" && fail "missing archive"; }
    mv "$scratch/kept.a" "$prefix/lib/libpetal.a"
else
    echo "SKIPPED: projects that CMake builds (there is no cmake)"
fi

if command -v meson >/dev/null && command -v ninja >/dev/null; then
    # Moved back: petal.pc names the prefix that it was made for.
    mv "$scratch/moved" "$scratch/first"
    prefix=$scratch/first
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    try meson setup "$scratch/meson" tests/package/projects/meson
    try meson compile -C "$scratch/meson"
    LD_LIBRARY_PATH=$prefix/lib run_programs "$scratch/meson"
else
    echo "SKIPPED: projects that meson builds (there is no meson, or no ninja)"
fi
echo "what was built runs: ${programs//"$scratch/"/}$([ -z "$hfile" ] && echo without || echo with) the library of HBase's files"
