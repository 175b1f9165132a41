#!/usr/bin/env bash
# The manual: each exported call has a page that says what it does and returns; references between
# pages lead somewhere; pages are well formed and fit 80 columns; the guides' examples are programs
# that print what the guide says. Usage: manual_test.sh KV-SHELL (installs the build in its folder
# into a temporary directory)
set -eu
build=$(dirname "${1:?usage: manual_test.sh KV-SHELL}")
if [ -n "${SANITIZE:-}" ]; then
    echo "left out: a library with sanitizers is not installed"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "manual_test: $*"
    exit 1
}
prefix=$scratch/prefix
tests/package/put_build.sh "$build" "$prefix" "$scratch" || fail "install.sh"
pages=$prefix/share/man
cd "$pages"

# ---- complete ----

calls=0
for library in "$prefix"/lib/libpetal*.so; do
    for name in $(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }'); do
        page=man3/$name.3
        [ -s "$page" ] || fail "$name has no page"
        read -r request other <"$page"
        if [ "$request" = .so ]; then
            page=$other
            [ -s "$page" ] || fail "$name leads to $page, which is not there"
        fi
        grep -qE "^\.Nm $name( ,)?\$" "$page" || fail "$page does not name $name"
        grep -qE "^\.Fo $name\$" "$page" || fail "$page does not declare $name"
        [ "$(sed -n '/^\.Sh DESCRIPTION/,/^\.Sh RETURN/p' "$page" | grep -cE '^[^.]')" -ge 1 ] || fail "$page says nothing of $name"
        [ "$(sed -n '/^\.Sh RETURN/,/^\.Sh SEE/p' "$page" | grep -cE '^[^.]')" -ge 1 ] || fail "$page does not say what $name gives back"
        calls=$((calls + 1))
    done
done
# The page of a type has all of its members.
for struct in petal_options petal_read_options petal_stats petal_bloom_options; do
    header=$prefix/include/petal.h
    [ $struct != petal_bloom_options ] || header=$prefix/include/petal_bloom.h
    want=$(sed -nE "/^typedef struct $struct \{/,/^}/s/^    ([a-z_][a-z_0-9 *]*[ *][a-z_0-9]+(\[[A-Z_]+\])?);.*/\1/p" "$header")
    while read -r member; do
        grep -qF ".It Va \"$member\"" "man3/$struct.3" || fail "$struct.3 lacks $member"
    done <<<"$want"
done
# Tables of the header stay tables; text under a heading does not repeat it.
for line in '^only if unchanged    .*petal_kv_put_if_absent' '^ {21}.*petal_kv_compare_and_swap'; do
    grep -qE "$line" man3/petal_kv.3 || fail "petal_kv.3 has no line \"$line\""
done
grep -qE '^RandomRowFilter      BYTES' man3/petal_filter_make.3 || fail "petal_filter_make.3 runs its table together"
[ "$(grep -A 1 '^\.Ss' man3/petal_conventions.3 | grep -cE '^(\.Bd|[A-Z]{2,}[,:])')" = 0 ] || fail "petal_conventions.3 under its headings"
# The page of the header's opening comment omits the contents of the file, and has the rule of
# PETAL_LATEST.
! grep -qE 'Contents|Below the first steps|differences from HBase, failures' man3/petal_conventions.3 || fail "petal_conventions.3 has the contents of the header"
grep -qF 'As the timestamp of a write, PETAL_LATEST' man3/petal_conventions.3 || fail "petal_conventions.3 lacks the rule of PETAL_LATEST"
# Where a description says what a failed call returns, the general sentence does not deny it.
for page in petal_delete_rows petal_kv_delete_range; do
    grep -q 'set only where the description says so' "man3/$page.3" || fail "$page.3 denies its description"
done
! grep -l 'nothing else is given back' man3/* || fail "a page denies what its description may say"
long=$(awk 'length > 100 { print FILENAME ":" FNR }' "$prefix"/include/*.h)
[ -z "$long" ] || fail "longer than 100 columns: $long"
# A page's name says what the thing is, not how it fails.
bad=$(grep -HE '^\.Nd (PETAL_[A-Z]|true|false|costs|at any)' man3/*.3 || true)
[ -z "$bad" ] || fail "names of pages: $bad"
for reference in $(sed -nE 's/^\.Xr ((petal|kv)[a-z0-9_-]*) ([13]).*/man\3\/\1.\3/p' man?/* | sort -u); do
    [ -e "$reference" ] || [[ ! -e man3/petal_hfile.3 && $reference = *hfile* ]] || fail "a page refers to $reference, which is not there"
done

# ---- well formed ----

mapfile -t whole < <(grep -L '^\.so ' man?/*)
if command -v mandoc >/dev/null; then
    warned=$(mandoc -Tlint -Wwarning "${whole[@]}" 2>&1 | grep "^mandoc: man" || true)
    [ -z "$warned" ] || fail "$(head -n 20 <<<"$warned")"
else
    echo "SKIPPED: pages as mandoc sees them (there is no mandoc)"
fi
if command -v groff >/dev/null; then
    warned=$(groff -mandoc -Tutf8 -rLL=80n -ww -z "${whole[@]}" 2>&1)
    [ -z "$warned" ] || fail "$(head -n 20 <<<"$warned")"
    wide=$(for page in man3/petal_{kv,filter_make,open,options,get,stats,conventions,cursor_next_many,status,table_snapshot_restore,receipt_source}.3 man3/petal.3; do
        GROFF_NO_SGR=1 groff -mandoc -Tascii -rLL=78n -P-cbou "$page" | awk -v page="$page" 'length > 80 { print page ": " $0 }'
    done)
    [ -z "$wide" ] || fail "wider than 80 columns: $wide"
else
    echo "SKIPPED: pages as groff sees them (there is no groff)"
fi
cd "$OLDPWD"

# ---- the guides' examples ----

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# Makes the C of guide $1 program $scratch/$1, linked with library $2.
program() {
    awk '/^\.Ed/ {inside = 0} inside; /^\.Bd -literal/ {inside = 1}' "$pages/man3/$1.3" |
        sed -e 's/\\e/\\/g' -e "s|/tmp/example|$scratch/db|" >"$scratch/$1.c"
    # shellcheck disable=SC2046
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror "$scratch/$1.c" $(pkg-config --cflags --libs "$2") -Wl,-rpath,"$prefix/lib" \
        -o "$scratch/$1" || fail "the example in $1.3"
}
program petal petal
for run in first second; do
    printed=$("$scratch/petal") || fail "the $run run of the example in petal.3 ends with $?"
    # The comments after the lines that print.
    while read -r said; do
        grep -qF "$said" <<<"$printed" || fail "the example in petal.3 does not print \"$said\", in the $run run, but: $printed"
    done < <(sed -nE '/show\(|\.data\);|if \(source/s/.*\/\* (.*) \*\/$/\1/p' "$scratch/petal.c")
done
program petal_bloom petal-bloom
printed=$("$scratch/petal_bloom" a b a)
[ "$printed" = "a came before, almost surely" ] || fail "the example in petal_bloom.3 printed: $printed"
echo "$calls calls have pages; the guides' examples print what they say"
