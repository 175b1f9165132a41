/* flushes.c -- workloads of `kv-bench cliffs`: flushes because memory is full. */
#include "tools/bench/cliffs/cliff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MEMTABLE_BYTES ((size_t)1 << 20)
#define VALUE_BYTES    4096
#define FILLS          3 /* logs of so many are kept for the cold cells */
#define FLUSHES        10
#define FILL_PUTS      (MEMTABLE_BYTES / VALUE_BYTES + 1)

static petal_table *
make_table(struct cliff_bed *bed, const char *prefix, uint64_t i)
{
    char name[CLIFF_KEY_BYTES];
    const petal_family_options family = {.name = bench_text("f")};
    const petal_table_options options = {
        .name = cliff_key(name, prefix, i), .families = &family, .family_count = 1};
    petal_table *table;

    BENCH_MUST("make a table", petal_table_create(bed->db, &options, &table, &error));
    return table;
}

/* n tables of one cell each, in memory. */
static void
build_cold_tables(struct cliff_bed *bed, uint64_t n)
{
    cliff_reopen(bed, MEMTABLE_BYTES);
    for (uint64_t i = 0; i < n; i++) {
        petal_family *family = petal_table_family_at(make_table(bed, "cold", i), 0);

        BENCH_MUST("put", petal_put(family, bench_text("row"), bench_text("q"), PETAL_LATEST,
                                    bench_text("value"), NULL, &error));
    }
}

/* One more table is written to until memory was full FILLS times. */
static uint64_t
fill_memory(struct cliff_bed *bed, uint64_t n)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    char key[CLIFF_KEY_BYTES], value[VALUE_BYTES];
    petal_stats before, after;

    (void)n;
    memset(value, 'v', sizeof value);
    petal_stats_get(bed->db, &before);
    for (uint64_t i = 0; i < FILLS * FILL_PUTS; i++) {
        cliff_put(bed, cliff_key(key, "", i), bench_text("q"), 1,
                  (petal_slice){value, sizeof value});
        while (petal_stats_get(bed->db, &after), after.flushes_waiting > 0)
            nanosleep(&moment, NULL);
    }
    bed->flushed = true;
    bed->files = after.flushes - before.flushes;
    bed->file_bytes = after.flush_bytes - before.flush_bytes;
    if (bed->files == 0)
        bench_fail("go on", "memory was never full");
    return FILLS;
}

static uint64_t
flush_cells(struct cliff_bed *bed, uint64_t n)
{
    (void)n;
    for (int i = 0; i < FLUSHES; i++) {
        cliff_put_cell(bed, "q", 1);
        cliff_flush(bed);
    }
    return FLUSHES;
}

/* n tables that hold nothing. */
static void
build_idle_tables(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        make_table(bed, "idle", i);
}

/* n store files of one store. */
static void
build_files(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        cliff_put_cell(bed, "q", i + 1);
        cliff_flush(bed);
    }
}

static uint64_t
open_files(struct cliff_bed *bed, uint64_t n)
{
    cliff_reopen(bed, 0);
    return n;
}

const struct cliff bench_cliffs_flushes[] = {
    {.name = "cold-tables",
     .shows = "memory fills by one table, next to n tables of one cell each",
     .unit = "fill",
     .n = 30,
     .build = build_cold_tables,
     .work = fill_memory},
    {.name = "idle-tables",
     .shows = "flushes of one cell, next to n tables that hold none",
     .unit = "flush",
     .n = 100,
     .most = 1.2,
     .build = build_idle_tables,
     .warm = true, /* the allocator tidies up after the tables once */
     .work = flush_cells},
    {.name = "open-files",
     .shows = "the database is opened, with n store files of one store",
     .unit = "file",
     .n = 100,
     .most = 1.2,
     .options = {.bloom = PETAL_BLOOM_NONE},
     .build = build_files,
     .work = open_files},
    {.name = NULL},
};
