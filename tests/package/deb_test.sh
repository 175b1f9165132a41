#!/usr/bin/env bash
# `make deb` builds packages that can be installed beside what this system has, hold what they
# should, work, and leave nothing when they are removed; built again they are the same bytes.
# Usage: deb_test.sh KV-SHELL (its folder takes the packages' build, too)
set -eu
shell=${1:?usage: deb_test.sh KV-SHELL}
build=$(dirname "$shell")
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: no packages are made of a build with sanitizers"
    exit 0
fi
for tool in dpkg dpkg-deb dpkg-shlibdeps dpkg-gencontrol dpkg-buildflags; do
    command -v $tool >/dev/null || { echo "left out: there is no $tool" && exit 0; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL CC PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR MANDIR CFLAGS CPPFLAGS LDFLAGS
fail() {
    echo "deb_test: $*"
    exit 1
}
make_packages() { make -s -j"$(nproc)" BUILD="$build" deb >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log" && fail "make deb"; }; }
sums() { (cd "$build/deb" && sha256sum ./*.deb); }

make_packages
first=$(sums)
make_packages
[ "$first" = "$(sums)" ] || fail "the same sources give other packages"
packages=(libpetal0 libpetal-dev petal-tools libpetal-bloom0 libpetal-bloom-dev)
# Not everywhere is there what the library of HBase's files needs.
hfile=()
if [ -e "$build/kv-hfile" ]; then
    packages+=(libpetal-hfile0 libpetal-hfile-dev)
    hfile=(bin/kv-hfile include/petal_hfile.h share/man/man1/kv-hfile.1.gz share/man/man3/petal_hfile.3.gz
        lib/"$(dpkg-architecture -qDEB_HOST_MULTIARCH)"/{libpetal-hfile.{a,so,so.0},pkgconfig/petal-hfile.pc})
fi
[ "$(wc -l <<<"$first")" = ${#packages[@]} ] || fail "not ${#packages[@]} packages: $first"

# ---- a system of its own that has what the packages need, as far as this one has it ----

root=$scratch/root
admin=$root/var/lib/dpkg
mkdir -p "$admin/info" "$admin/updates" "$admin/triggers"
for package in $(for deb in "$build"/deb/*.deb; do dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/ *(.*//; s/ //g'; done | sort -u); do
    case $package in libpetal*) continue ;; esac
    dpkg-query -s "$package" 2>/dev/null || fail "$package, on which the packages depend, is not installed"
    echo
    : >"$admin/info/$(dpkg-query -W -f '${binary:Package}' "$package").list"
done >"$admin/status"
# dpkg gives files to root, or believes it does.
as_root=()
if [ "$(id -u)" != 0 ]; then
    if command -v fakeroot >/dev/null; then
        as_root=(fakeroot)
    elif unshare -r true 2>/dev/null; then
        as_root=(unshare -r)
    else
        echo "built twice the packages are the same; left out: installing them wants root or fakeroot"
        exit 0
    fi
fi
try() { PATH=$PATH:/usr/sbin:/sbin "${as_root[@]}" dpkg --root="$root" --log="$scratch/dpkg.log" --force-not-root "$@" >"$scratch/log" 2>&1; }
mine() {
    try "$@" || { cat "$scratch/log" && fail "dpkg $*"; }
}
files() { (cd "$root" && find . -path ./var/lib/dpkg -prune -o -print | LC_ALL=C sort); }
before=$(files)
mine -i "$build"/deb/*.deb
mine -V "${packages[@]}"
[ ! -s "$scratch/log" ] || fail "files that are not as packed: $(cat "$scratch/log")"

multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
for file in bin/kv-{shell,bench,check,filter} include/petal.h include/petal_bloom.h share/man/man1/kv-{shell,bench,check,filter}.1.gz \
    share/man/man3/{petal,petal_open}.3.gz share/man/man3/petal_bloom.3.gz lib/"$multiarch"/libpetal{,-bloom}.{a,so,so.0} lib/"$multiarch"/{pkgconfig/petal{,-bloom}.pc,cmake/petal/petal-config.cmake} "${hfile[@]}" \
    share/doc/{libpetal0,libpetal-dev,petal-tools,libpetal-bloom0,libpetal-bloom-dev}/{copyright,changelog.gz} share/doc/libpetal-dev/examples/key_value.c; do
    [ -s "$root/usr/$file" ] || fail "/usr/$file is in no package"
done
export LD_LIBRARY_PATH=$root/usr/lib/$multiarch
ldd "$root/usr/bin/kv-shell" | grep -q "libpetal.so.0 => $root/" || fail "kv-shell does not use the packaged library"
printed=$("$root/usr/bin/kv-shell" --no-took "$scratch/db" -e "create 't', 'f'" -e "put 't', 'r', 'f:q', 'v', 1" -e "get 't', 'r'")
grep -q 'f:q .*value=v' <<<"$printed" || fail "kv-shell prints: $printed"
"$root/usr/bin/kv-bench" 2>&1 | grep -q readamp || fail "kv-bench does not run"
"$root/usr/bin/kv-check" verify "$scratch/db" | grep -q '^sound$' || fail "kv-check does not run"
[ "$(printf '2\n1\n2\n' | "$root/usr/bin/kv-filter" integers sort | tr '\n' ' ')" = '1 2 ' ] || fail "kv-filter does not run"

[ -z "${hfile[*]}" ] || "$root/usr/bin/kv-hfile" --help 2>&1 | grep -q import || fail "kv-hfile does not run"

# What a program needs that uses the packaged library, as dpkg tells it: the version in which the
# newest name came, and no other series.
mkdir -p "$scratch/program/debian"
: >"$scratch/program/debian/control"
"${CC:-cc}" -I"$root/usr/include" tests/package/projects/store.c -L"$LD_LIBRARY_PATH" -lpetal -o "$scratch/program/store"
stage=$(realpath "$build/deb/stage/libpetal0")
needs=$(cd "$scratch/program" && dpkg-shlibdeps -O -S"$stage" -l"$stage/usr/lib/$multiarch" -e store 2>"$scratch/log") ||
    { cat "$scratch/log" && fail "dpkg-shlibdeps"; }
grep -qE 'libpetal0 \(>= 0\.[0-9.]+\), libpetal0 \(<< 0\.[0-9]+~\)' <<<"$needs" || fail "a program needs $needs"
if command -v cmake >/dev/null; then
    cmake -S tests/package/projects/cmake -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$root/usr" >"$scratch/log" 2>&1 &&
        cmake --build "$scratch/cmake" --parallel 2 >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" && fail "CMake with the packages"; }
    [ "$("$scratch/cmake/store" "$scratch/cmake-db")" = "name = Ada" ] || fail "a program of CMake's does not run"
fi

# The library alone cannot go while the others need it.
if try -r libpetal0; then
    fail "libpetal0 goes while petal-tools is there"
fi
mine -P "${packages[@]}"
[ "$(files)" = "$before" ] || fail "what stays after removal: $(diff <(echo "$before") <(files))"
echo "${#packages[@]} packages install, work, verify and go; built twice they are the same"
