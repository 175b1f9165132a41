/* gets.c -- workloads of `kv-bench cliffs`: gets when there is much that their answers do not need.
 */
#include "tools/bench/cliffs/cliff.h"

#include <stdlib.h>
#include <string.h>

#define GETS    1000
#define COLUMNS 1000 /* that a get names */

/* ---- markers of single versions ---- */

static void
build_files(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++) {
        cliff_put_cell(bed, "q", i);
        cliff_flush(bed);
    }
    cliff_delete(bed, bench_text("other"), bench_text("q"), 1, PETAL_DELETE);
}

static void
build_markers(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 1; i <= n; i++) {
        cliff_put_cell(bed, "q", i);
        cliff_delete(bed, cliff_key(key, "other", i), bench_text("q"), (int64_t)i, PETAL_DELETE);
    }
}

/* ---- versions ---- */

static void
build_versions(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_cell(bed, "a", n);
    cliff_put_versions(bed, n);
    cliff_put_cell(bed, "z", n);
}

/* ---- family markers ---- */

static void
build_family_markers(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++)
        cliff_delete(bed, bench_text("row"), bench_text(""), (int64_t)i, PETAL_DELETE_FAMILY);
    cliff_put_cell(bed, "q", n + 1);
}

static void
build_family_versions(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_cell(bed, "q", 2);
    for (uint64_t i = 1; i <= n; i++)
        cliff_delete(bed, bench_text("row"), bench_text(""), 2 * (int64_t)i + 1,
                     PETAL_DELETE_FAMILY_VERSION);
}

/* ---- wide rows ---- */

/* In four files, each with every fourth column. */
static void
build_columns(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (unsigned part = 0; part < 4; part++) {
        for (uint64_t i = part; i < n; i += 4)
            cliff_put(bed, bench_text("row"), cliff_key(key, "column", i), 1, bench_text("value"));
        cliff_flush(bed);
    }
}

static uint64_t
get_named_columns(struct cliff_bed *bed, uint64_t n)
{
    static char keys[COLUMNS][CLIFF_KEY_BYTES];
    static petal_column columns[COLUMNS];

    for (uint64_t i = 0; i < COLUMNS; i++)
        columns[i] = (petal_column){.family = bed->family,
                                    .qualifier = cliff_key(keys[i], "column", n / 2 + i)};
    cliff_expect(cliff_get(bed, bench_text("row"),
                           &(petal_read_options){.columns = columns, .column_count = COLUMNS}),
                 COLUMNS);
    return COLUMNS;
}

/* ---- one of many rows ---- */

static uint64_t
get_rows(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < GETS; i++)
        cliff_expect(cliff_get(bed, cliff_key(key, "row", bench_scramble(i) % n), NULL), 1);
    return GETS;
}

/* ---- zero bytes in rows ---- */

#define LONG_ROW_BYTES 30000
#define LONG_ROWS      20
#define NUMBER_BYTES   8

/* Row i, of LONG_ROW_BYTES: n zero bytes, then letters, then its number. */
static petal_slice
long_row(char *row, uint64_t n, uint64_t i)
{
    size_t zeros = n < LONG_ROW_BYTES - NUMBER_BYTES ? (size_t)n : LONG_ROW_BYTES - NUMBER_BYTES;

    memset(row, 0, zeros);
    memset(row + zeros, 'a', LONG_ROW_BYTES - zeros);
    bench_decimal_key(row + LONG_ROW_BYTES - NUMBER_BYTES, NUMBER_BYTES, i);
    return (petal_slice){row, LONG_ROW_BYTES};
}

static uint64_t
get_long_rows(struct cliff_bed *bed, uint64_t n)
{
    char *row = bench_alloc(LONG_ROW_BYTES);

    for (uint64_t i = 0; i < LONG_ROWS; i++)
        cliff_expect(cliff_get(bed, long_row(row, n, i), NULL), 1);
    free(row);
    return LONG_ROWS;
}

/* Every second one in a file, the others in memory. */
static void
build_long_rows(struct cliff_bed *bed, uint64_t n)
{
    char *row = bench_alloc(LONG_ROW_BYTES);

    for (uint64_t in_file = 2; in_file-- > 0;) {
        for (uint64_t i = in_file; i < LONG_ROWS; i += 2)
            cliff_put(bed, long_row(row, n, i), bench_text("q"), 1, bench_text("value"));
        if (in_file != 0)
            cliff_flush(bed);
    }
    free(row);
}

/* A hundred gets of a column, which is there. */
#define GET_COLUMN .unit = "get", .work = cliff_gets, .column = "q", .times = 100, .found = 1

const struct cliff bench_cliffs_gets[] = {
    {.name = "rows",
     .shows = "gets of one of n rows in a store file",
     .unit = "get",
     .n = 10000,
     .build = cliff_put_rows,
     .stored = true,
     .warm = true,
     .work = get_rows},
    {.name = "zero-bytes",
     .shows = "gets of rows of 30 KB, n bytes of which are zero",
     .unit = "get",
     .n = 3000,
     .build = build_long_rows,
     .warm = true,
     .work = get_long_rows},
    {.name = "get-files",
     .shows = "gets of a column in n files, next to a delete of another row's version",
     .n = 3,
     .most = 4, /* the receipt names each file */
     .build = build_files,
     .warm = true,
     GET_COLUMN},
    {.name = "get-markers",
     .shows = "gets of a column of n versions, next to n deletes of other rows' versions",
     .options = {.versions = INT32_MAX},
     .build = build_markers,
     GET_COLUMN},
    {.name = "get-versions",
     .shows = "gets of a row of three columns, one of n versions",
     .unit = "get",
     .most = 2, /* a level of the index more */
     .options = {.versions = INT32_MAX},
     .build = build_versions,
     .stored = true,
     .work = cliff_gets,
     .times = 100,
     .found = 3},
    {.name = "get-old-versions",
     .shows = "gets of the two oldest of n versions, by a time range",
     .unit = "get",
     .most = 2, /* a level of the index more */
     .options = {.versions = INT32_MAX},
     .build = build_versions,
     .stored = true,
     .work = cliff_gets,
     .read = {.versions = PETAL_ALL_VERSIONS, .has_time_range = true, .time_limit = 3},
     .times = 100,
     .found = 2},
    {.name = "get-family-markers",
     .shows = "gets of a row with n deletes of the family",
     .build = build_family_markers,
     GET_COLUMN},
    {.name = "get-family-versions",
     .shows = "gets of a row with n deletes of the family's versions",
     .build = build_family_versions,
     GET_COLUMN},
    {.name = "get-named-columns",
     .shows = "a get that names 1,000 of a row's n columns, side by side",
     .unit = "column",
     .n = 5000,
     .build = build_columns,
     .work = get_named_columns},
    {.name = "get-wide-row",
     .shows = "a get of a row of n columns in four files",
     .unit = "cell",
     .n = 5000,
     .build = build_columns,
     .work = cliff_gets,
     .found = CLIFF_ALL},
    {.name = NULL},
};
