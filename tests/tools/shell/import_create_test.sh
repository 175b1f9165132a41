#!/bin/sh
# import_create_test.sh -- kv-shell's import: which columns make the row, which families the others
# are in, and the tables that --create makes of files.
#
#     tests/tools/shell/import_create_test.sh KV-SHELL
set -u
export TZ=UTC
shell=${1:?usage: import_create_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
. "$(dirname "$0")/../../support/expect.sh"
db=$scratch/db

run() {
    "$shell" --no-compaction --no-took "$db" "$@"
}

# rows TABLE..: what the last scan shows, without timestamps, in one line.
rows() {
    run -e "scan '$1'" 2>&1 | sed -n 's/^ \(.*\) column=\([^,]*\), timestamp=[^,]*, value=/\1 \2=/p' | paste -s -d ' '
}

cd "$scratch" || exit 1
run -e "create 'one', 'f'; create 'two', 'f', 'g'" >/dev/null

# ---- Line ends -----------------------------------------------------------------------------------

printf 'row,f:a\rr1,1\rr2,2\r' >cr.csv
printf '"row","f:a"\r"r1","1"\r' >quoted_cr.csv
printf 'row\tf:a\rr1\t1\r' >cr.tsv
printf 'row,"f:\ra"\r\nr1,1\r\n' >crlf.csv
for file in cr.csv quoted_cr.csv cr.tsv; do
    expect "$file" 2 "$file:1: lines end with CR alone; they must end with LF, or with CR and LF" run import "cr" $file --create
done
expect 'no table of such a file' 1 "Unknown table cr" run import cr crlf.csv
expect 'a carriage return in quotes, and before LF' 0 '^1 record and 1 cell' run import crlf crlf.csv --create

# ---- The row -------------------------------------------------------------------------------------

printf 'name,age,city\nada,36,London\nbob,41,"Rome, Italy"\n' >people.csv
printf 'meta:a,meta:b\n1,2\n' >families.csv
printf 'name\tRowKey\tf:x\nada\tr1\t1\n' >called.tsv
printf ',f:a\nr1,1\n' >unnamed.csv
printf 'row,,f:a\nr1,1,2\n' >hole.csv

expect 'nothing tells the row' 2 'Say --row COLUMN, or --row COLUMN,COLUMN .*, or --row-number .* are: name, age, city$' \
    run import one people.csv
expect 'nothing tells it of families only' 2 'which column of families.csv names the row' run import one families.csv
expect 'a command' 2 "Say ROW => 'column', .* or ROW_NUMBER => true" run -e "import 'one', 'people.csv'"
expect 'nothing was written' 0 '^0 row' run -e "scan 'one'"
expect 'no such column' 2 'people.csv has no column nosuch to name the row.  Its columns are: name, age, city$' run import one people.csv --row nosuch
expect 'no such column among some' 2 'no column 4 to name the row' run import one people.csv --row name,4
expect 'a column twice' 2 'row names column 2 of people.csv twice' run import one people.csv --row age,2
expect 'no number of a column' 2 'no column 0 ' run import one people.csv --row 0
for option in --only-fields --skip-fields; do
    for verb in import compare; do
        expect "$verb $option of no column" 2 "people.csv has no column ctiy for $option .*Its columns are: name, age, city$" \
            run $verb one people.csv --row name $option age,ctiy
    done
done
expect 'the same of a command' 2 "no column ctiy for SKIP_FIELDS" run -e "import 'one', 'people.csv', ROW => 'name', SKIP_FIELDS => ['ctiy']"
expect 'still nothing was written' 0 '^0 row' run -e "scan 'one'"
printf 'name;age\nada;36\n' >semicolons.csv
printf 'name|age\nada|36\n' >bars.csv
printf 'name\tage\nada\t36\n' >tabs.csv
printf 'name,age\nada,36\n' >commas.tsv
for row in '--row name' --row-number ''; do
    # shellcheck disable=SC2086
    expect "semicolons $row" 2 'semicolons.csv is read as csv, but its first line has ; and no commas' run import one semicolons.csv $row
    # shellcheck disable=SC2086
    expect "tabs $row" 2 'first line has tabs and no commas.  If these part its columns, say --format tsv$' run import one tabs.csv $row
done
expect 'bars' 2 'has | and no commas' run import one bars.csv
expect 'commas' 2 'has commas and no tabs.*say --format csv$' run compare one commas.tsv
expect 'tabs, of a command' 2 "say FORMAT => 'tsv'$" run -e "import 'one', 'tabs.csv'"
expect 'as it says' 0 '^1 record and 1 cell imported' run import one tabs.csv --format tsv --row name
expect 'and none is there again' 0 . run -e "truncate 'one'"
expect 'both a column and a number' 2 'not both' run import one people.csv --row name --row-number
expect 'a column' 0 '^2 records and 4 cells imported' run import one people.csv --row name
is_true 'its rows' "$([ "$(rows one)" = 'ada f:age=36 ada f:city=London bob f:age=41 bob f:city=Rome, Italy' ] && echo 1)"
expect 'the same by its number' 0 '^2 records and 4 cells imported' run import one people.csv --row 1
expect 'compare' 0 ' 4 fields compared, 0 differ$' run compare one people.csv --row name
expect 'compare sees other rows' 3 'is not in the table' run compare one people.csv --row age
expect 'columns joined' 0 '^2 records and 2 cells imported' run -e "truncate 'one'; import 'one', 'people.csv', ROW => ['age', 'name']"
is_true 'their rows' "$([ "$(rows one)" = '36|ada f:city=London 41|bob f:city=Rome, Italy' ] && echo 1)"
expect 'joined by another separator' 0 . run -e "truncate 'one'"
expect 'joined by another separator' 0 . run import one people.csv --row ' city , name' --row-separator ::
is_true 'rows of these' "$([ "$(rows one)" = 'London::ada f:age=36 Rome, Italy::bob f:age=41' ] && echo 1)"
expect 'a name with a comma is one column' 0 '^1 record and 1 cell imported' \
    sh -c 'printf "\"a,b\",a,b\n1,2,3\n" | "$1" "$2" import one - --row a,b --only-fields b' - "$shell" "$db"
expect 'numbers' 0 '^2 records and 6 cells imported' run -e "truncate 'one'; import 'one', 'people.csv', ROW_NUMBER => true"
is_true 'numbers as rows' "$([ "$(rows one | cut -d ' ' -f 1,2)" = '0000000001 f:age=36' ] && echo 1)"
twice=
for pair in "FORMAT => 'csv'" "ON_ERROR => 'stop'" 'MAX_ERRORS => 0' 'THREADS => 1' 'FLUSH_EVERY => 9' \
    "ROW => 'name'" "ROW_SEPARATOR => '-'" "FAMILY => 'f'"; do
    twice="$twice, $pair, :$pair"
done
expect 'each key as a text and as a symbol' 0 '^2 records and 4 cells imported' \
    run -e "truncate 'one'; import 'one', 'people.csv', {${twice#, }}"
expect 'a column called rowkey' 0 '^1 record and 2 cells' run -e "truncate 'one'; import 'one', 'called.tsv'"
is_true 'the row of it' "$([ "$(rows one)" = 'r1 f:name=ada r1 f:x=1' ] && echo 1)"
expect 'a row column without a name' 0 '^1 record and 1 cell imported' run import one unnamed.csv
expect 'another column without one' 2 'hole.csv:1: column 2 has no name' run import one hole.csv
expect 'left out it does no harm' 0 '^1 record and 1 cell imported' run import one hole.csv --only-fields f:a
expect 'an empty part of the row' 2 ":2: the row's column 'b' is empty" \
    sh -c 'printf "a,b,c\n1,,3\n" | "$1" "$2" import one - --row a,b' - "$shell" "$db"
expect 'no column but the row' 2 'no column beside the row' sh -c 'printf "row\n1\n" | "$1" "$2" import one -' - "$shell" "$db"

# ---- Families ------------------------------------------------------------------------------------

expect 'one family is the one' 0 '^Columns that name no family are in the family f$' run import one people.csv --row name
expect 'several are not' 2 'Column age of people.csv names no family, and table two has several.  Say --family' \
    run import two people.csv --row name
expect 'a command' 2 "Say FAMILY => 'family'" run -e "import 'two', 'people.csv', ROW => 'name'"
expect 'the one that is named' 0 '^2 records and 4 cells' run import two people.csv --row name --family g
is_true 'it has the cells' "$([ "$(rows two | cut -d ' ' -f 2)" = 'g:age=36' ] && echo 1)"
expect 'which there is not' 1 'Column family h does not exist' run import two people.csv --row name --family h

# ---- Tables that are made ------------------------------------------------------------------------

printf 'id,meta:a,text:b,meta:c\nr1,1,2,3\n' >some.csv
expect 'no table' 1 'Unknown table new!  --create makes it from the file' run import new some.csv
expect 'no table for a command' 1 'Unknown table new!  CREATE => true makes it' run -e "import 'new', 'some.csv'"
expect 'made' 0 '^Created table new with the families meta, text$' run import new some.csv --create
is_true 'filled' "$([ "$(rows new)" = 'r1 meta:a=1 r1 meta:c=3 r1 text:b=2' ] && echo 1)"
expect 'there already' 0 '^1 record and 3 cells' run import new some.csv --create
expect 'its families do not fit' 1 "Table new is there already, and has no family cf .* alter 'new', 'cf' adds it" \
    run import new people.csv --create --row name --family cf
expect 'as create makes them' 0 "^{NAME => 'meta', .* VERSIONS => '1'" run -e "describe 'new'"
expect 'without families' 0 '^Created table people with the family cf$' run import people people.csv --create --row name
expect 'by the command' 0 '^Created table u with the family f$' \
    run -e "import 'u', 'people.csv', ROW => 'name', CREATE => true, FAMILY => 'f'"
expect 'a flag that is false' 1 'Unknown table w!' run -e "import 'w', 'some.csv', CREATE => false"
expect 'of wanted columns only' 0 '^Created table v with the family text$' run import v some.csv --create --only-fields text:b
expect 'a namespace that is not there' 1 'Unknown namespace nosuch!' run import nosuch:t some.csv --create
expect 'a name that is none' 2 'Illegal character' run import 'a b' some.csv --create
: >empty.csv
expect 'an empty file' 2 'empty.csv is empty' run import empty empty.csv --create
expect 'no file' 1 'cannot open nosuch.csv' run import empty nosuch.csv --create
expect 'no table came of them' 1 'does not exist' run -e "exists 'empty'"
expect 'a table that is disabled' 2 'Table new is disabled!' run -e "disable 'new'; import 'new', 'some.csv', CREATE => true"
expect 'compare makes none' 2 'compare makes no table' run compare new some.csv --create

# ---- Tables of cells -----------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"row\":\"r%05d\",\"column\":\"f%02d:q\",\"timestamp\":%d,\"value\":\"%d\"}\n", i % 5000, i % 50, i + 1, i }' \
    >cells.jsonl
for threads in 0 1 4; do
    expect "families as they come, $threads threads" 0 '^20000 records and 20000 cells imported' \
        run import "made$threads" cells.jsonl --create --threads $threads
    is_true 'all of them are told' "$(($(sed -n 's/^Created table .* with the families //p' out | tr ',' '\n' | grep -c 'f[0-9]') == 50))"
    run export "made$threads" "made$threads.csv" --all-versions >/dev/null 2>&1
    is_true 'all cells are there' "$(($(wc -l <"made$threads.csv") == 20001))"
done
is_true 'whatever the number of threads' "$(cmp -s made0.csv made4.csv && cmp -s made0.csv made1.csv && echo 1)"
run -e "create 'v', {NAME => 'f', VERSIONS => 3}" >/dev/null 2>&1
printf "put 't', 'r', 'f:q', 'old', 1\nput 't', 'r', 'f:q', 'new', 2\n" >cells.hbase
expect 'commands' 0 '^Created table h with the family f; its families keep all versions' run import h cells.hbase --create
expect 'all versions' 0 'value=old$' run -e "get 'h', 'r', {COLUMN => 'f:q', VERSIONS => 2}"
printf '{"row":"r","column":"g:q","value":"1"}\n' >other.jsonl
expect 'a table that was there gets no families' 2 'other.jsonl:1: the table has no such family' run import h other.jsonl --create
expect 'what is for columns' 2 'row and its family: --row, --row-number, --family, --only-fields, --skip-fields and --part are for' run import h other.jsonl --row a
printf '{"row":"r","column":"a/b:q","value":"1"}\n{"row":"r","column":"g:q","value":"1"}\n' >bad.jsonl
expect 'no family can have that name' 1 '^1 record and 1 cell imported, 1 bad' run import b bad.jsonl --create --skip-bad
expect 'the one that can' 0 '^ r column=g:q' run -e "scan 'b'"
: >empty.jsonl
expect 'no cell' 2 'empty.jsonl holds no cell' run import empty empty.jsonl --create
expect 'no table' 1 'does not exist' run -e "exists 'empty'"

# ---- Databases that are made ---------------------------------------------------------------------

expect 'no database' 1 'there is no database in none' "$shell" none import t some.csv
expect 'no row' 2 'names the row' "$shell" none import t people.csv --create
expect 'no file' 1 'cannot open nosuch.csv' "$shell" none import t nosuch.csv --create
expect 'no cell' 2 'holds no cell' sh -c '"$1" none import t - --create --format jsonl </dev/null' - "$shell"
expect 'no namespace' 1 'Unknown namespace n!' "$shell" none import n:t some.csv --create
expect 'no family' 2 'Column Family names' "$shell" none import t people.csv --create --row name --family a/b
expect 'no compare' 1 'there is no database in none' "$shell" none compare t some.csv
expect 'nor a command' 1 'there is no database in none' "$shell" none -e "import 't', 'some.csv'"
is_true 'none was made' "$([ ! -e none ] && echo 1)"
expect 'of columns' 0 '^1 record and 3 cells' "$shell" records import t some.csv --create
expect 'of cells' 0 '^1 record and 1 cell imported' sh -c 'head -n 1 cells.jsonl | "$1" cells import t - --create --format jsonl' - "$shell"
expect 'by the command' 0 '^1 record and 3 cells' "$shell" command -e "import 't', 'some.csv', CREATE => true"

expect_end
