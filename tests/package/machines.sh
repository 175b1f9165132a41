#!/usr/bin/env bash
# machines.sh: tests formats, filters, model and threads on other machines: big-endian s390x and
# arm64 under qemu, and here with both signs of char, without the processor's wide instructions and
# with the widest that compilers use.
# Usage: machines.sh BUILD
# SYSROOT_S390X, SYSROOT_ARM64: directories with the machine's libc, liblz4, libxxhash, libpcre2 and
# libcmocka with their headers: Debian's packages, fetched by `apt-get download NAME:s390x` and
# unpacked there by `dpkg -x`, or made by debootstrap --foreign --arch=s390x. The cross compilers
# are gcc-s390x-linux-gnu and gcc-aarch64-linux-gnu. Missing machines are SKIPPED. qemu shows only
# the reorderings of the host processor, not those of arm64: `make schedules` finds memory orders
# that are too weak.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${1:-build}
bits="base/checksum bloom/bitmap/bitmap bloom/bitmap/bitmap2 bloom/distinct/distinct bloom/format bloom/bloom bloom/growing bloom/probes bloom/ribbon bloom/golden bloom/filter/model bloom/filter/growing bloom/filter/probes sstable/golden sstable/bloom sstable/probes sstable/prefix sstable/data_block memtable/cell_tree memtable/memtable model/random"
threads="base/epoch bloom/filter/threads memtable/race cache/threads threads/linearizable"
failed=0
# NAME BUILD RUN... : runs the tests of the build
run() {
    local name=$1 folder=$2 test began
    shift 2
    for test in $bits $threads; do
        began=$SECONDS
        if PETAL_SHORT=1 PETAL_OPERATIONS=${PETAL_OPERATIONS:-3000} PETAL_PROBES=${PETAL_PROBES:-1000000} LINEARIZABLE_SECONDS=5 \
            timeout 900 "$@" "$folder/tests/${test}_test" >"$folder/log" 2>&1; then
            echo "ok    $name $test $((SECONDS - began)) s"
        else
            echo "FAIL  $name $test"
            tail -n 20 "$folder/log"
            failed=1
        fi
    done
}
# NAME BUILD VARIABLE... : builds the tests
make_tests() {
    local name=$1 folder=$2 test targets=()
    shift 2
    mkdir -p "$folder"
    for test in $bits $threads; do targets+=("$folder/tests/${test}_test"); done
    make --no-print-directory -j"$(nproc)" BUILD="$folder" "$@" "${targets[@]}" >"$folder/log" 2>&1 && return
    echo "FAIL  $name does not build"
    grep -vE '^  [A-Z]+ ' "$folder/log" | tail -n 20
    failed=1
    return 1
}
# NAME TRIPLET QEMU SYSROOT
other_machine() {
    local name=$1 triplet=$2 qemu=$3 root=$4 flags
    if ! command -v "$qemu" >/dev/null; then echo "SKIPPED: $name: no $qemu"; return; fi
    if ! command -v "$triplet-gcc" >/dev/null; then echo "SKIPPED: $name: no $triplet-gcc"; return; fi
    if [ ! -d "$root/usr/include" ]; then echo "SKIPPED: $name: no SYSROOT_${name^^}"; return; fi
    flags="-L$root/usr/lib/$triplet -L$root/lib/$triplet -Wl,-rpath-link,$root/usr/lib/$triplet:$root/lib/$triplet"
    make_tests "$name" "$build/$name" CC="$triplet-gcc -isystem $root/usr/include" AR="$triplet-ar" LD="$triplet-ld" LDFLAGS="$flags" &&
        run "$name" "$build/$name" "$qemu" -L "$root"
}
# NAME FLAGS: this machine; threads are in `make test`
this_machine() {
    local threads=""
    make_tests "$1" "$build/$1" CFLAGS="$2" && run "$1" "$build/$1" env
}
wanted=${MACHINES:-s390x arm64 signed unsigned narrow wide}
for machine in $wanted; do
    case $machine in
    s390x) other_machine s390x s390x-linux-gnu qemu-s390x "${SYSROOT_S390X:-}" ;;
    arm64) other_machine arm64 aarch64-linux-gnu qemu-aarch64 "${SYSROOT_ARM64:-}" ;;
    signed) this_machine signed -fsigned-char ;;
    unsigned) this_machine unsigned -funsigned-char ;;
    narrow) if [ "$(uname -m)" = x86_64 ]; then this_machine narrow "-U__SSE2__ -DPETAL_NARROW"; fi ;;
    wide) if grep -qw avx2 /proc/cpuinfo; then this_machine wide "-mavx2 -mbmi2"; else echo "SKIPPED: wide: no avx2"; fi ;;
    *) echo "machines.sh: s390x, arm64, signed, unsigned, narrow, wide, not $machine"; exit 2 ;;
    esac
done
exit $failed
