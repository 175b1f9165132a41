#!/bin/sh
# demo_test.sh -- tools/demo.sh on a small index: its screen fits on a terminal and says what its
# figures do; a table that differs from the index, and lookups that read other blocks than expected,
# make it fail.
#
#     tests/tools/demo_test.sh KV-SHELL
set -u
shell=$(realpath "${1:?usage: demo_test.sh KV-SHELL}")
. "$(dirname "$0")/../support/expect.sh"
demo=$(realpath "$(dirname "$0")/../../tools/demo.sh")
export TMPDIR="$scratch"
# The names of `make demo`.
mkdir -p "$scratch/checkout/build"
ln -s "$shell" "$scratch/checkout/build/kv-shell"
cd "$scratch/checkout" || exit 1

# The index that the demo finds, of 1,500 packages.
mkdir "$scratch/bin"
cat >"$scratch/bin/apt-cache" <<'END'
#!/bin/sh
awk 'BEGIN { for (i = 0; i < 1500; i++) {
    printf "Package: p%05d\nVersion: %d-%d\nInstalled-Size: %d\nArchitecture: amd64\nSection: s%d\n", (i * 7919) % 20000, i % 9, i % 4, i * 13, i % 40
    printf "Maintainer: Team %d \"the\" <team@example.org>\nSize: %d\nDescription: package number %d\n of two lines\n", i % 300, i * 977, i
    if (i % 5) printf "Depends: p%05d, p%05d\n", i / 2, i / 3
    if (i % 50 == 0) printf "Enhances: p%05d\n", i / 6
    print "" } }'
END
# A shell that a failure of the demo is tried with: what $cheat names goes wrong.
cat >"$scratch/bin/cheat" <<END
#!/bin/sh
case "\$cheat: \$*" in
'compare: '*' compare rowcol '*)
    for file; do :; done
    sed 's/"amd64"/"arm64"/' "\$file" >"$scratch/other.csv"
    exec "$shell" --read-only build/demo/db compare rowcol "$scratch/other.csv"
    ;;
'silence: '*"advise 'row', "*) exit 3 ;;
'advise: '*"advise 'row', "*) "$shell" "\$@" | sed 's/measured [0-9]/&7/' ;;
'chance: '*"advise 'none', "*absent-version*) "$shell" "\$@" | sed 's/measured 6[.]000/measured 6.040/' ;;
*) exec "$shell" "\$@" ;;
esac
END
chmod +x "$scratch/bin/apt-cache" "$scratch/bin/cheat"
PATH=$scratch/bin:$PATH
cheat=none
export PATH cheat

expect "the demo" 0 '^All [0-9]* fields of the index are in each table, and no others' sh "$demo" build/kv-shell build/demo
cp "$scratch/out" "$scratch/whole"
is_true "at most 80 columns" "$(awk 'length($0) > 80 { bad = 1 } END { print !bad }' "$scratch/out")"
sed -n '/^Data blocks that/,$p' "$scratch/whole" >"$scratch/out"
is_true "at most 24 lines of screen" "$(awk 'END { print (NR > 15 && NR <= 24) }' "$scratch/out")"
# The sentence once more, of the counts: filter, list, measured, expected.
awk '$1 == "NONE" { none[$2] = $3; n++ } { d = $3 > $4 ? $3 - $4 : $4 - $3; if (d > off) off = d; if ($3 < 0.98 * none[$2]) fewer[$1]++ }
    $1 != "NONE" && (!($2 in best) || $3 < best[$2]) { best[$2] = $3 }
    END { printf "A package that is not there costs %s blocks instead of %s, the Version of one that is there ", best["absent"] < 0.01 ? "less than 0.01" : 0 + best["absent"], 0 + sprintf("%.1f", none["absent"])
          printf "%s instead of %s, where the filter can tell: ", 0 + sprintf("%.2f", best["version"]), 0 + sprintf("%.2f", none["version"])
          printf "ROW in %d of %d lookups, ROWCOL in %d, ROW_ROWCOL in %d; ", fewer["ROW"], n, fewer["ROWCOL"], fewer["ROW_ROWCOL"]
          printf "all %d counts are as near the expected ones as chance lets %d lookups be, the farthest %.3f off.", NR, asked, off }' asked="$(wc -l <build/demo/there)" build/demo/counts >"$scratch/sentence"
expect "the sentence is what the figures say" 0 '^1$' sh -c "tr '\n' ' ' <'$scratch/whole' | grep -cF \"\$(cat '$scratch/sentence')\""
expect "what was skipped, and why" 0 '^ROWCOL  *a field of a package not there .* 6[.]000 |' cat build/demo/lookups.txt
expect "the line that explains" 0 '^files: 6 considered, ' sh -c "sed -n '/^  .* -e /p' '$scratch/whole' | sh"
expect "a folder whose name has a blank" 0 "^  build/kv-shell 'build/a demo/db' -e " sh "$demo" build/kv-shell 'build/a demo'
cp "$scratch/out" "$scratch/whole"
expect "the line that explains, in it" 0 '^files: 6 considered, ' sh -c "sed -n '/^  .* -e /p' '$scratch/whole' | sh"
cheat=compare
expect "a table that differs" 1 'demo: table rowcol differs from the index' sh "$demo" "$scratch/bin/cheat" build/demo
cheat=advise
expect "other blocks than expected" 1 'demo: lookups read other blocks than expected' sh "$demo" "$scratch/bin/cheat" build/demo
cheat=silence
expect "lookups of which nothing is said" 1 'demo: advise does not say' sh "$demo" "$scratch/bin/cheat" build/demo
cheat=chance
expect "a few more blocks, where chance has no part" 1 '^ones\|1 of 24 counts' sh "$demo" "$scratch/bin/cheat" build/demo
cheat=none
mkdir "$scratch/other"
expect "a folder of somebody else's" 2 'exists and is not a demo' sh "$demo" "$shell" "$scratch/other"
expect "without a folder, which goes" 0 'ROW_ROWCOL in 6; ' sh "$demo" "$shell"
expect "nothing is left" 0 '^0$' sh -c "ls '$scratch' | grep -c petal-demo; true"

expect_end
