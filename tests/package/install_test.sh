#!/usr/bin/env bash
# `make install` puts there what programs need: the examples compile from petal.pc alone, as C11 and
# as C++17, with the shared and the static library, and print what they should; the manual pages of
# tools are complete; `make uninstall` leaves the directory as it was. Usage: install_test.sh
# KV-SHELL (a release build is made beside it, and installed)
set -eu
shell=${1:?usage: install_test.sh KV-SHELL}
build=$(dirname "$shell")
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: a library with sanitizers is not installed"
    exit 0
fi
for tool in pkg-config "${CC:-cc}" c++ readelf; do
    command -v "$tool" >/dev/null || { echo "left out: there is no $tool" && exit 0; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What the make above was called with does not concern the ones below.
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR MANDIR
export LDCONFIG=true # the system that runs the test stays as it is
fail() {
    echo "install_test: $*"
    exit 1
}
same() { [ "$2" = "$3" ] || fail "$1: $2, not $3"; }
listing() { (cd "$1" && find . -printf '%p %y %m %l\n' | LC_ALL=C sort); }
run_make() { make -s "$@" BUILD="$build" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "make $*"; }; }

# ---- into a staging directory in which others have put files and an empty directory ----
staged=$scratch/staged
prefix=/opt/petal
mkdir -p "$staged$prefix/lib/pkgconfig" "$staged$prefix/bin"
echo other >"$staged$prefix/lib/pkgconfig/other.pc"
before=$(listing "$staged")
run_make install DESTDIR="$staged" PREFIX=$prefix
"$(dirname "$0")/hardening.sh" "$staged$prefix/bin" "$staged$prefix/lib/libpetal.so" >"$scratch/log" ||
    { cat "$scratch/log" && fail "the release build is not hardened"; }
version=$(PKG_CONFIG_PATH=$staged$prefix/lib/pkgconfig pkg-config --modversion petal)
soname=libpetal.so.${version%%.*}
expected="bin/kv-bench 755
bin/kv-check 755
bin/kv-filter 755
bin/kv-shell 755
include/petal.h 644
include/petal_bloom.h 644
lib/cmake/petal/petal-config-version.cmake 644
lib/cmake/petal/petal-config.cmake 644
lib/libpetal-bloom.a 644
lib/libpetal-bloom.so 777
lib/${soname/libpetal/libpetal-bloom} 777
lib/libpetal-bloom.so.$version 644
lib/libpetal.a 644
lib/libpetal.so 777
lib/$soname 777
lib/libpetal.so.$version 644
lib/pkgconfig/other.pc $(stat -c %a "$staged$prefix/lib/pkgconfig/other.pc")
lib/pkgconfig/petal-bloom.pc 644
lib/pkgconfig/petal.pc 644
share/man/man1/kv-bench.1 644
share/man/man1/kv-check.1 644
share/man/man1/kv-filter.1 644
share/man/man1/kv-shell.1 644
share/man/man3/petal.3 644
share/man/man3/petal_bloom.3 644"
# Not everywhere is there what the library of HBase's files needs.
if [ -e "$build/kv-hfile" ]; then
    expected=$(LC_ALL=C sort <<END
$expected
bin/kv-hfile 755
include/petal_hfile.h 644
lib/libpetal-hfile.a 644
lib/libpetal-hfile.so 777
lib/${soname/libpetal/libpetal-hfile} 777
lib/libpetal-hfile.so.$version 644
lib/pkgconfig/petal-hfile.pc 644
share/man/man1/kv-hfile.1 644
END
    )
fi
# Pages of calls and types are as many as the headers have; manual_test.sh looks at them.
same "what is installed" "$(cd "$staged$prefix" && find . ! -type d -printf '%P %m\n' | grep -vE '^share/man/man3/petal_.*\.3 644$' | LC_ALL=C sort)" "$(LC_ALL=C sort <<<"$expected" | grep -v petal_bloom.3)"
same "version of kv-shell" "$("$staged$prefix/bin/kv-shell" --version)" "kv-shell of Petal $version"
readelf -d "$staged$prefix/lib/libpetal.so" | grep -q "SONAME.*\[$soname\]" || fail "the library is not called $soname"
for file in bin/kv-shell bin/kv-bench bin/kv-check bin/kv-filter lib/libpetal{,-bloom}.{so,a}; do
    nm "$staged$prefix/$file" 2>/dev/null | grep -q __assert_fail && fail "$file has assertions"
    nm -D "$staged$prefix/$file" 2>/dev/null | grep -q __assert_fail && fail "$file has assertions"
    readelf -S "$staged$prefix/$file" | grep -q '\.debug_info' && fail "$file is not stripped"
done
nm -D "$build/libpetal.so" | grep -q __assert_fail || fail "developers' own build has no assertions"
grep -rqF "$staged" "$staged$prefix/lib/pkgconfig" "$staged$prefix/lib/cmake" && fail "the staging directory is in what was installed"

# ---- the examples, from petal.pc and petal-bloom.pc alone ----

