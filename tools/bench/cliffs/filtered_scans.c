/* filtered_scans.c -- workloads of `kv-bench cliffs`: what filters and raw scans do for each
 * cell. */
#include "tools/bench/cliffs/cliff.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
scan_filtered(struct cliff_bed *bed, petal_filter *filter)
{
    uint64_t cells = cliff_scan(
        bed, &(petal_scan_options){.read = {.versions = PETAL_ALL_VERSIONS, .filter = filter}});

    petal_filter_free(filter);
    return cells;
}

/* n writes at one timestamp, of one column and of the whole family, by turns of both kinds. */
static void
build_writes(struct cliff_bed *bed, uint64_t n)
{
    static const enum petal_cell_type types[] = {PETAL_PUT, PETAL_DELETE_FAMILY, PETAL_DELETE,
                                                 PETAL_DELETE_FAMILY_VERSION};

    for (uint64_t i = 0; i < n; i++) {
        enum petal_cell_type type = types[i % 4];

        if (type == PETAL_PUT)
            cliff_put_cell(bed, "q", 1);
        else
            cliff_delete(bed, bench_text("row"), bench_text(type == PETAL_DELETE ? "q" : ""), 1,
                         type);
    }
}

/* ---- arguments that are many ---- */

#define FEW_ROWS 200

static petal_filter *
make_filter(struct cliff_bed *bed, const char *name, const petal_filter_argument *arguments,
            uint64_t count)
{
    petal_filter *filter;

    BENCH_MUST("make a filter",
               petal_filter_make(bed->db, name, arguments, count, &filter, &error));
    return filter;
}

static petal_filter *
make_value_filter(struct cliff_bed *bed, const char *comparator)
{
    const petal_filter_argument arguments[] = {
        {.kind = PETAL_FILTER_COMPARE, .number = PETAL_EQUAL},
        {.kind = PETAL_FILTER_BYTES, .bytes = bench_text(comparator)}};

    return make_filter(bed, "ValueFilter", arguments, 2);
}

static void
build_text(struct cliff_bed *bed, uint64_t n)
{
    char *text = bench_alloc(n);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + bench_scramble(i) % 26);
    cliff_put(bed, bench_text("row"), bench_text("q"), 1, (petal_slice){text, n});
    free(text);
}

/* A value that is all but the beginning of what is looked for, again and again. */
static void
build_beginnings(struct cliff_bed *bed, uint64_t n)
{
    char *text = bench_alloc(n);

    memset(text, 'a', n);
    cliff_put(bed, bench_text("row"), bench_text("q"), 1, (petal_slice){text, n});
    free(text);
}

static uint64_t
scan_substring(struct cliff_bed *bed, uint64_t n)
{
    static const char type[] = "substring:";
    char *comparator = bench_alloc(sizeof type + n / 2 + 1);

    memset(stpcpy(comparator, type), 'a', n / 2);
    comparator[sizeof type - 1 + n / 2] = 'b';
    cliff_expect(scan_filtered(bed, make_value_filter(bed, comparator)), 0);
    free(comparator);
    return n;
}

static void
build_few_rows(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < FEW_ROWS; i++)
        cliff_put(bed, cliff_key(key, "row", n < FEW_ROWS ? i : i * n / FEW_ROWS), bench_text("q"),
                  1, bench_text("value"));
}

/* A filter of that name whose arguments come in groups of `size`, filled for each i below n by
 * `fill`. */
static petal_filter *
make_of_groups(struct cliff_bed *bed, const char *name, uint64_t n, size_t size,
               void (*fill)(petal_filter_argument *group, char key[CLIFF_KEY_BYTES], uint64_t i))
{
    petal_filter_argument *arguments = bench_alloc(n * size * sizeof *arguments);
    char *keys = bench_alloc(n * CLIFF_KEY_BYTES);
    petal_filter *filter;

    for (uint64_t i = 0; i < n; i++)
        fill(&arguments[i * size], &keys[i * CLIFF_KEY_BYTES], i);
    filter = make_filter(bed, name, arguments, n * size);
    free(arguments);
    free(keys);
    return filter;
}

static petal_filter_argument
bytes_argument(petal_slice bytes)
{
    return (petal_filter_argument){.kind = PETAL_FILTER_BYTES, .bytes = bytes};
}

/* The row alone. */
static void
fill_range(petal_filter_argument *group, char key[CLIFF_KEY_BYTES], uint64_t i)
{
    group[0] = group[2] = bytes_argument(cliff_key(key, "row", i));
    group[1] = group[3] = (petal_filter_argument){.kind = PETAL_FILTER_BOOLEAN, .number = 1};
}

static uint64_t
scan_ranges(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(scan_filtered(bed, make_of_groups(bed, "MultiRowRangeFilter", n, 4, fill_range)),
                 FEW_ROWS);
    return n;
}

