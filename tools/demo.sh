#!/bin/sh
# demo.sh -- loads the index of Debian packages into four tables, one for each kind of Bloom filter,
# and shows on one screen what lookups cost in each, beside what is to be expected.
#
#     tools/demo.sh KV-SHELL [DIR]
#
# Each table is imported in 6 parts: the fields of one package fall into different parts, and a
# flush ends each part, so every family gets 6 store files whose row ranges overlap; --no-compaction
# keeps them apart.  Then each field of the index is compared with each table, and the rows and
# fields are counted; the demo fails if one differs, or if lookups read other blocks than expected.
# DIR is made anew and kept; without it a temporary directory serves, and goes at the end.
set -eu
shell=${1:?usage: demo.sh KV-SHELL [DIR]}
characters=$(locale charmap 2>/dev/null || :) # what bars are made of
export LC_ALL=C
parts=6
tables='none row rowcol row_rowcol'
packages_asked=600

if [ $# -ge 2 ]; then
    dir=$2
    if [ -e "$dir" ] && [ ! -e "$dir/made-by-petal-demo" ]; then
        echo "demo: $dir exists and is not a demo's; remove it, or name another directory" >&2
        exit 2
    fi
    rm -rf "$dir"
    mkdir -p "$dir"
else
    dir=$(mktemp -d "${TMPDIR:-/tmp}/petal-demo.XXXXXX")
    trap 'rm -rf "$dir"' EXIT
    trap 'exit 1' HUP INT TERM
fi
: >"$dir/made-by-petal-demo"
index=$dir/packages
table_file=$dir/packages.csv

# An index of 20,000 packages with fields like Debian's.
generate_index() {
    awk 'BEGIN {
        srand(1)
        for (i = 0; i < 20000; i++) {
            printf "Package: p%05d\nVersion: %d.%d-%d\n", (i * 7919) % 20000, i % 9, i % 31, i % 4
            printf "Installed-Size: %d\nArchitecture: amd64\nSection: s%d\nPriority: optional\n", i * 13, i % 40
            printf "Maintainer: Team %d <team%d@example.org>\nSize: %d\n", i % 300, i % 300, i * 977
            if (i % 5) printf "Depends: p%05d, p%05d (>= %d)\n", i / 2, i / 3, i % 7
            if (i % 3 == 0) printf "Suggests: p%05d\n", i / 5
            if (i % 50 == 0) printf "Enhances: p%05d\n", i / 6
            if (i % 7 == 0) printf "Homepage: https://example.org/%d\n", i
            printf "Description: package number %d\n with a longer text\n .\n of some lines\n", i
            printf "Filename: pool/%d/%d.deb\nSHA256:", i % 26, i
            for (j = 0; j < 8; j++) printf "%s%08x", j ? "" : " ", int(rand() * 4294967295)
            printf "\n\n"
        }
    }'
}

# The index as a table of csv for import: a line for each package, a column for each field, such as
# rel:Depends, text:Description or meta:Version.  Each value stands in quotes, those in it doubled;
# a field that a package does not have is nothing between two commas.
make_table() {
    awk 'function quoted(text) {
             gsub(/"/, "\"\"", text)
             return "\"" text "\""
         }
         function family(name) {
             if (name ~ /^(Depends|Pre-Depends|Recommends|Suggests|Enhances|Breaks|Conflicts|Replaces|Provides|(Static-)?Built-Using)$/)
                 return "rel"
             return name ~ /^(Description|Description-md5|Homepage|Tag)$/ ? "text" : "meta"
         }
         function write_package(i) {
             if (package != "") {
                 printf "%s", quoted(package)
                 for (i = 1; i <= columns; i++)
                     printf ",%s", i in value ? quoted(value[i]) : ""
                 print ""
             }
             package = ""
             split("", value)
         }
         FNR == 1 && NR > 1 {
             printf "package"
             for (i = 1; i <= columns; i++)
                 printf ",%s:%s", family(names[i]), names[i]
             print ""
             second = 1
         }
         /^#/ { next }
         /^[ \t]*$/ { if (second) write_package(); next }
         /^[ \t]/ { if (second && at) value[at] = value[at] "\n" $0; next }
         {
             colon = index($0, ":")
             name = substr($0, 1, colon - 1)
             if (name != "Package" && !(name in column)) {
                 names[++columns] = name
                 column[name] = columns
             }
             if (second) {
                 text = substr($0, colon + 1)
                 sub(/^[ \t]+/, "", text)
                 at = name == "Package" ? 0 : column[name]
                 if (at) value[at] = text; else package = text
             }
         }
         END { write_package() }' "$index" "$index"
}

