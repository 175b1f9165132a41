#!/usr/bin/env bash
# Compares the binary interface with petal.txt, petal-bloom.txt and petal-hfile.txt in this
# folder.
# Usage: abi.sh BUILD compare|accept|release
#   compare   explains each difference, its effect on programs, and the version it requires; exits 1
#             if there is any
#   accept    keeps the current interface
#   release   keeps it as that of a released version, with which later changes are compared
# README.md in this folder has the rules. Systems that are not LP64, or have no nm, are skipped with
# a line that says so.
set -eu
build=$1 mode=$2
here=$(dirname "$0")
number() { awk -v name="PETAL_VERSION_$1" '$2 == name { print $3 }' engine/petal.h; }
major=$(number MAJOR) minor=$(number MINOR) patch=$(number PATCH)
version=$major.$minor.$patch
failed=0

if [ "$(getconf LONG_BIT)" != 64 ] || ! command -v nm >/dev/null; then
    echo "SKIPPED: the binary interface (its list is that of 64-bit systems, and nm reads the names)"
    exit 0
fi

# The interface of library $1, whose headers are $3.., as a list; names that were in list $2 keep
# the version that added them.
list() {
    local library=$1 kept=$2
    shift 2
    cat <<END
# The binary interface of lib$library.so, on 64-bit Linux (LP64): what programs that are compiled rely on. A struct's lines have the
# place of a field, its bytes, its name and its type. tools/package/abi/README.md says what may change; \`make abi-accept\` writes this.
version $version
END
    nm -D --defined-only "$build/lib$library.so" | awk '$2 == "A" { print "names " $3 }'
    CC=${CC:-cc} "$here/list.sh" "$build/abi" "$build/lib$library.so" "$@" >"$build/abi/$library.bare" || return 1
    awk -v version="$version" '
        # The kept list, which may be missing, is recognized by the versions of its functions.
        FILENAME == ARGV[1] { if ($1 == "function") since[$2] = $4; next }
        $1 == "function" {
            name = $2
            sub(/:$/, "", name)
            rest = substr($0, index($0, ": ") + 2)
            print "function " name " since " (name in since ? since[name] : version ":") " " rest
            next
        }
        { print }' "$kept" "$build/abi/$library.bare"
}

# Is version $1.$2.$3 at least $4.$5.$6?
at_least() { [ $((($1 * 1000 + $2) * 1000 + $3)) -ge $((($4 * 1000 + $5) * 1000 + $6)) ]; }

# Does the header's version allow changes of kind $1 since released version $2?
version_stands_for() {
    local a b c
    IFS=. read -r a b c <<<"$2"
    case $1 in
    nothing) return 0 ;;
    addition) if [ "$a" = 0 ]; then c=$((c + 1)); else b=$((b + 1)) c=0; fi ;;
    *) if [ "$a" = 0 ]; then b=$((b + 1)); else a=$((a + 1)) b=0; fi; c=0 ;;
    esac
    wanted=$a.$b.$c
    at_least "$major" "$minor" "$patch" "$a" "$b" "$c"
}

one_library() {
    local library=$1 kept=$here/$1.txt released=$here/released/$1.txt kind wanted since
    shift
    if [ ! -e "$build/lib$library.so" ]; then
        echo "SKIPPED: the binary interface of lib$library.so (it is not built)"
        return
    fi
    mkdir -p "$build/abi"
    [ -e "$kept" ] || kept=/dev/null
    list "$library" "$kept" "$@" >"$build/abi/$library.txt" || { failed=1; return; }
    awk -f "$here/compare.awk" "$kept" "$build/abi/$library.txt" >"$build/abi/$library.changes"
    kind=$(sed -n 's/^asks for //p' "$build/abi/$library.changes")
    if [ -e "$released" ]; then
        since=$(sed -n 's/^version //p' "$released")
        awk -f "$here/compare.awk" "$released" "$build/abi/$library.txt" >"$build/abi/$library.since"
        kind=$(sed -n 's/^asks for //p' "$build/abi/$library.since")
        if ! version_stands_for "$kind" "$since"; then
            echo "lib$library.so against the released $since:"
            sed '/^asks for /d; s/^/  /' "$build/abi/$library.since"
            echo "  The strongest of these is of kind \"$kind\" and asks for version $wanted; engine/petal.h says $version."
            failed=1
            return
        fi
    fi
    case $mode in
    compare)
        if cmp -s "$kept" "$build/abi/$library.txt"; then
            echo "abi: lib$library.so is as $kept has it: $(grep -c '^function' "$kept") functions, $(grep -c '^struct' "$kept") structs, $(grep -c '^  *[0-9]* *[0-9]* .*:' "$kept") fields, $(grep -c '^  PETAL' "$kept") values"
        else
            echo "lib$library.so is not what $kept has:"
            sed '/^asks for /d; s/^/  /' "$build/abi/$library.changes"
            if [ "$(wc -l <"$build/abi/$library.changes")" = 1 ]; then diff "$kept" "$build/abi/$library.txt" | head -n 20 | sed 's/^/  /' || true; fi
            if [ -e "$released" ]; then
                echo "  Version $version stands for that, against the released $since. If it is meant, \`make abi-accept\` keeps it."
            else
                echo "  No version is released, so nothing is asked of the version. If it is meant, \`make abi-accept\` keeps it."
            fi
            failed=1
        fi
        ;;
    accept)
        [ "$kept" = /dev/null ] || sed '/^asks for /d; s/^/  /' "$build/abi/$library.changes"
        cp "$build/abi/$library.txt" "$here/$library.txt"
        echo "kept: $here/$library.txt"
        ;;
    release)
        if ! cmp -s "$kept" "$build/abi/$library.txt"; then
            echo "$kept is not what is built: \`make abi\` says in what, \`make abi-accept\` keeps it"
            failed=1
        else
            mkdir -p "$here/released"
            cp "$kept" "$released"
            echo "released as $version: $released"
        fi
        ;;
    *)
        echo "usage: abi.sh BUILD compare|accept|release" >&2
        exit 2
        ;;
    esac
}

one_library petal engine/petal.h
one_library petal-bloom bloom/petal_bloom.h
one_library petal-hfile tools/hfile/petal_hfile.h
exit $failed
