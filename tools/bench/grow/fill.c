/* fill.c -- see tools/bench/grow/fill.h. */
#include "tools/bench/grow/fill.h"

#include "tools/bench/grow/watch.h"
#include "tools/bench/harness/driver.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/keys/pairs.h"

#include <math.h>

#define LEAST_LIMIT ((size_t)1 << 20) /* of memory_bytes */
#define OPENINGS    5
#define GETS        5000

struct database {
    struct grow_fill *fill;
    struct bench_pairs pairs;
    struct grow_watch watch;
    petal_db *db;
    petal_table *table;
    petal_family *family;
    uint64_t first;     /* pair of those that are being put */
    double longest_put; /* seconds in one call */
};

/* ---- opening ---- */

static void
open_database(struct database *database)
{
    size_t memory = database->fill->memory;
    const petal_env env = {.log_context = &database->watch, .log = grow_watch_log};
    const petal_options options = {.create = true,
                                   .memory_bytes =
                                       8 * memory > LEAST_LIMIT ? 8 * memory : LEAST_LIMIT,
                                   .memtable_bytes = memory,
                                   .max_region_bytes = database->fill->region,
                                   .env = &env};

    BENCH_MUST("open", petal_open(database->fill->directory, &options, &database->db, &error));
}

static void
make_table(struct database *database)
{
    const petal_family_options family = {.name = PETAL_TEXT("f")};
    const petal_table_options table = {
        .name = PETAL_TEXT("grow"), .families = &family, .family_count = 1};

    BENCH_MUST("make a table", petal_table_create(database->db, &table, &database->table, &error));
    database->family = petal_table_family_at(database->table, 0);
}

static void
begin(struct database *database, struct grow_fill *fill)
{
    *database = (struct database){.fill = fill,
                                  .pairs = {.key_bytes = BENCH_KEY_BYTES,
                                            .value_bytes = GROW_PAIR_BYTES - BENCH_KEY_BYTES,
                                            .spread = !fill->sequential}};
    grow_watch_init(&database->watch, fill->directory);
    open_database(database);
    make_table(database);
}

static void
close_database(struct database *database)
{
    BENCH_MUST("close", petal_close(database->db, &error));
}

/* Sets the shortest time that an opening took of a database that was closed. */
static void
measure_opening(struct database *database)
{
    double least = INFINITY;

    for (int i = 0; i < OPENINGS; i++) {
        double begun;

        close_database(database);
        begun = bench_now();
        open_database(database);
        least = fmin(least, bench_now() - begun);
    }
    database->fill->figures[GROW_OPENING] = least;
    BENCH_MUST("open the table",
               petal_table_open(database->db, PETAL_TEXT("grow"), &database->table, &error));
}

/* ---- puts ---- */

static void *
begin_puts(void *database, unsigned index)
{
    (void)index;
    return database;
}

static void
end_puts(void *database)
{
    (void)database;
}

static uint64_t
put(struct bench_worker *worker, uint64_t position)
{
    struct database *database = worker->own;
    uint64_t pair = database->first + position;
    char key[BENCH_KEY_BYTES + 1];
    uint8_t value[GROW_PAIR_BYTES];
    petal_slice row = bench_pairs_key(&database->pairs, pair, false, key);
    petal_slice bytes = bench_pairs_value(&database->pairs, pair, value);
    double begun = bench_now();

    BENCH_MUST("put", petal_put(database->family, row, (petal_slice){0}, PETAL_LATEST, bytes, NULL,
                                &error));
    database->longest_put = fmax(database->longest_put, bench_now() - begun);
    return 1;
}

/* Put so many pairs from `first` on; the latencies of puts. */
static struct bench_histogram *
put_pairs(struct database *database, uint64_t first, uint64_t count, double rate)
{
    struct bench_driven *driven = bench_alloc(sizeof *driven);

    database->first = first;
    bench_drive_run(&(struct bench_drive){.argument = database,
                                          .threads = 1,
                                          .operations = count,
                                          .rate = rate,
                                          .sample = 1,
                                          .begin = begin_puts,
                                          .end = end_puts,
                                          .operate = put},
                    driven);
    return &driven->latencies;
}

/* Let the background come to rest. */
static void
rest(struct database *database)
{
    BENCH_MUST("flush", petal_flush(database->db, NULL, &error));
    BENCH_MUST("wait", petal_wait_idle(database->db, &error));
}

/* ---- gets ---- */

