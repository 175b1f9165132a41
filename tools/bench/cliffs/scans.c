/* scans.c -- workloads of `kv-bench cliffs`: scans of named columns and of old
 * versions, both ways. */
#include "tools/bench/cliffs/cliff.h"

#define MOST_NAMED 1000
#define ROWS       5000
#define SCANS      100

/* ---- a file that has none of the columns ---- */

/* An older file with the column "named" in each row, a newer one without it. */
static void
build_two_files(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (int file = 0; file < 2; file++) {
        for (uint64_t i = 0; i < n; i++)
            cliff_put(bed, cliff_key(key, "row", i), bench_text(file == 0 ? "named" : "other"), 1,
                      bench_text("value"));
        cliff_flush(bed);
    }
}

/* From the last row down to the tenth before it, for a column that no row has. */
static uint64_t
scan_back_to_stop(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];
    petal_column column = {.family = bed->family, .qualifier = bench_text("o")};
    petal_scan_options scan = {.reversed = true,
                               .stop_row = cliff_key(key, "row", n - 11),
                               .read.columns = &column,
                               .read.column_count = 1,
                               .read.without = PETAL_WITHOUT(PETAL_SKIP_COLUMNS)};

    for (unsigned i = 0; i < SCANS; i++)
        cliff_expect(cliff_scan(bed, &scan), 0);
    return SCANS;
}

/* ---- many names ---- */

static petal_column columns[MOST_NAMED];
static char names[MOST_NAMED][CLIFF_KEY_BYTES];

/* Rows of one column each; n even ones are named. */
static void
build_rows(struct cliff_bed *bed, uint64_t n)
{
    char row[CLIFF_KEY_BYTES], column[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < ROWS; i++)
        cliff_put(bed, cliff_key(row, "row", i), cliff_key(column, "c", i * 7 % (2 * n)), 1,
                  bench_text("value"));
    cliff_flush(bed);
    for (uint64_t i = 0; i < n; i++)
        columns[i] =
            (petal_column){.family = bed->family, .qualifier = cliff_key(names[i], "c", 2 * i)};
}

static uint64_t
scan_named(struct cliff_bed *bed, uint64_t n)
{
    petal_scan_options scan = {.read.columns = columns, .read.column_count = n};

    cliff_expect(cliff_scan(bed, &scan), ROWS / 2);
    return ROWS;
}

const struct cliff bench_cliffs_scans[] = {
    {.name = "reversed-column",
     .shows = "a reversed scan of n rows for a column that the newer file has in none of them",
     .unit = "row",
     .build = build_two_files,
     .work = cliff_scans,
     .read = {.without = PETAL_WITHOUT(PETAL_SKIP_COLUMNS)},
     .column = "named",
     .reversed = true,
     .found = CLIFF_ALL},
    {.name = "reversed-stop",
     .shows = "reversed scans of the last ten of n rows for a column that none has",
     .unit = "scan",
     .build = build_two_files,
     .work = scan_back_to_stop},
    {.name = "named-columns",
     .shows = "a scan of rows of one column each that names n columns",
     .unit = "row",
     .n = MOST_NAMED / 10,
     .most = 2,
     .options = {.bloom = PETAL_BLOOM_ROWCOL},
     .build = build_rows,
     .work = scan_named},
    {.name = "old-versions",
     .shows = "scans for the tenth of n versions, by its timestamp",
     .unit = "scan",
     .most = 2.5,
     .options = {.versions = INT32_MAX},
     .build = cliff_put_versions,
     .stored = true,
     .work = cliff_scans,
     .read = {.has_time_range = true, .time_min = 10, .time_limit = 11},
     .times = SCANS,
     .found = 1},
    {.name = NULL},
};
