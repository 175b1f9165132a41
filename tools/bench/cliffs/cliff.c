/* cliff.c -- see tools/bench/cliffs/cliff.h. */
#include "tools/bench/cliffs/cliff.h"

#include "tools/bench/harness/directory.h"

#include <inttypes.h>

static void
open_database(struct cliff_bed *bed, size_t memtable_bytes)
{
    const size_t most = (size_t)64 << 20;
    const petal_options options = {.create = true,
                                   .no_compaction = true,
                                   .cache_bytes = most,
                                   .memtable_bytes = memtable_bytes != 0 ? memtable_bytes : most};

    BENCH_MUST("open", petal_open(bed->directory, &options, &bed->db, &error));
    BENCH_MUST("make a result", petal_result_new(bed->db, &bed->result, &error));
    BENCH_MUST("make a receipt", petal_receipt_new(bed->db, &bed->receipt, &error));
}

static void
close_database(struct cliff_bed *bed)
{
    petal_snapshot_free(bed->snapshot);
    bed->snapshot = NULL;
    petal_result_free(bed->result);
    petal_receipt_free(bed->receipt);
    if (bed->reader != NULL)
        BENCH_MUST("close the reader", petal_close(bed->reader, &error));
    bed->reader = NULL;
    BENCH_MUST("close", petal_close(bed->db, &error));
}

void
cliff_make(struct cliff_bed *bed, const struct cliff *cliff)
{
    petal_family_options family = cliff->options;
    const petal_table_options table = {
        .name = bench_text("t"), .families = &family, .family_count = 1};

    family.name = bench_text("f");
    *bed = (struct cliff_bed){.cliff = cliff};
    bench_make_directory(bed->directory, sizeof bed->directory);
    open_database(bed, 0);
    BENCH_MUST("make a table", petal_table_create(bed->db, &table, &bed->table, &error));
    bed->family = petal_table_family_at(bed->table, 0);
}

void
cliff_remove(struct cliff_bed *bed)
{
    close_database(bed);
    bench_remove_directory(bed->directory);
}

void
cliff_reopen(struct cliff_bed *bed, size_t memtable_bytes)
{
    close_database(bed);
    open_database(bed, memtable_bytes);
    BENCH_MUST("open the table", petal_table_open(bed->db, bench_text("t"), &bed->table, &error));
    bed->family = petal_table_family_at(bed->table, 0);
}

void
cliff_forget(struct cliff_bed *bed)
{
    bed->counted = bed->flushed = false;
    bed->files = bed->file_bytes = 0;
    bed->blocks = bed->seeks = bed->cells = 0;
}

void
cliff_put(struct cliff_bed *bed, petal_slice row, petal_slice qualifier, int64_t timestamp,
          petal_slice value)
{
    BENCH_MUST("put", petal_put(bed->family, row, qualifier, timestamp, value, NULL, &error));
}

void
cliff_put_cell(struct cliff_bed *bed, const char *qualifier, uint64_t timestamp)
{
    cliff_put(bed, bench_text("row"), bench_text(qualifier), (int64_t)timestamp,
              bench_text("value"));
}

void
cliff_delete(struct cliff_bed *bed, petal_slice row, petal_slice qualifier, int64_t timestamp,
             enum petal_cell_type type)
{
    BENCH_MUST("delete", petal_delete(bed->family, row, qualifier, timestamp, type, NULL, &error));
}

void
cliff_flush(struct cliff_bed *bed)
{
    BENCH_MUST("flush", petal_flush(bed->db, bed->table, &error));
}

petal_slice
cliff_key(char key[CLIFF_KEY_BYTES], const char *prefix, uint64_t number)
{
    return (petal_slice){
        key, (size_t)snprintf(key, CLIFF_KEY_BYTES, "%.10s%010" PRIu64, prefix, number)};
}

void
cliff_put_rows(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < n; i++)
        cliff_put(bed, cliff_key(key, "row", i), bench_text("q"), 1, bench_text("value"));
}