# A word as a shell reads it back.
word() {
    case $1 in
    *[!A-Za-z0-9_./~-]*) echo "'$(echo "$1" | sed "s/'/'\\\\''/g")'" ;;
    *) echo "$1" ;;
    esac
}

# seconds NAME: those that the step took which begins at $begin, behind its name.
seconds() { echo "$1 ($(($(date +%s) - begin)) s)"; }

# ---- loading ----

begin=$(date +%s)
apt-cache dumpavail >"$index" 2>/dev/null || : >"$index"
packages=$(grep -c '^Package:' "$index" || :)
if [ "$packages" -eq 0 ]; then
    echo "apt-cache dumpavail has no package index: one of 20,000 packages is made up."
    generate_index >"$index"
    packages=$(grep -c '^Package:' "$index")
fi
make_table >"$table_file"
seconds "The index of $packages packages, $(wc -c <"$index") bytes, is read"

begin=$(date +%s)
for table in $tables; do
    filter=$(echo "$table" | tr a-z A-Z)
    families=
    for family in meta rel text; do
        families="$families, {NAME => '$family', BLOOMFILTER => '$filter', BLOCKSIZE => 4096}"
    done
    "$shell" --no-compaction --no-took "$dir/db" -e "create '$table'$families" >/dev/null
    part=1
    while [ $part -le $parts ]; do
        "$shell" --no-compaction --memory 512MB "$dir/db" import "$table" "$table_file" --part $part/$parts >"$dir/log"
        part=$((part + 1))
    done
    files=$("$shell" --no-compaction --no-took "$dir/db" -e "stats '$table'" | grep -c ' file ')
    if [ "$files" -ne $((parts * 3)) ]; then
        echo "demo: table $table has $files store files, not $((parts * 3))" >&2
        exit 1
    fi
    seconds "  table '$table', BLOOMFILTER => '$filter': $files store files"
    begin=$(date +%s)
done

# ---- checking ----

# Two at a time, as most machines have two processors.
compare_pair() {
    for table in "$@"; do
        {
            "$shell" --read-only --no-compaction "$dir/db" compare "$table" "$table_file" >"$dir/compared-$table" || echo failed >>"$dir/compared-$table"
        } &
    done
    wait
}
compare_pair none row
compare_pair rowcol row_rowcol
for table in $tables; do
    if ! grep -q ' fields compared, 0 differ$' "$dir/compared-$table"; then
        cat "$dir/compared-$table"
        echo "demo: table $table differs from the index" >&2
        exit 1
    fi
done
seconds "All $(sed 's/.*; \([0-9]*\) fields compared.*/\1/' "$dir/compared-none") fields of the index are in each table, and no others"

# ---- looking up ----

# Packages all over the index, and as many names that there are not, within the same range.
awk -v step=$((packages / packages_asked + 1)) '/^Package: / { name = $2; if (n++ % step == 0) print name }' "$index" | sort -u >"$dir/there"
sed 's/$/~absent/' "$dir/there" >"$dir/absent"
sed 's/$/\tmeta:Version/' "$dir/there" >"$dir/version"
sed 's/$/\ttext:Description/' "$dir/there" >"$dir/description"
sed 's/$/\trel:Enhances/' "$dir/there" >"$dir/enhances"
sed 's/$/\tmeta:Version/' "$dir/absent" >"$dir/absent-version"
# Lists of keys, and what they ask for.
cat >"$dir/lookups" <<END
absent-version	a field of a package not there
absent	a package that is not there
enhances	a field that few packages have
description	a package's Description
version	a package's Version
there	all fields of a package
END

