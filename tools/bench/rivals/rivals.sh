#!/bin/sh
# rivals.sh -- brings LevelDB and RocksDB without assertions (Debian's packages have them on) into
# DIR/leveldb and DIR/rocksdb, each with include/ and lib/, as the Makefile's LEVELDB_DIR and
# ROCKSDB_DIR want them. What is there already stays.
#
#     tools/bench/rivals/rivals.sh DIR
#
# LevelDB is built from Debian's source package. RocksDB is the release build that its Java package
# carries, where Maven is there to bring it, with the header of Debian's package, which is of the
# same version; else, or with ROCKSDB_FROM=source, it is built from Debian's source package, too,
# which takes an hour of processor time. Wants a network, cmake and a C++ compiler, and of Debian's
# packages dpkg-dev, librocksdb-dev, libsnappy-dev, liblz4-dev. Where the machine's apt fetches from
# is read from APT_SETTINGS=/etc/apt, and nothing is written there. Exit status 1: one of both could
# not be brought; what went wrong is said.
set -u
export LC_ALL=C
out=${1:?usage: rivals.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
settings=${APT_SETTINGS:-/etc/apt}
include=${ROCKSDB_INCLUDE:-/usr/include/rocksdb}
mkdir -p "$out/work" || exit 1
out=$(cd "$out" && pwd)
work=$out/work
log=$work/log
: >"$log"

say() { echo "rivals: $*" >&2; }

# What the last command said, and in plain words what it means.
fail() {
    tail -n 5 "$log" | sed 's/^/    /' >&2
    say "$*"
    return 1
}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { say "$tool is missing. On Debian: apt-get install cmake dpkg-dev g++"; return 1; }
    done
}

# ---- Debian's source packages ----

