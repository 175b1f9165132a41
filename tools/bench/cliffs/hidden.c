/* hidden.c -- workloads of `kv-bench cliffs`: reads that have to pass what they do not show:
 * deleted and expired cells, versions later than a snapshot or than a time range, cells before an
 * offset. */
#include "tools/bench/cliffs/cliff.h"

#define READS 20

/* n rows of one column in a file, stamped 1, and one after them, stamped 3. */
static void
put_rows(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_rows(bed, n);
    cliff_put(bed, bench_text("zzz"), bench_text("q"), 3, bench_text("value"));
}

/* ---- deleted rows ---- */

/* After a flush, by markers in memory. */
static void
build_deleted(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    put_rows(bed, n);
    cliff_flush(bed);
    for (uint64_t i = 0; i < n; i++)
        cliff_delete(bed, cliff_key(key, "row", i), bench_text(""), 2, PETAL_DELETE_FAMILY);
}

/* ---- a range that is deleted already ---- */

static uint64_t
delete_range(struct cliff_bed *bed, uint64_t wanted)
{
    petal_deleted_rows deleted;

    BENCH_MUST("delete a range", petal_kv_delete_range(bed->kv, bench_text(""), bench_text(""),
                                                       NULL, &deleted, &error));
    cliff_expect(deleted.rows, wanted);
    return wanted;
}

static void
build_deleted_range(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    BENCH_MUST("open a key-value table",
               petal_kv_open(bed->db, bench_text("kv"), NULL, &bed->kv, &error));
    for (uint64_t i = 0; i < n; i++)
        BENCH_MUST("put", petal_kv_put(bed->kv, cliff_key(key, "key", i), bench_text("value"), NULL,
                                       &error));
    BENCH_MUST("flush", petal_flush(bed->db, petal_kv_table(bed->kv), &error));
    delete_range(bed, n);
    BENCH_MUST("flush", petal_flush(bed->db, petal_kv_table(bed->kv), &error));
}

static uint64_t
delete_range_again(struct cliff_bed *bed, uint64_t n)
{
    cliff_count_begin(bed);
    delete_range(bed, 0);
    cliff_count_end(bed);
    return n;
}

/* ---- an old snapshot ---- */

/* n versions of one column, written since the snapshot. */
static void
build_hot_key(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_cell(bed, "q", 1);
    BENCH_MUST("make a snapshot", petal_snapshot_new(bed->db, &bed->snapshot, &error));
    for (uint64_t i = 0; i < n; i++)
        cliff_put_cell(bed, "q", i + 2);
}

static uint64_t
get_as_of_snapshot(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(
        cliff_get(bed, bench_text("row"), &(petal_read_options){.snapshot = bed->snapshot}), 1);
    return n;
}

/* ---- pages ---- */

/* The last ten cells of the row. */
static uint64_t
get_last_page(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(
        cliff_get(bed, bench_text("row"),
                  &(petal_read_options){.family_cell_limit = 10, .family_cell_offset = n - 10}),
        10);
    return n;
}

/* The same page, from its first column on. */
static uint64_t
seek_last_page(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES], text[96];
    petal_filter *filter;

    snprintf(text, sizeof text, "ColumnRangeFilter('%.*s', true, '', false)",
             (int)cliff_key(key, "column", n - 10).size, key);
    filter = cliff_filter(bed, text);
    for (unsigned i = 0; i < READS; i++)
        cliff_expect(cliff_get(bed, bench_text("row"),
                               &(petal_read_options){.filter = filter, .family_cell_limit = 10}),
                     10);
    petal_filter_free(filter);
    return READS;
}

/* ---- one marker ---- */

static void
build_marked_row(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_columns(bed, n);
    /* So that the flush keeps them. */
    BENCH_MUST("make a snapshot", petal_snapshot_new(bed->db, &bed->snapshot, &error));
    cliff_delete(bed, bench_text("row"), bench_text(""), 2, PETAL_DELETE_FAMILY);
    cliff_put_cell(bed, "z", 3);
}

/* n rows past the family's time to live and, of the same file, one that is not. */
static void
build_expired(struct cliff_bed *bed, uint64_t n)
{
    petal_family_options family = {.name = bench_text("f"), .ttl_seconds = 1000000};
    const petal_table_options table = {
        .name = bench_text("t"), .families = &family, .family_count = 1};

    cliff_put_rows(bed, n);
    cliff_put(bed, bench_text("zzz"), bench_text("q"), PETAL_LATEST, bench_text("value"));
    cliff_flush(bed);
    BENCH_MUST("alter the table", petal_table_alter(bed->table, &table, &error));
}

/* One scan of n rows that finds the last of them. */
#define FINDS_LAST .unit = "row", .work = cliff_scans, .found = 1

const struct cliff bench_cliffs_hidden[] = {
    {.name = "deleted-rows",
     .shows = "a scan over n deleted rows; a row costs its cells",
     .cells = 2.1,
     .build = build_deleted,
     .stored = true,
     FINDS_LAST},
    {.name = "reversed-deleted",
     .shows = "the same, reversed: as many cells, and two seeks a file",
     .cells = 2.1,
     .build = build_deleted,
     .stored = true,
     .reversed = true,
     FINDS_LAST},
    {.name = "deleted-in-memory",
     .shows = "a scan over n rows in a file, deleted by markers in memory",
     .cells = 2.1,
     .build = build_deleted,
     FINDS_LAST},
    {.name = "reversed-memory",
     .shows = "the same, reversed: as many cells, and two seeks",
     .cells = 1.1,
     .build = build_deleted,
     .reversed = true,
     FINDS_LAST},
    {.name = "delete-again",
     .shows = "petal_kv_delete_range over n keys that are deleted already",
     .unit = "key",
     .build = build_deleted_range,
     .work = delete_range_again},
    {.name = "old-snapshot",
     .shows = "a get as of a snapshot, of a column written n times since; each costs a cell",
     .unit = "version",
     .cells = 1.1,
     .options = {.versions = INT32_MAX},
     .build = build_hot_key,
     .stored = true,
     .work = get_as_of_snapshot},
    {.name = "page-offset",
     .shows = "a get of the ten cells after an offset of n in a row; each one passed costs a cell",
     .unit = "cell",
     .cells = 1.1,
     .build = cliff_put_columns,
     .stored = true,
     .work = get_last_page},
    {.name = "page-column",
     .shows = "gets of the same ten cells by their first column, a ColumnRangeFilter and a limit",
     .unit = "get",
     .cells = 20,
     .build = cliff_put_columns,
     .stored = true,
     .warm = true,
     .work = seek_last_page},
    {.name = "marked-row",
     .shows = "a get of the cell after n columns hidden by one marker; each one costs a cell",
     .unit = "column",
     .cells = 1.1,
     .build = build_marked_row,
     .stored = true,
     .work = cliff_gets,
     .found = 1},
    {.name = "time-range-rows",
     .shows = "a scan of n rows for a time range that only the last one hits; a row costs a cell",
     .cells = 1.1,
     .build = put_rows,
     .stored = true,
     .read = {.has_time_range = true, .time_min = 3, .time_limit = 4},
     FINDS_LAST},
    {.name = "expired-rows",
     .shows = "a scan for the row after n that are past their time to live; each costs a cell",
     .cells = 1.1,
     .build = build_expired,
     FINDS_LAST},
    {.name = NULL},
};