# advise, of one list of keys: the figures of the families that were asked, summed, behind the name
# of the filter and the list; nothing where there are none.
look_up() {
    "$shell" --read-only --no-compaction --no-took "$dir/db" -e "advise '$1', KEYS => '$dir/$2'" | awk -v filter="$1" -v list="$2" '
        / BLOOMFILTER .* \(now\) / { expected += $5 }
        / data blocks a get; .* files/ {
            families++
            n = split($0, parts, "[;,] ")
            for (i = 1; i <= n; i++) {
                if (parts[i] ~ /^measured/) { split(parts[i], words, " "); blocks += words[2] }
                if (parts[i] ~ /files$/) files += parts[i]
                if (split(parts[i], skip, " skipped: ") == 2) skipped[skip[2]] += skip[1]
            }
        }
        END {
            if (families) printf "%s %s %.3f %.3f %.3f %.3f %.3f %.3f %.3f %.3f\n", toupper(filter), list, blocks, expected, files,
                skipped["row range"], skipped["time range"], skipped["found newer"], skipped["columns"], skipped["Bloom filter"]
        }'
}
begin=$(date +%s)
for table in $tables; do
    cut -f 1 "$dir/lookups" | while read -r list; do look_up "$table" "$list"; done >"$dir/counts-$table" &
done
wait
(cd "$dir" && cat counts-none counts-row counts-rowcol counts-row_rowcol) >"$dir/counts"
if [ "$(wc -l <"$dir/counts")" -ne $((4 * $(wc -l <"$dir/lookups"))) ]; then
    echo "demo: advise does not say what lookups cost in each table" >&2
    exit 1
fi
seconds "$(wc -l <"$dir/there") packages are looked up in each"

# What was considered and skipped, for those who want to know more.
{
    echo "Per get: the files considered; those skipped by row range, by time range, because newer was found, for their"
    echo "recorded columns, by the Bloom filter; data blocks read, and how many are to be expected. A family's error rate,"
    echo "0.01, is for all its files: what a get of an absent row may cost in needless blocks, in the mean."
    echo
    awk -F '\t' 'NR == FNR { text[$1] = $2; next }
        FNR == 1 { printf "%-10s %-31s %7s |%7s %7s %7s %7s %7s |%7s %9s\n", "filter", "lookups of", "files", "range", "time", "newer", "columns", "Bloom",
                       "blocks", "expected" }
        { split($0, f, " ")
          printf "%-10s %-31s %7s |%7s %7s %7s %7s %7s |%7s %9s\n", f[1], text[f[2]], f[5], f[6], f[7], f[8], f[9], f[10], f[3], f[4] }' \
        "$dir/lookups" "$dir/counts"
} >"$dir/lookups.txt"

# ---- the screen, which `kv-bench readamp` has of its own data ----

