/* gets.c -- workloads of `kv-bench cliffs`: gets when there is much that their answers do not need.
 */
#include "tools/bench/cliffs/cliff.h"

#define GETS    100
#define COLUMNS 1000 /* that a get names */

static petal_slice
row(void)
{
    return bench_text("row");
}

static void
put(struct cliff_bed *bed, const char *qualifier, uint64_t timestamp)
{
    cliff_put(bed, row(), bench_text(qualifier), (int64_t)timestamp, bench_text("value"));
}

static void
add_marker(struct cliff_bed *bed, petal_slice marked, petal_slice qualifier, uint64_t timestamp,
           enum petal_cell_type type)
{
    petal_error error;

    bench_check(
        petal_delete(bed->family, marked, qualifier, (int64_t)timestamp, type, NULL, &error),
        &error, "delete");
}

/* GETS times; each finds `cells` cells. */
static uint64_t
get_row(struct cliff_bed *bed, const petal_read_options *options, uint64_t cells)
{
    for (unsigned i = 0; i < GETS; i++)
        cliff_expect(cliff_get(bed, row(), options), cells);
    return GETS;
}

static uint64_t
get_column(struct cliff_bed *bed, uint64_t n)
{
    const petal_column column = {.family = bed->family, .qualifier = bench_text("q")};

    (void)n;
    return get_row(bed, &(petal_read_options){.columns = &column, .column_count = 1}, 1);
}

/* ---- markers of single versions ---- */

static void
build_files(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++) {
        put(bed, "q", i);
        cliff_flush(bed);
    }
    add_marker(bed, bench_text("other"), bench_text("q"), 1, PETAL_DELETE);
    get_column(bed, n);
}

static void
build_markers(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 1; i <= n; i++) {
        put(bed, "q", i);
        add_marker(bed, cliff_key(key, "other", i), bench_text("q"), i, PETAL_DELETE);
    }
}

/* ---- versions ---- */

static void
build_versions(struct cliff_bed *bed, uint64_t n)
{
    put(bed, "a", n);
    cliff_put_versions(bed, n);
    put(bed, "z", n);
    cliff_flush(bed);
}

static uint64_t
get_three_columns(struct cliff_bed *bed, uint64_t n)
{
    (void)n;
    return get_row(bed, NULL, 3);
}

static uint64_t
get_old_versions(struct cliff_bed *bed, uint64_t n)
{
    (void)n;
    return get_row(bed,
                   &(petal_read_options){
                       .versions = PETAL_ALL_VERSIONS, .has_time_range = true, .time_limit = 3},
                   2);
}

/* ---- family markers ---- */

static void
build_family_markers(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++)
        add_marker(bed, row(), bench_text(""), i, PETAL_DELETE_FAMILY);
    put(bed, "q", n + 1);
}

static void
build_family_versions(struct cliff_bed *bed, uint64_t n)
{
    put(bed, "q", 2);
    for (uint64_t i = 1; i <= n; i++)
        add_marker(bed, row(), bench_text(""), 2 * i + 1, PETAL_DELETE_FAMILY_VERSION);
}

/* ---- wide rows ---- */

/* In four files, each with every fourth column. */
static void
build_columns(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (unsigned part = 0; part < 4; part++) {
        for (uint64_t i = part; i < n; i += 4)
            cliff_put(bed, row(), cliff_key(key, "column", i), 1, bench_text("value"));
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
    cliff_expect(
        cliff_get(bed, row(), &(petal_read_options){.columns = columns, .column_count = COLUMNS}),
        COLUMNS);
    return COLUMNS;
}

static uint64_t
get_all_columns(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(cliff_get(bed, row(), NULL), n);
    return n;
}

const struct cliff bench_cliffs_gets[] = {
    {.name = "get-files",
     .shows = "gets of a column in n files, beside a delete of another row's version",
     .unit = "get",
     .n = 3,
     .most = 4, /* the receipt names each file */
     .build = build_files,
     .work = get_column},
    {.name = "get-markers",
     .shows = "gets of a column of n versions, beside n deletes of other rows' versions",
     .unit = "get",
     .options = {.versions = INT32_MAX},
     .build = build_markers,
     .work = get_column},
    {.name = "get-versions",
     .shows = "gets of a row of three columns, one of n versions",
     .unit = "get",
     .most = 2, /* a level of the index more */
     .options = {.versions = INT32_MAX},
     .build = build_versions,
     .work = get_three_columns},
    {.name = "get-old-versions",
     .shows = "gets of the two oldest of n versions, by a time range",
     .unit = "get",
     .most = 2, /* a level of the index more */
     .options = {.versions = INT32_MAX},
     .build = build_versions,
     .work = get_old_versions},
    {.name = "get-family-markers",
     .shows = "gets of a row with n deletes of the family",
     .unit = "get",
     .build = build_family_markers,
     .work = get_column},
    {.name = "get-family-versions",
     .shows = "gets of a row with n deletes of the family's versions",
     .unit = "get",
     .build = build_family_versions,
     .work = get_column},
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
     .work = get_all_columns},
    {.name = NULL},
};