void
cliff_put_columns(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < n; i++)
        cliff_put(bed, bench_text("row"), cliff_key(key, "column", i), 1, bench_text("value"));
}

void
cliff_put_versions(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++)
        cliff_put_cell(bed, "q", i);
}

/* ---- reads ---- */

static void
count_receipt(struct cliff_bed *bed)
{
    bed->counted = true;
    for (size_t i = 0; i < petal_receipt_count(bed->receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(bed->receipt, i);

        for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
            bed->blocks += source->blocks_cached[kind] + source->blocks_fetched[kind];
        bed->seeks += source->seeks;
        bed->cells += source->cells_read;
    }
}

uint64_t
cliff_get(struct cliff_bed *bed, petal_slice row, const petal_read_options *options)
{
    petal_read_options read = options != NULL ? *options : (petal_read_options){0};

    read.receipt = bed->receipt;
    BENCH_MUST("get", petal_get(bed->table, row, &read, bed->result, &error));
    count_receipt(bed);
    return petal_result_count(bed->result);
}

uint64_t
cliff_scan(struct cliff_bed *bed, const petal_scan_options *options)
{
    petal_scan_options scan = options != NULL ? *options : (petal_scan_options){0};
    petal_cursor *cursor;
    const petal_cell *cell;
    uint64_t cells = 0;

    scan.read.receipt = bed->receipt;
    BENCH_MUST("open a cursor", petal_cursor_open(bed->table, &scan, &cursor, &error));
    for (;; cells++) {
        BENCH_MUST("scan", petal_cursor_next(cursor, &cell, &error));
        if (cell == NULL)
            break;
    }
    petal_cursor_close(cursor);
    count_receipt(bed);
    return cells;
}

petal_filter *
cliff_filter(struct cliff_bed *bed, const char *text)
{
    petal_filter *filter;

    BENCH_MUST("make a filter", petal_filter_parse(bed->db, bench_text(text), &filter, &error));
    return filter;
}

static uint64_t
read_times(struct cliff_bed *bed, uint64_t n, bool gets)
{
    const struct cliff *cliff = bed->cliff;
    petal_filter *filter = cliff->filter != NULL ? cliff_filter(bed, cliff->filter) : NULL;
    petal_scan_options scan = {.read = cliff->read, .reversed = cliff->reversed, .raw = cliff->raw};
    petal_column column = {.family = bed->family};

    scan.read.filter = filter;
    if (cliff->column != NULL) {
        column.qualifier = bench_text(cliff->column);
        scan.read.columns = &column;
        scan.read.column_count = 1;
    }
    for (unsigned i = 0; i == 0 || i < cliff->times; i++)
        cliff_expect(gets ? cliff_get(bed, bench_text("row"), &scan.read) : cliff_scan(bed, &scan),
                     cliff->found == CLIFF_ALL ? n : cliff->found);
    petal_filter_free(filter);
    return cliff->times > 0 ? cliff->times : n;
}

uint64_t
cliff_scans(struct cliff_bed *bed, uint64_t n)
{
    return read_times(bed, n, false);
}

uint64_t
cliff_gets(struct cliff_bed *bed, uint64_t n)
{
    return read_times(bed, n, true);
}

void
cliff_count_begin(struct cliff_bed *bed)
{
    petal_stats_get(bed->db, &bed->before);
}

void
cliff_count_end(struct cliff_bed *bed)
{
    const petal_stats *before = &bed->before;
    petal_stats after;

    petal_stats_get(bed->db, &after);
    bed->counted = true;
    bed->blocks += after.data_cached - before->data_cached + after.data_fetched -
                   before->data_fetched + after.index_cached - before->index_cached +
                   after.index_fetched - before->index_fetched;
    bed->seeks += after.scan_seeks - before->scan_seeks;
}

void
cliff_expect(uint64_t cells, uint64_t wanted)
{
    char text[96];

    snprintf(text, sizeof text, "there are %" PRIu64 " cells, not %" PRIu64, cells, wanted);
    if (cells != wanted)
        bench_fail("go on", text);
}
