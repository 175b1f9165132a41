#!/bin/sh
# demo.sh -- loads the index of Debian packages into four tables, one for each kind of Bloom filter, and
# shows what point lookups cost in each, beside what is to be expected.
#
#     tools/demo.sh KV-SHELL [DIR]
#
# Each table is imported in 8 parts: the fields of one package fall into different parts, and a flush ends each
# part, so every family gets 8 store files whose row ranges overlap; --no-compaction keeps them apart.  Then each field of the index is compared with
# each table, and the rows and fields are counted; the demo fails if one differs.  DIR is made anew and kept; without
# it a temporary directory serves, and goes at the end.
set -eu
export LC_ALL=C
shell=${1:?usage: demo.sh KV-SHELL [DIR]}
parts=8
tables='none row rowcol row_rowcol'

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
            printf "Package: pkg%05d-%c\nVersion: %d.%d-%d\n", (i * 7919) % 20000, 97 + i % 26, i % 9, i % 31, i % 4
            printf "Installed-Size: %d\nArchitecture: amd64\nSection: s%d\nPriority: optional\n", i * 13, i % 40
            printf "Maintainer: Team %d <team%d@example.org>\nSize: %d\n", i % 300, i % 300, i * 977
            if (i % 5) printf "Depends: pkg%05d, pkg%05d (>= %d)\n", i / 2, i / 3, i % 7
            if (i % 3 == 0) printf "Suggests: pkg%05d\n", i / 5
            if (i % 50 == 0) printf "Enhances: pkg%05d\n", i / 6
            if (i % 7 == 0) printf "Homepage: https://example.org/%d\n", i
            printf "Description: package number %d\n with a longer text\n .\n of some lines\n", i
            printf "Filename: pool/%d/%d.deb\nSHA256:", i % 26, i
            for (j = 0; j < 8; j++) printf "%s%08x", j ? "" : " ", int(rand() * 4294967295)
            printf "\n\n"
        }
    }'
}

# The index as a table of csv for import: a line for each package, a column for each field, such as
# rel:Depends, text:Description or meta:Version.  Each value stands in quotes, those in it doubled; a
# field that a package does not have is nothing between two commas.
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

apt-cache dumpavail >"$index" 2>/dev/null || : >"$index"
packages=$(grep -c '^Package:' "$index" || :)
if [ "$packages" -eq 0 ]; then
    echo "There is no package index here (apt-cache dumpavail): one of 20,000 packages is made up."
    generate_index >"$index"
    packages=$(grep -c '^Package:' "$index")
fi
echo "$packages packages, $(wc -c <"$index") bytes"

make_table >"$table_file"

echo
echo "Import, in $parts parts for each of 4 tables:"
begin=$(date +%s)
for table in $tables; do
    filter=$(echo "$table" | tr a-z A-Z)
    "$shell" --no-compaction --no-took "$dir/db" -e "create '$table', {NAME => 'meta', BLOOMFILTER => '$filter'},
        {NAME => 'rel', BLOOMFILTER => '$filter'}, {NAME => 'text', BLOOMFILTER => '$filter'}" >/dev/null
    part=1
    while [ $part -le $parts ]; do
        "$shell" --no-compaction "$dir/db" import "$table" "$table_file" --part $part/$parts >"$dir/log"
        part=$((part + 1))
    done
    echo "  $table: $("$shell" --no-compaction --no-took "$dir/db" -e "stats '$table'" | grep -c ' file ') store files"
done
echo "  $(($(date +%s) - begin)) seconds in all"

echo
echo "Every field of the index against every table:"
for table in $tables; do
    printf '  %s: ' "$table"
    "$shell" --no-compaction "$dir/db" compare "$table" "$table_file" || {
        echo "demo: table $table differs from the index" >&2
        exit 1
    }
done

# Every 80th package, and as many names that there are not, within the same range.
awk '/^Package: / { name = $2; if (n++ % 80 == 0) print name }' "$index" | sort -u >"$dir/there"
sed 's/$/~absent/' "$dir/there" >"$dir/absent"
sed 's/$/\tmeta:Version/' "$dir/there" >"$dir/version"
sed 's/$/\ttext:Description/' "$dir/there" >"$dir/description"
sed 's/$/\trel:Enhances/' "$dir/there" >"$dir/enhances"
sed 's/$/\tmeta:Version/' "$dir/absent" >"$dir/absent-version"

echo
cat <<END
Lookups of $(wc -l <"$dir/there") packages.  Per get: the files considered; those skipped by row range, by time range, because newer
was found, for their recorded columns, by the Bloom filter; data blocks read, and how many are to be expected.
A whole row asks 3 families, of $parts files each.  A family's error rate, 0.01, is for all its files: what a get of
an absent row may cost in needless blocks.  So each file that a flush wrote has a 46th of it.
END

# advise, of one list of keys: the figures of the families that were asked, summed.
look_up() {
    "$shell" --no-compaction --no-took "$dir/db" -e "advise '$1', KEYS => '$dir/$3'" | awk -v filter="$1" -v lookup="$2" '
        / BLOOMFILTER .* \(now\) / { expected += $5 }
        / data blocks a get; .* files/ {
            n = split($0, parts, "[;,] ")
            for (i = 1; i <= n; i++) {
                if (parts[i] ~ /^measured/) { split(parts[i], words, " "); blocks += words[2] }
                if (parts[i] ~ /files$/) files += parts[i]
                if (split(parts[i], skip, " skipped: ") == 2) skipped[skip[2]] += skip[1]
            }
        }
        END {
            printf "%-10s %-20s %7.3f |%7.3f %7.3f %7.3f %7.3f %7.3f |%7.3f %9.3f\n", toupper(filter), lookup, files,
                skipped["row range"], skipped["time range"], skipped["found newer"], skipped["columns"], skipped["Bloom filter"],
                blocks, expected
        }'
}
printf '%-10s %-20s %7s |%7s %7s %7s %7s %7s |%7s %9s\n' \
    filter 'lookups of' files range time newer columns Bloom blocks expected
for table in $tables; do
    look_up $table 'absent row' absent
    look_up $table 'absent row, field' absent-version
    look_up $table 'whole row' there
    look_up $table Version version
    look_up $table Description description
    look_up $table 'field few have' enhances
done

if [ $# -ge 2 ]; then
    package=$(head -n 1 "$dir/there")
    cat <<END

The database stays in $dir/db.  Where to go next:
  $shell $dir/db -e "explain get 'rowcol', '$package', 'meta:Version'"
      why each store file was read or not
  $shell $dir/db -e "stats 'rowcol'"
      what the store files hold
  $shell $dir/db
      the shell; try: scan 'row', LIMIT => 3
  ${shell%kv-shell}kv-bench readamp
      data blocks per get, by filter, number of files and kind of lookup
  ${shell%kv-shell}kv-bench quick
      the cost of put, get and scan, beside other stores
END
fi