warnings="-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror"
# Of the example $1; the rest are options.
libraries() {
    local example=$1 sets=
    shift
    ! grep -q petal_bloom.h "$example" || sets=petal-bloom
    # shellcheck disable=SC2086
    pkg-config --libs "$@" $sets petal
}

# Compile each example with compiler and options "$@", and run it with both libraries.
run_examples() {
    local source name kind
    for source in tests/examples/*.c; do
        name=$(basename "$source" .c)
        # shellcheck disable=SC2046,SC2086
        "$@" "$source" $warnings $(pkg-config --cflags petal) -c -o "$scratch/$name.o" || fail "$* $source"
        # shellcheck disable=SC2046
        "$linker" "$scratch/$name.o" $(libraries "$source") -o "$scratch/shared" || fail "$linker $name"
        # shellcheck disable=SC2046
        "$linker" -static "$scratch/$name.o" $(libraries "$source" --static) -o "$scratch/static" || fail "$linker -static $name"
        readelf -d "$scratch/shared" | grep -q "NEEDED.*\[$soname\]" || fail "$name does not ask for $soname"
        for kind in shared static; do
            rm -rf "$scratch/db"
            LD_LIBRARY_PATH=$([ $kind = static ] || echo "$library_path") "$scratch/$kind" "$scratch/db" >"$scratch/printed" ||
                fail "$name ($kind, $*) fails"
            diff "tests/examples/$name.out" "$scratch/printed" || fail "$name ($kind, $*) prints something else"
        done
        count=$((count + 1))
    done
}
count=0
export PKG_CONFIG_PATH=$staged$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$staged
library_path=$staged$prefix/lib
linker=${CC:-cc} && run_examples "${CC:-cc}" -std=c11
linker=c++ && run_examples c++ -std=c++17 -x c++
unset PKG_CONFIG_SYSROOT_DIR

# ---- manual pages ----

pages=$staged$prefix/share/man
for option in $("$shell" --help | grep -oE '(^| )-(-[a-z-]+|[a-z])\b' | sed 's/^ *-//' | LC_ALL=C sort -u); do
    grep -qE -- "(Fl|,) $option( |\$)" "$pages/man1/kv-shell.1" || fail "kv-shell.1 does not know -$option"
done
for command in $("$build/kv-bench" 2>&1 | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    grep -qE "^\.It Cm (.* )?$command( |\$)" "$pages/man1/kv-bench.1" || fail "kv-bench.1 does not know $command"
done
for command in verify dump salvage; do
    for option in $("$build/kv-check" $command --help | grep -oE '^  --[a-z-]+' | sed 's/^  -//'); do
        grep -qE "^\.It Fl $option( |\$)" "$pages/man1/kv-check.1" || fail "kv-check.1 does not know -$option"
    done
    grep -q "^\.It Cm $command" "$pages/man1/kv-check.1" || fail "kv-check.1 does not know $command"
done
for command in $("$build/kv-filter" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    for option in $("$build/kv-filter" "$command" --help | grep -oE '^  --?[a-z-]+' | sed 's/^  -//'); do
        grep -qE "Fl $option( |\$)" "$pages/man1/kv-filter.1" || fail "kv-filter.1 does not know -$option"
    done
    grep -q "^\.It Cm $command" "$pages/man1/kv-filter.1" || fail "kv-filter.1 does not know $command"
done
if [ -e "$build/kv-hfile" ]; then
    for command in print check import export; do
        for option in $("$build/kv-hfile" $command --help | grep -oE '(^|[[ ])--[a-z-]+' | grep -oE -- '-[a-z-]+$' | LC_ALL=C sort -u); do
            grep -qE "Fl ${option#-}( |\$)" "$pages/man1/kv-hfile.1" || fail "kv-hfile.1 does not know -$option"
        done
        grep -q "^\.It Cm $command" "$pages/man1/kv-hfile.1" || fail "kv-hfile.1 does not know $command"
    done
fi
run_make uninstall DESTDIR="$staged" PREFIX=$prefix
same "after uninstalling" "$(listing "$staged")" "$before"

# ---- into a prefix that is not there, libraries in a place of their own ----

other=$scratch/other
mkdir "$other"
prefix=$other/made/prefix
before=$(listing "$other")
places="PREFIX=$prefix LIBDIR=$prefix/lib/multi INCLUDEDIR=$other/headers/petal MANDIR=$prefix/man BINDIR=$prefix/programs"
# shellcheck disable=SC2086
run_make install $places
export PKG_CONFIG_PATH=$prefix/lib/multi/pkgconfig
library_path=$prefix/lib/multi
for compiler in clang clang++; do
    command -v $compiler >/dev/null || { echo "left out: there is no $compiler" && continue; }
    linker=$compiler
    if [ $compiler = clang ]; then run_examples clang -std=c11; else run_examples clang++ -std=c++17 -x c++; fi
done
"$prefix/programs/kv-shell" --version >/dev/null
# shellcheck disable=SC2086
run_make uninstall $places
same "after uninstalling" "$(listing "$other")" "$before"
echo "$count examples compiled from petal.pc, printed what they should; nothing stays after uninstalling"