# The machine's own sources, asked for source packages; a place that is not Debian's may have none,
# which does no harm.
source_list() {
    rm -rf "$work/apt"
    mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" || return 1
    : >"$work/apt/list"
    for file in "$settings/sources.list" "$settings"/sources.list.d/*.list; do
        [ -f "$file" ] && sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" >>"$work/apt/list"
    done
    for file in "$settings"/sources.list.d/*.sources; do
        [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/apt/parts/$(basename "$file")"
    done
    [ -s "$work/apt/list" ] || [ -n "$(ls "$work/apt/parts")" ] || fail "no place to fetch from is named in $settings"
}

listed= # they were fetched

# With lists of its own, so that neither root's rights nor the machine's lists are needed.
apt() {
    sandbox=
    [ "$(id -u)" = 0 ] && sandbox="-o APT::Sandbox::User=root"
    # shellcheck disable=SC2086
    apt-get -q $sandbox -o Dir::Etc::SourceList="$work/apt/list" -o Dir::Etc::SourceParts="$work/apt/parts" \
        -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o Debug::NoLocking=1 "$@" >>"$log" 2>&1
}

# The source of package $1, unpacked into $work/$1. apt checks who signed it.
source_of() {
    need apt-get dpkg-source || return 1
    rm -rf "${work:?}/$1" "$work/$1".packed
    mkdir -p "$work/$1.packed"
    if [ -z "$listed" ]; then
        source_list || return 1
        apt update || : # a place without source packages does no harm; whether it was enough the next command tells
        listed=1
    fi
    (cd "$work/$1.packed" && apt source --download-only "$1") ||
        fail "apt-get does not bring Debian's source of $1. Is there a network?" || return 1
    dpkg-source --no-check -x "$work/$1.packed"/*.dsc "$work/$1" >>"$log" 2>&1 || fail "the source of $1 does not unpack"
}

# Configure and build target $2 of what is unpacked in $work/$1, with what follows as CMake's
# settings.
build() {
    name=$1 target=$2
    shift 2
    need cmake || return 1
    cmake -S "$work/$name" -B "$work/$name.build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib "$@" >>"$log" 2>&1 ||
        fail "CMake does not configure $name" || return 1
    cmake --build "$work/$name.build" --parallel "$(nproc)" --target "$target" >>"$log" 2>&1 || fail "$name does not build; all of it: $log"
}

# ---- the two ----

# It appears under its name when it is whole, with a header that is newer than what was built
# without it.
finish() {
    touch "$work/$1.made/include/$1/c.h" || return 1
    rm -rf "${out:?}/$1" && mv "$work/$1.made" "$out/$1" || return 1
    rm -rf "$work/$1" "$work/$1.packed" "$work/$1.build" "$work/${1}_"*
    say "$1 without assertions: $out/$1"
}

leveldb() {
    say "LevelDB: from Debian's source"
    source_of leveldb || return 1
    build leveldb all -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DLEVELDB_BUILD_TESTS=OFF \
        -DLEVELDB_BUILD_BENCHMARKS=OFF -DHAVE_CRC32C=0 -DHAVE_TCMALLOC=0 || return 1
    rm -rf "$work/leveldb.made"
    cmake --install "$work/leveldb.build" --prefix "$work/leveldb.made" >>"$log" 2>&1 || fail "LevelDB does not install" || return 1
    finish leveldb
}

rocksdb_from_source() {
    say "RocksDB: from Debian's source. That takes an hour of processor time; with Maven (apt-get install maven) it takes seconds"
    source_of rocksdb || return 1
    build rocksdb rocksdb-shared -DWITH_TESTS=OFF -DWITH_BENCHMARK_TOOLS=OFF -DWITH_CORE_TOOLS=OFF -DWITH_TOOLS=OFF -DWITH_GFLAGS=OFF \
        -DWITH_LZ4=ON -DWITH_SNAPPY=ON -DPORTABLE=ON -DUSE_RTTI=ON -DFAIL_ON_WARNINGS=OFF || return 1
    rm -rf "$work/rocksdb.made"
    mkdir -p "$work/rocksdb.made/lib"
    cp -r "$work/rocksdb/include" "$work/rocksdb.made/include" && cp -P "$work/rocksdb.build"/librocksdb.so* "$work/rocksdb.made/lib/" ||
        return 1
    finish rocksdb
}

# The version of the header, which is to be the library's.
header_version() {
    awk '$2 ~ /^ROCKSDB_(MAJOR|MINOR|PATCH)$/ { v = v (v == "" ? "" : ".") $3 } END { print v }' "$include/version.h" 2>/dev/null
}

rocksdb_from_maven() {
    version=$(sed -n 's/.*<version>\(.*\..*\)<\/version>.*/\1/p' "$here/pom.xml")
    case $(uname -m) in
    x86_64) library=librocksdbjni-linux64.so sum=8006acf5f8869abadcc1ebe378e8ec1c77a60dc432900ce74d0ca8036dfa4f35 ;;
    aarch64) library=librocksdbjni-linux-aarch64.so sum=3181c76203219ac7dec5437ef0d217ebe21191b00fdec4cfa04ff94865c0a080 ;;
    *)
        say "RocksDB's Java package has no library for $(uname -m) of which the checksum is known"
        return 2
        ;;
    esac
    if [ "$(header_version)" != "$version" ]; then
        say "the header of librocksdb-dev is of version $(header_version), the library that Maven brings of $version"
        return 2
    fi
    say "RocksDB: $version, the release build in its Java package"
    rm -rf "$work/jar" "$work/rocksdb.made"
    mvn -q -B -f "$here/pom.xml" dependency:unpack-dependencies -DoutputDirectory="$work/jar" -Dmdep.unpack.includes=$library \
        -DmarkersDirectory="$work/jar" >>"$log" 2>&1 || fail "Maven does not bring RocksDB. Is there a network?" || return 1
    [ "$(sha256sum <"$work/jar/$library" | cut -d ' ' -f 1)" = $sum ] || fail "$library is not what is known of RocksDB $version" || return 1
    mkdir -p "$work/rocksdb.made/lib" "$work/rocksdb.made/include/rocksdb"
    cp "$work/jar/$library" "$work/rocksdb.made/lib/librocksdb.so" &&
        cp "$include/c.h" "$include/version.h" "$work/rocksdb.made/include/rocksdb/" || return 1
    rm -rf "$work/jar"
    finish rocksdb
}

rocksdb() {
    status=2
    if [ "${ROCKSDB_FROM:-}" != source ] && command -v mvn >/dev/null; then
        rocksdb_from_maven
        status=$?
    fi
    [ $status -ne 2 ] && return $status
    rocksdb_from_source
}

failed=0
for name in leveldb rocksdb; do
    if [ -d "$out/$name/lib" ]; then
        say "$name without assertions is there: $out/$name"
    else
        $name || failed=1
    fi
done
exit $failed
