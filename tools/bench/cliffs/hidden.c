/* hidden.c -- workloads of `kv-bench cliffs`: reads that have to pass what they do not show:
 * deleted and expired cells, versions later than a snapshot or than a time range, cells before an
 * offset. */
#include "tools/bench/cliffs/cliff.h"

#define READS 20

static petal_slice
row(void)
{
    return bench_text("row");
}

static void
delete_cells(struct cliff_bed *bed, petal_slice deleted, petal_slice qualifier,
             enum petal_cell_type type)
{
    petal_error error;

    bench_check(petal_delete(bed->family, deleted, qualifier, 2, type, NULL, &error), &error,
                "delete");
}

/* n rows of one column in a file, stamped 1, and one after them, stamped 3. */
static void
put_rows(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_rows(bed, n);
    cliff_put(bed, bench_text("zzz"), bench_text("q"), 3, bench_text("value"));
    cliff_flush(bed);
}

/* ---- deleted rows ---- */

static void
delete_rows(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < n; i++)
        delete_cells(bed, cliff_key(key, "row", i), bench_text(""), PETAL_DELETE_FAMILY);
}

static void
build_deleted(struct cliff_bed *bed, uint64_t n)
{
    put_rows(bed, n);
    delete_rows(bed, n);
    cliff_flush(bed);
}

static void
build_deleted_in_memory(struct cliff_bed *bed, uint64_t n)
{
    put_rows(bed, n);
    delete_rows(bed, n);
}

static uint64_t
walk_deleted(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(cliff_scan(bed, NULL), 1);
    return n;
}

static uint64_t
walk_deleted_back(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(cliff_scan(bed, &(petal_scan_options){.reversed = true}), 1);
    return n;
}

/* ---- a range that is deleted already ---- */

static uint64_t
delete_range(struct cliff_bed *bed, uint64_t wanted)
{
    petal_deleted_rows deleted;
    petal_error error;

    bench_check(
        petal_kv_delete_range(bed->kv, bench_text(""), bench_text(""), NULL, &deleted, &error),
        &error, "delete a range");
    cliff_expect(deleted.rows, wanted);
    return wanted;
}

static void
build_deleted_range(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];
    petal_error error;

    bench_check(petal_kv_open(bed->db, bench_text("kv"), NULL, &bed->kv, &error), &error,
                "open a key-value table");
    for (uint64_t i = 0; i < n; i++)
        bench_check(
            petal_kv_put(bed->kv, cliff_key(key, "key", i), bench_text("value"), NULL, &error),
            &error, "put");
    bench_check(petal_flush(bed->db, petal_kv_table(bed->kv), &error), &error, "flush");
    delete_range(bed, n);
    bench_check(petal_flush(bed->db, petal_kv_table(bed->kv), &error), &error, "flush");
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
    petal_error error;

    cliff_put(bed, row(), bench_text("q"), 1, bench_text("value"));
    bench_check(petal_snapshot_new(bed->db, &bed->snapshot, &error), &error, "make a snapshot");
    for (uint64_t i = 0; i < n; i++)
        cliff_put(bed, row(), bench_text("q"), (int64_t)i + 2, bench_text("value"));
    cliff_flush(bed);
}

static uint64_t
get_as_of_snapshot(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(cliff_get(bed, row(), &(petal_read_options){.snapshot = bed->snapshot}), 1);
    return n;
}

/* ---- pages ---- */

static void
build_wide_row(struct cliff_bed *bed, uint64_t n)
{
    cliff_put_columns(bed, n);
    cliff_flush(bed);
}