static uint64_t
blocks_of(const petal_stats *stats)
{
    return stats->data_cached + stats->data_fetched + stats->index_cached + stats->index_fetched +
           stats->filter_cached + stats->filter_fetched;
}

static void
measure_gets(struct database *database)
{
    struct grow_fill *fill = database->fill;
    struct bench_random random = {1};
    petal_stats before, after;
    petal_result *result;

    BENCH_MUST("make a result", petal_result_new(database->db, &result, &error));
    petal_stats_get(database->db, &before);
    for (int i = 0; i < GETS; i++) {
        uint64_t number = bench_random_below(&random, fill->pairs);
        char key[BENCH_KEY_BYTES + 1];

        BENCH_MUST("get",
                   petal_get(database->table, bench_pairs_key(&database->pairs, number, false, key),
                             NULL, result, &error));
        fill->wrong +=
            petal_result_count(result) != 1 ||
            !bench_pairs_is_right(&database->pairs, number, petal_result_cell(result, 0)->value);
    }
    petal_stats_get(database->db, &after);
    petal_result_free(result);
    fill->figures[GROW_BLOCKS] = (double)(blocks_of(&after) - blocks_of(&before)) / GETS;
    fill->figures[GROW_DATA_BLOCKS] = (double)(after.data_cached + after.data_fetched -
                                               before.data_cached - before.data_fetched) /
                                      GETS;
}

/* ---- fills ---- */

void
grow_fill_fast(struct grow_fill *fill)
{
    uint64_t before = fill->pairs - fill->pairs / 4;
    struct bench_histogram *latencies;
    struct database database;
    double begun;

    begin(&database, fill);
    (void)put_pairs(&database, 0, before, 0);
    begun = bench_now();
    latencies = put_pairs(&database, before, fill->pairs - before, 0);
    rest(&database);
    fill->figures[GROW_RATE] = (double)(fill->pairs - before) / (bench_now() - begun);
    fill->figures[GROW_P50] = (double)bench_histogram_share(latencies, 0.5);
    close_database(&database);
}

static bool
count_region(void *count, const petal_region_info *info)
{
    (void)info;
    ++*(uint64_t *)count;
    return true;
}

static uint64_t
count_regions(petal_table *table)
{
    uint64_t count = 0;

    BENCH_MUST("ask for regions", petal_table_regions(table, count_region, &count, &error));
    return count;
}

static void
take_statistics(struct database *database)
{
    double *figures = database->fill->figures;
    double given = (double)database->fill->pairs * GROW_PAIR_BYTES, written;
    uint64_t files;
    petal_stats stats;

    petal_stats_get(database->db, &stats);
    if (stats.compaction_bytes_out > 0 && database->watch.job_bytes == 0)
        bench_fail("find compactions in the log lines", "they have another form");
    written = (double)(stats.flush_bytes + stats.compaction_bytes_out);
    grow_file_bytes(database->table, &files);
    figures[GROW_WRITTEN] = written / given;
    figures[GROW_WRITTEN_WITH_LOG] = (written + (double)stats.log_bytes) / given;
    figures[GROW_SPACE] = (double)database->watch.most_beyond;
    figures[GROW_JOB_BYTES] = (double)database->watch.job_bytes;
    figures[GROW_JOB_TIME] = (double)database->watch.job_ms;
    figures[GROW_REGIONS] = (double)count_regions(database->table);
    figures[GROW_FILES] = (double)files;
}

/* Since `before`, which is what was resident before the database was opened. */
static void
take_memory(struct database *database, uint64_t before)
{
    petal_stats stats;

    petal_stats_get(database->db, &stats);
    database->fill->figures[GROW_MEMORY] =
        fmax((double)bench_resident_peak() - (double)before - (double)stats.memory_limit, 0);
}

void
grow_fill_paced(struct grow_fill *fill)
{
    struct bench_histogram *latencies;
    struct database database;
    uint64_t before;

    bench_process_reset_peak();
    before = bench_resident_peak();
    begin(&database, fill);
    grow_watch_start(&database.watch, database.table);
    latencies = put_pairs(&database, 0, fill->pairs, fill->rate);
    rest(&database);
    grow_watch_stop(&database.watch);
    fill->figures[GROW_P999] = (double)bench_histogram_share(latencies, 0.999);
    fill->figures[GROW_STALL] = (double)latencies->greatest;
    fill->figures[GROW_LONGEST_PUT] = database.longest_put;
    take_statistics(&database);
    measure_opening(&database);
    measure_gets(&database);
    take_memory(&database, before);
    close_database(&database);
}