echo
echo "Data blocks that a lookup reads; 6 store files a family, 3 families a package"
status=0
awk -F '\t' -v utf8="$([ "$characters" = UTF-8 ] && echo 1)" -v asked="$(wc -l <"$dir/there")" -v parts=$parts '
    function number(n) { return sprintf(n < 0.9995 ? "%.3f" : n < 9.995 ? "%.2f" : n < 99.95 ? "%.1f" : "%.0f", n) }
    function short(n,  text) { if (n < 0.01) return "less than 0.01"; text = number(n); if (text ~ /[.]/) sub(/[.]?0*$/, "", text); return text }
    # In lines of at most 79 columns.
    function print_words(text,  words, i, count, line) {
        count = split(text, words, " ")
        line = words[1]
        for (i = 2; i <= count; i++) {
            if (length(line) + 1 + length(words[i]) <= 79) { line = line " " words[i]; continue }
            print line
            line = words[i]
        }
        print line
    }
    # Six characters stand for the whole; what is above zero shows.
    function bar(part, whole,  units, text, i) {
        units = whole > 0 ? int(48 * part / whole + 0.5) : 0
        if (units > 48) units = 48
        if (units == 0 && part > 0) units = 1
        for (i = 1; i <= int(units / 8); i++) text = text (utf8 ? "█" : "#")
        if (units % 8) { text = text (utf8 ? eighths[units % 8] : units % 8 > 3 ? "#" : "|"); i++ }
        for (; i <= 6; i++) text = text " "
        return text
    }
    # How far chance takes a count: four standard errors of the needless blocks, and as many errors
    # more as so few ones are skewed by. Files of a family have nearly the same packages, so that
    # their filters err together. Printed digits are rounded.
    function chance(list, filter,  needless) {
        if (filter == "NONE") return 0.005
        needless = expected["absent-version", filter] * (list == "absent" || list == "there" ? 3 : 1)
        return 4 * sqrt(parts * (needless < 0.001 ? 0.001 : needless) / asked) + 2.5 * parts / asked + 0.002
    }
    BEGIN { split("▏ ▎ ▍ ▌ ▋ ▊ ▉", eighths, " "); split("NONE ROW ROWCOL ROW_ROWCOL", filters, " ") }
    NR == FNR { lists[++n] = $1; text[$1] = $2; next }
    { split($0, f, " "); measured[f[2], f[1]] = f[3]; expected[f[2], f[1]] = f[4] }
    END {
        printf "%-31s", "measured with BLOOMFILTER =>"
        for (k = 1; k <= 4; k++) printf k < 4 ? " %-11s" : " %s\n", filters[k]
        for (l = 1; l <= n; l++) {
            line = below = ""
            none = measured[lists[l], "NONE"]
            for (k = 1; k <= 4; k++) {
                m = measured[lists[l], filters[k]]
                e = expected[lists[l], filters[k]]
                line = line sprintf(" %s%5s", bar(m, none), number(m))
                below = below sprintf(" %11s", number(e))
                d = m > e ? m - e : e - m
                if (d > off) off = d
                if (d > chance(lists[l], filters[k])) outside++
                if (m < 0.98 * none) fewer[k]++
                if (k > 1 && (k == 2 || m < best[lists[l]])) best[lists[l]] = m
            }
            printf "%-31s%s\n%-31s%s\n", text[lists[l]], line, l == 1 ? "   expected" : "", below
        }
        print ""
        verdict = sprintf("all %d counts are as near the expected ones as chance lets %d lookups be", 4 * n, asked)
        if (outside) verdict = sprintf("%d of %d counts are not as expected", outside, 4 * n)
        print_words(sprintf("A package that is not there costs %s blocks instead of %s, the Version of one that is there %s instead of %s, " \
            "where the filter can tell: ROW in %d of %d lookups, ROWCOL in %d, ROW_ROWCOL in %d; %s, the farthest %.3f off.",
            short(best["absent"]), short(measured["absent", "NONE"]), short(best["version"]), short(measured["version", "NONE"]),
            fewer[2], n, fewer[3], fewer[4],
            verdict, off))
        exit outside > 0
    }' "$dir/lookups" "$dir/counts" || status=1
if [ $status -ne 0 ]; then
    echo "demo: lookups read other blocks than expected" >&2
    exit 1
fi

if [ $# -ge 2 ]; then
    cat <<END

Why files were read or skipped: $dir/lookups.txt
For one lookup:
  $(word "$shell") $(word "$dir/db") -e "explain get 'rowcol', '$(awk '!least || length($0) < least { least = length($0); name = $0 } END { print name }' "$dir/there")', 'meta:Size'"
Beside HBase, on other data: $(word "${shell%kv-shell}kv-bench") readamp
END
fi
