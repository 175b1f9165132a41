#!/usr/bin/env bash
# README's two commands on a minimal Debian 12 that has git and make and none of Petal's other
# dependencies: fresh.sh WORD... `demo` is `make deps demo`, `test` is `make deps test`; `gcc+demo`,
# `gcc+test`: on a machine that already has a compiler. Each word gets a fresh system and a clean
# clone of the commit.
#
# debootstrap makes the minimal system from the mirror that apt uses here. It is kept, with the
# fetched packages and the logs, in FRESH_ROOT, else in TMPDIR. Each run has its own namespaces: its
# mounts and processes end with it. Exit status: 0 all passed, or SKIPPED with the name of what is
# missing; 1 one failed; 2 usage.
set -u
cd "$(dirname "$0")/../.." || exit 2
kept=${FRESH_ROOT:-${TMPDIR:-/tmp}/petal-fresh}
skip() {
    echo "SKIPPED: $1"
    exit 0
}
for word in "${@:-demo}"; do
    case $word in
    demo | test | gcc+demo | gcc+test) ;;
    *) echo "usage: fresh.sh [demo|test|gcc+demo|gcc+test]..." >&2 && exit 2 ;;
    esac
done
[ "$(id -u)" = 0 ] || skip root
command -v debootstrap >/dev/null || skip debootstrap
unshare -m -p -f true 2>/dev/null || skip namespaces
mkdir -p "$kept/archives/partial" || exit 2
exec 9>"$kept/lock"
flock 9

# Run command $2 in the system at $1.
inside() {
    unshare -m -p -f --kill-child --mount-proc="$1/proc" bash -eu -c '
        mount --bind /dev "$1/dev"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
        mount -t tmpfs tmpfs "$1/dev/shm"
        mount --bind "$2" "$1/var/cache/apt/archives"
        chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=xterm \
            ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} sh -c "$3"
    ' inside "$1" "$kept/archives" "$2" </dev/null
}

clean=$kept/clean
if [ ! -f "$kept/clean.whole" ]; then
    rm -rf --one-file-system "$clean"
    # Of the sources of security updates none is a mirror of the whole.
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -v security | head -n 1)
    # shellcheck disable=SC2086
    debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$clean" $mirror >"$kept/debootstrap.log" 2>&1 || {
        tail -n 1 "$kept/debootstrap.log"
        skip network
    }
    # How this machine reaches the mirror.
    apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|Retries|ForceIPv)' >"$clean/etc/apt/apt.conf.d/00outside"
    touch "$kept/clean.whole"
fi
cp -L /etc/resolv.conf /etc/hosts "$clean/etc/"
[ -z "$(git status --porcelain)" ] || echo "what is not committed is not tried"

system=$kept/system
failed=0
for word in "${@:-demo}"; do
    rm -rf --one-file-system "$system"
    cp -a "$clean" "$system" && git clone -q . "$system/petal" || exit 2
    log=$kept/$word.log
    if ! inside "$system" 'apt-get update -q -o APT::Update::Error-Mode=any -o Dir::State::lists=/var/tmp' >"$log" 2>&1; then
        tail -n 3 "$log"
        skip network
    fi
    if [ "$word" != "${word#gcc+}" ]; then
        inside "$system" 'apt-get update -q && apt-get install -y -q --no-install-recommends gcc libc6-dev' >"$log" 2>&1 ||
            { tail -n 3 "$log" && skip network; }
    fi
    started=$SECONDS
    inside "$system" "cd /petal && make deps ${word#gcc+}" >"$log" 2>&1
    status=$?
    echo "on a fresh Debian$([ "$word" = "${word#gcc+}" ] || echo " with a compiler"): make deps ${word#gcc+}: exit status $status, $((SECONDS - started)) s"
    if [ $status != 0 ]; then
        grep -vE '^ *(CC|LINK|AR|LD|LN) |^ok  ' "$log" | tail -n 40
        failed=1
    fi
    grep -E '^ +(counted|SKIPPED): |^[0-9]+ passed' "$log"
done
rm -rf --one-file-system "$system"
exit $failed