/* Any row that ends with an x after what the rows have: each row is looked at. */
static void
fill_pattern(petal_filter_argument *group, char key[CLIFF_KEY_BYTES], uint64_t i)
{
    static const char mask[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    petal_slice pattern = cliff_key(key, "row", i);

    key[pattern.size++] = 'x';
    group[0] = bytes_argument(pattern);
    group[1] = bytes_argument((petal_slice){mask, sizeof mask});
}

static uint64_t
scan_patterns(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(scan_filtered(bed, make_of_groups(bed, "FuzzyRowFilter", n, 2, fill_pattern)), 0);
    return n;
}

static void
fill_timestamp(petal_filter_argument *group, char key[CLIFF_KEY_BYTES], uint64_t i)
{
    (void)key;
    group[0] = (petal_filter_argument){.kind = PETAL_FILTER_NUMBER,
                                       .number = (int64_t)(bench_scramble(i) >> 1 | 2)};
}

static uint64_t
scan_timestamps(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(scan_filtered(bed, make_of_groups(bed, "TimestampsFilter", n, 1, fill_timestamp)),
                 0);
    return n;
}

static uint64_t
scan_members(struct cliff_bed *bed, uint64_t n)
{
    petal_filter **members = bench_alloc(n * sizeof *members), *list;

    for (uint64_t i = 0; i < n; i++)
        members[i] = make_value_filter(bed, "binary:another");
    BENCH_MUST("make a list of filters",
               petal_filter_combine(bed->db, PETAL_FILTER_OR, members, n, &list, &error));
    for (uint64_t i = 0; i < n; i++)
        petal_filter_free(members[i]);
    free(members);
    cliff_expect(scan_filtered(bed, list), 0);
    return n;
}

/* Filters that know where to go on: one cell of a row of n columns, or of a column of n versions.
 * Growth: the index has a level more. */
#define FINDS                                                                                      \
    .unit = "scan", .most = 2, .cells = 20, .stored = true, .warm = true, .work = cliff_scans,     \
    .read = {.versions = PETAL_ALL_VERSIONS}, .times = 20, .found = 1
#define IN_COLUMNS .build = cliff_put_columns, FINDS

const struct cliff bench_cliffs_filtered_scans[] = {
    {.name = "dependent-column",
     .shows = "DependentColumnFilter over n versions of its column",
     .unit = "cell",
     .options = {.versions = INT32_MAX},
     .build = cliff_put_versions,
     .work = cliff_scans,
     .read = {.versions = PETAL_ALL_VERSIONS},
     .filter = "DependentColumnFilter('f', 'q', false)",
     .found = CLIFF_ALL},
    {.name = "raw-writes",
     .shows = "raw scan of n writes at one timestamp",
     .unit = "write",
     .options = {.versions = INT32_MAX},
     .build = build_writes,
     .work = cliff_scans,
     .read = {.versions = PETAL_ALL_VERSIONS},
     .raw = true,
     .found = 4}, /* the latest of each kind */
    {.name = "regex",
     .shows = "a regular expression looked for in n bytes",
     .unit = "byte",
     .n = 20000,
     .build = build_text,
     .work = cliff_scans,
     /* Everywhere in the text a match can begin, and none ends. */
     .filter = "ValueFilter(=, 'regexstring:[a-m]+[n-z]+[0-9!]')"},
    {.name = "substring",
     .shows = "half of n letters looked for in n",
     .unit = "letter",
     .build = build_beginnings,
     .work = scan_substring},
    {.name = "row-ranges",
     .shows = "MultiRowRangeFilter with n ranges, over 200 rows",
     .unit = "range",
     .build = build_few_rows,
     .work = scan_ranges},
    {.name = "fuzzy-patterns",
     .shows = "FuzzyRowFilter with n patterns, over 200 rows",
     .unit = "pattern",
     .n = 100,
     .build = build_few_rows,
     .work = scan_patterns},
    {.name = "timestamps",
     .shows = "TimestampsFilter with n timestamps, over 200 rows",
     .unit = "timestamp",
     .build = build_few_rows,
     .work = scan_timestamps},
    {.name = "filter-list",
     .shows = "a list of n filters, one of which must pass, over 200 cells",
     .unit = "filter",
     .n = 100,
     .build = build_few_rows,
     .work = scan_members},
    {.name = "qualifier",
     .shows = "QualifierFilter = in a row of n columns",
     .filter = "QualifierFilter(=, 'binary:column0000001000')",
     IN_COLUMNS},
    {.name = "reversed-qualifier",
     .shows = "the same, reversed",
     .filter = "QualifierFilter(=, 'binary:column0000001000')",
     .reversed = true,
     IN_COLUMNS},
    {.name = "qualifier-prefix",
     .shows = "QualifierFilter = binaryprefix: in a row of n columns",
     .filter = "QualifierFilter(=, 'binaryprefix:column0000001000')",
     IN_COLUMNS},
    {.name = "qualifier-between",
     .shows = "an AND with QualifierFilter > and <= in a row of n columns",
     .filter = "ValueFilter(=, 'binary:value') AND QualifierFilter(>, "
               "'binary:column0000000999') AND QualifierFilter(<=, 'binary:column0000001000')",
     IN_COLUMNS},
    {.name = "qualifier-either",
     .shows = "QualifierFilter = OR ColumnPrefixFilter in a row of n columns",
     .filter = "QualifierFilter(=, 'binary:column0000001000') OR ColumnPrefixFilter('nothing')",
     IN_COLUMNS},
    {.name = "timestamps-versions",
     .shows = "TimestampsFilter over a column of n versions",
     .filter = "TimestampsFilter(1000)",
     .options = {.versions = INT32_MAX},
     .build = cliff_put_versions,
     FINDS},
    {.name = NULL},
};
