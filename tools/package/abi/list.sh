#!/usr/bin/env bash
# Prints the binary interface of a library as a readable list, one line for each function, field,
# value, constant and macro of its headers, with the compiler's sizes and offsets.
# Usage: list.sh SCRATCH LIBRARY HEADER... ; CC is the compiler.
# Exits 1 when the library exports other names than the headers declare.
set -eu
scratch=$1 library=$2
shift 2
here=$(dirname "$0")
read -r -a compiler <<<"${CC:-cc}"
# Installed headers are in one directory.
paths=(-Iengine -Ibloom -Itools/hfile -I"$here")
names=()
for header in "$@"; do names+=("$(basename "$header")"); done
{
    echo '#include "print.c.in"'
    for name in "${names[@]}"; do echo "#include <$name>"; done
} >"$scratch/headers.c"
{
    cat "$scratch/headers.c"
    echo "int main(void) {"
    "${compiler[@]}" -std=c11 "${paths[@]}" -E "$scratch/headers.c" | awk -v OWN="${names[*]}" -f "$here/declared.awk"
    # Constants: macros defined as a value. PETAL_VERSION_ is at the head of the list; the others
    # direct the compiler.
    sed -nE 's/^#define (PETAL_[A-Z0-9_]+)[ \t]+[^ \t].*/\1/p' "$@" |
        grep -vE '^PETAL_(VERSION_(MAJOR|MINOR|PATCH)|API|MUST_CHECK|DEFAULTS)$' | sed 's/.*/    CONSTANT(&);/'
    echo "    return 0;"
    echo "}"
} >"$scratch/list.c"
"${compiler[@]}" -std=c11 "${paths[@]}" "$scratch/list.c" -o "$scratch/list"
"$scratch/list" >"$scratch/listed"
declared=$(sed -n 's/^function \([a-z_0-9]*\):.*/\1/p' "$scratch/listed" | LC_ALL=C sort)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort)
if [ "$declared" != "$exported" ]; then
    comm -3 <(echo "$declared") <(echo "$exported") |
        sed -e "s/^\t\(.*\)/\1 is exported by $(basename "$library"), and no header declares it/;t" \
            -e "s/.*/& is declared, and $(basename "$library") does not export it/" >&2
    exit 1
fi
cat "$scratch/listed"
# The text of each macro, one after the other if a name is defined more than once, for C++ or
# another compiler. The results of lists that take a macro X are above, as enumerators and fields;
# macros that are undefined again are not part of the interface.
awk '
    FNR == 1 && carried != "" { line(carried); carried = "" }
    { carried = carried $0 }
    sub(/\\$/, "", carried) { next }
    { line(carried); carried = "" }
    function line(text,    name) {
        gsub(/\/\*([^*]|\*+[^*\/])*(\*+\/|$)/, " ", text)
        gsub(/[ \t]+/, " ", text)
        sub(/ $/, "", text)
        if (text ~ /^# ?undef PETAL_/) { sub(/^# ?undef /, "", text); delete texts[text]; return }
        if (text !~ /^# ?define PETAL_/ || text ~ /^[^(]*\(X\)/) return
        sub(/^# ?define /, "", text)
        match(text, /^[A-Z_0-9]+/)
        name = substr(text, 1, RLENGTH)
        if (name ~ /_H$/ || name ~ /^PETAL_VERSION_(MAJOR|MINOR|PATCH)$/) return
        text = substr(text, RLENGTH + 1)
        sub(/^ /, "", text)
        if (name in texts) {
            texts[name] = texts[name] " | " text
            return
        }
        names[++count] = name
        texts[name] = text
    }
    END { for (i = 1; i <= count; i++) if (names[i] in texts) print "macro " names[i] ": " texts[names[i]] }' "$@"