/* The last ten cells of the row. */
static uint64_t
get_last_page(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(
        cliff_get(bed, row(),
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
    petal_error error;

    snprintf(text, sizeof text, "ColumnRangeFilter('%.*s', true, '', false)",
             (int)cliff_key(key, "column", n - 10).size, key);
    bench_check(petal_filter_parse(bed->db, bench_text(text), &filter, &error), &error,
                "make a filter");
    for (unsigned i = 0; i < READS; i++)
        cliff_expect(
            cliff_get(bed, row(), &(petal_read_options){.filter = filter, .family_cell_limit = 10}),
            10);
    petal_filter_free(filter);
    return READS;
}

/* With the blocks that the gets are going to read in the cache. */
static void
build_page(struct cliff_bed *bed, uint64_t n)
{
    build_wide_row(bed, n);
    (void)seek_last_page(bed, n);
}

/* ---- one marker ---- */

static void
build_marked_row(struct cliff_bed *bed, uint64_t n)
{
    petal_error error;

    cliff_put_columns(bed, n);
    /* So that the flush keeps them. */
    bench_check(petal_snapshot_new(bed->db, &bed->snapshot, &error), &error, "make a snapshot");
    delete_cells(bed, row(), bench_text(""), PETAL_DELETE_FAMILY);
    cliff_put(bed, row(), bench_text("z"), 3, bench_text("value"));
    cliff_flush(bed);
}

static uint64_t
get_marked_row(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(cliff_get(bed, row(), NULL), 1);
    return n;
}

/* ---- time ranges, and times to live ---- */

static uint64_t
scan_for_last(struct cliff_bed *bed, uint64_t n)
{
    cliff_expect(cliff_scan(bed, &(petal_scan_options){.read.has_time_range = true,
                                                       .read.time_min = 3,
                                                       .read.time_limit = 4}),
                 1);
    return n;
}

/* n rows past the family's time to live and, of the same file, one that is not. */
static void
build_expired(struct cliff_bed *bed, uint64_t n)
{
    petal_family_options family = {.name = bench_text("f"), .ttl_seconds = 1000000};
    const petal_table_options table = {
        .name = bench_text("t"), .families = &family, .family_count = 1};
    petal_error error;

    cliff_put_rows(bed, n);
    cliff_put(bed, bench_text("zzz"), bench_text("q"), PETAL_LATEST, bench_text("value"));
    cliff_flush(bed);
    bench_check(petal_table_alter(bed->table, &table, &error), &error, "alter the table");
}

const struct cliff bench_cliffs_hidden[] = {
    {.name = "deleted-rows",
     .shows = "a scan over n deleted rows; a row costs its cells",
     .unit = "row",
     .cells = 2.1,
     .build = build_deleted,
     .work = walk_deleted},
    {.name = "reversed-deleted",
     .shows = "the same, reversed: as many cells, and two seeks a file",
     .unit = "row",
     .cells = 2.1,
     .build = build_deleted,
     .work = walk_deleted_back},
    {.name = "deleted-in-memory",
     .shows = "a scan over n rows in a file, deleted by markers in memory",
     .unit = "row",
     .cells = 2.1,
     .build = build_deleted_in_memory,
     .work = walk_deleted},
    {.name = "reversed-memory",
     .shows = "the same, reversed: as many cells, and two seeks",
     .unit = "row",
     .cells = 1.1,
     .build = build_deleted_in_memory,
     .work = walk_deleted_back},
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
     .work = get_as_of_snapshot},
    {.name = "page-offset",
     .shows = "a get of the ten cells behind an offset of n in a row; each one passed costs a cell",
     .unit = "cell",
     .cells = 1.1,
     .build = build_wide_row,
     .work = get_last_page},
    {.name = "page-column",
     .shows = "gets of the same ten cells by their first column, a ColumnRangeFilter and a limit",
     .unit = "get",
     .cells = 20,
     .build = build_page,
     .work = seek_last_page},
    {.name = "marked-row",
     .shows = "a get of the cell behind n columns hidden by one marker; each one costs a cell",
     .unit = "column",
     .cells = 1.1,
     .build = build_marked_row,
     .work = get_marked_row},
    {.name = "time-range-rows",
     .shows = "a scan of n rows for a time range that the last one alone hits; a row costs a cell",
     .unit = "row",
     .cells = 1.1,
     .build = put_rows,
     .work = scan_for_last},
    {.name = "expired-rows",
     .shows = "a scan for the row behind n that are past their time to live; each costs a cell",
     .unit = "row",
     .cells = 1.1,
     .build = build_expired,
     .work = walk_deleted},
    {.name = NULL},
};
