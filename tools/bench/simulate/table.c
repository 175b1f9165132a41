/* table.c -- see tools/bench/simulate/table.h. */
#include "tools/bench/simulate/table.h"

#include "engine/state/progress.h"
#include "engine/write/pace_share.h"
#include "tools/bench/harness/util.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_ROWS         0x1p64
#define SECONDS_OF_AGE   3600.0 /* regions are looked at for their age so often */
#define PARTS_OF_FILLING 16     /* steps in which memtables fill while memory slows the writer */
#define LEAST_BYTES      1e-6
#define LEAST_SECONDS    1e-9

/* ---- regions ---- */

static struct simulate_region *
region_after(const struct simulate_region *region)
{
    return (struct simulate_region *)region->store.next;
}

/* The regions to which cells are written: the last one, or all. */
static struct simulate_region *
first_written(const struct simulate_table *table)
{
    return table->settings.order == SIMULATE_SEQUENTIAL ? table->last : table->first;
}

/* The share of the cells written that go to one region of those that this stands for. */
static double
share_of_writes(const struct simulate_table *table, const struct simulate_region *region)
{
    if (table->settings.order == SIMULATE_SEQUENTIAL)
        return region == table->last ? 1 : 0;
    return ((double)(region->store.last - region->store.first) + 1) / ALL_ROWS;
}

/* A region's files or memtables have changed. */
static void
note_region(struct simulate_table *table, struct simulate_region *region)
{
    size_t runs = region->store.count + region->frozen;
    bool pressed = runs > STORE_SLOW_RUNS;

    table->pressed += (size_t)pressed - (size_t)region->pressed;
    region->pressed = pressed;
    region->grown = table->any_grown = true;
    if (runs > table->most_runs)
        table->most_runs = runs;
}

static void
note_store(void *table, struct simulate_store *store)
{
    note_region(table, (struct simulate_region *)store);
}

/* Memory that user bytes take. */
static double
memory_of(const struct simulate_settings *settings, double user)
{
    return user * (1 + settings->cell_overhead / settings->cell_bytes);
}

/* User bytes a second, at a share of the rate of flushes. */
static double
user_rate(const struct simulate_table *table, double share)
{
    uint64_t bytes = (uint64_t)1 << 40;
    double seconds = (double)pace_time(bytes, share, (uint64_t)table->flush_rate) / 1e6;

    return seconds > 0 ? (double)bytes / memory_of(&table->settings, 1) / seconds : INFINITY;
}

/* For the rate of flushes of late. */
static void
set_run_rates(struct simulate_table *table)
{
    for (size_t runs = 0; runs < STORE_MOST_RUNS; runs++)
        table->run_rates[runs] = user_rate(table, pace_share(0, 1, runs));
}

struct simulate_table *
simulate_table_new(const struct simulate_settings *settings)
{
    struct simulate_table *table = bench_alloc(sizeof *table);

    *table = (struct simulate_table){.settings = *settings, .simulated = 1};
    table->first = table->last = bench_alloc(sizeof *table->first);
    *table->first = (struct simulate_region){0};
    simulate_store_init(&table->first->store, &table->settings, &table->disk);
    simulate_compactor_init(&table->compactor, &table->settings, &table->disk);
    set_run_rates(table);
    return table;
}

void
simulate_table_free(struct simulate_table *table)
{
    for (struct simulate_region *region = table->first, *next; region != NULL; region = next) {
        next = region_after(region);
        simulate_store_fini(&region->store);
        free(region);
    }
    for (; table->flush_count > 0; table->flush_count--)
        free(table->flushes[table->flush_first++ % SIMULATE_MOST_FLUSHES].memtables);
    simulate_compactor_fini(&table->compactor);
    free(table);
}

double
simulate_table_regions(const struct simulate_table *table)
{
    double count = 0;

    for (const struct simulate_region *region = table->first; region != NULL;
         region = region_after(region))
        count += region->store.weight;
    return count;
}

double
simulate_table_runs_met(const struct simulate_table *table)
{
    double runs = 0, bytes = 0;

    for (const struct simulate_region *region = table->first; region != NULL;
         region = region_after(region)) {
        double own = region->store.weight * (double)simulate_store_bytes(&region->store);

        runs += own * simulate_store_runs_met(&region->store);
        bytes += own;
    }
    return bytes > 0 ? runs / bytes : 0;
}

/* Bytes that an all-files compaction would leave. */
static double
live_bytes(const struct simulate_table *table)
{
    double live = 0;

    if (table->settings.order != SIMULATE_OVERWRITE)
        return table->flushed;
    for (const struct simulate_region *region = table->first; region != NULL;
         region = region_after(region))
        live += region->store.weight * simulate_store_live(&region->store);
    return live;
}

/* Logs hold what is in memtables. */
static double
log_bytes(const struct simulate_table *table)
{
    return (table->active + table->frozen) / memory_of(&table->settings, 1) *
           table->settings.logged;
}

/* ---- memtables ---- */

/* User bytes in the memtable of one region of those that this stands for. */
static double
user_in_memtable(const struct simulate_table *table, const struct simulate_region *region)
{
    return (table->user - region->frozen_at) * share_of_writes(table, region);
}

static struct simulate_memtable
freeze_region(struct simulate_table *table, struct simulate_region *region)
{
    struct simulate_memtable memtable = {.region = region,
                                         .first = region->store.first,
                                         .last = region->store.last,
                                         .user = user_in_memtable(table, region)};

    if (table->settings.order == SIMULATE_SEQUENTIAL) {
        memtable.first = (uint64_t)region->frozen_at;
        memtable.last = (uint64_t)table->user - 1;
    }
    region->frozen_at = table->user;
    region->frozen++;
    note_region(table, region);
    return memtable;
}

static void
enqueue(struct simulate_table *table, struct simulate_memtable *memtables, size_t count)
{
    struct simulate_flush flush = {.memtables = memtables, .count = count};

    assert(table->flush_count < SIMULATE_MOST_FLUSHES);
    for (size_t i = 0; i < count; i++) {
        double weight = memtables[i].region->store.weight;

        flush.bytes += weight * memory_of(&table->settings, memtables[i].user);
        flush.seconds += weight * table->settings.file_seconds;
    }
    flush.seconds += flush.bytes / table->settings.flush_rate + table->settings.file_seconds;
    flush.left = flush.seconds;
    table->active -= flush.bytes;
    table->frozen += flush.bytes;
    table->flushes[(table->flush_first + table->flush_count++) % SIMULATE_MOST_FLUSHES] = flush;
}

static int
oldest_first(const void *a, const void *b)
{
    const struct simulate_region *const *left = a, *const *right = b;
    double order = (*left)->frozen_at - (*right)->frozen_at;

    return order < 0 ? -1 : order > 0;
}

/* The largest memtables, as few as hold half of what all do. Each region is written to as any
 * other of its size, so those are largest that were frozen longest ago. */
static void
freeze_largest(struct simulate_table *table)
{
    struct simulate_region *regions[SIMULATE_MOST_REGIONS];
    struct simulate_memtable *memtables;
    double left = table->active / 2;
    size_t written = 0, count = 0;

    for (struct simulate_region *region = first_written(table); region != NULL;
         region = region_after(region)) {
        assert(written < SIMULATE_MOST_REGIONS);
        regions[written++] = region;
    }
    qsort(regions, written, sizeof *regions, oldest_first);
    memtables = bench_alloc(written * sizeof *memtables);
    for (size_t i = 0; i < written && left > 0; i++) {
        memtables[count] = freeze_region(table, regions[i]);
        left -= regions[i]->store.weight * memory_of(&table->settings, memtables[count].user);
        count++;
    }
    enqueue(table, memtables, count);
}

/* ---- flushes ---- */

/* The part of a memtable in a region becomes a file. */
static void
add_file(struct simulate_table *table, const struct simulate_memtable *memtable,
         struct simulate_region *region)
{
    struct simulate_store *store = &region->store;
    uint64_t first = memtable->first > store->first ? memtable->first : store->first;
    uint64_t last = memtable->last < store->last ? memtable->last : store->last;
    double bytes;

    if (first > last)
        return;
    bytes = memtable->user * table->settings.stored * ((double)(last - first) + 1) /
            ((double)(memtable->last - memtable->first) + 1);
    if (table->settings.order == SIMULATE_OVERWRITE) {
        double keys = table->settings.keys * share_of_writes(table, region);
        double cell = table->settings.cell_bytes * table->settings.stored;

        bytes = keys * cell * -expm1(-bytes / cell / keys);
    }
    simulate_store_add(store, first, last, (uint64_t)(bytes + 0.5));
    region->frozen--;
    table->flushed += store->weight * bytes;
    table->flushed_files += store->weight;
    simulate_compactor_note(&table->compactor, store);
    note_region(table, region);
}

/* As the engine does: how fast flushes were of late. */
static void
note_rate(struct simulate_table *table, const struct simulate_flush *flush)
{
    double rate = flush->bytes / flush->seconds;

    if (flush->bytes < (double)table->settings.memtable_bytes / 4)
        return;
    table->flush_rate = table->flush_rate > 0 ? table->flush_rate * 0.75 + rate / 4 : rate;
    set_run_rates(table);
}

static void
end_flush(struct simulate_table *table)
{
    struct simulate_flush flush = table->flushes[table->flush_first];

    table->flush_first = (table->flush_first + 1) % SIMULATE_MOST_FLUSHES;
    table->flush_count--;
    for (size_t i = 0; i < flush.count; i++) {
        const struct simulate_memtable *memtable = &flush.memtables[i];

        for (struct simulate_region *region = memtable->region;
             region != NULL && region->store.first <= memtable->last; region = region_after(region))
            add_file(table, memtable, region);
    }
    note_rate(table, &flush);
    table->frozen -= flush.bytes;
    free(flush.memtables);
}

/* ---- splitting ---- */

/* Memtables that wait are cut at the new border when they are flushed. */
static void
count_frozen(struct simulate_table *table, struct simulate_region *region)
{
    region->frozen = 0;
    for (size_t i = 0; i < table->flush_count; i++) {
        const struct simulate_flush *flush =
            &table->flushes[(table->flush_first + i) % SIMULATE_MOST_FLUSHES];

        for (size_t k = 0; k < flush->count; k++)
            region->frozen += flush->memtables[k].last >= region->store.first &&
                              flush->memtables[k].first <= region->store.last;
    }
}

/* Where keys come in random order regions grow alike, and one may stand for several. */
static bool
is_halved(const struct simulate_table *table)
{
    return table->settings.order != SIMULATE_SEQUENTIAL &&
           table->simulated >= table->settings.most_regions;
}

static void
split_at(struct simulate_table *table, struct simulate_region *region, uint64_t row)
{
    struct simulate_region *upper;

    if (is_halved(table)) {
        simulate_store_halve(&region->store, row);
        simulate_compactor_note(&table->compactor, &region->store);
        return;
    }
    upper = bench_alloc(sizeof *upper);
    *upper = (struct simulate_region){.frozen_at = region->frozen_at};
    simulate_store_split(&region->store, &upper->store, row);
    if (table->last == region)
        table->last = upper;
    table->simulated++;
    count_frozen(table, region);
    count_frozen(table, upper);
    simulate_compactor_note(&table->compactor, &region->store);
    simulate_compactor_note(&table->compactor, &upper->store);
    note_region(table, region);
    note_region(table, upper);
}

static void
split_if_large(struct simulate_table *table, struct simulate_region *region)
{
    struct simulate_memtable *memtable;
    uint64_t row;

    if (table->settings.region_bytes == 0 ||
        simulate_store_bytes(&region->store) <= table->settings.region_bytes ||
        table->flush_count == SIMULATE_MOST_FLUSHES ||
        !(is_halved(table) ? simulate_store_middle(&region->store, &row)
                           : simulate_store_border(&region->store, &row)))
        return;
    if (user_in_memtable(table, region) >= 1) {
        memtable = bench_alloc(sizeof *memtable);
        *memtable = freeze_region(table, region);
        enqueue(table, memtable, 1);
    }
    split_at(table, region, row);
}

static void
split_grown(struct simulate_table *table)
{
    if (!table->any_grown)
        return;
    table->any_grown = false;
    for (struct simulate_region *region = first_written(table); region != NULL;
         region = region_after(region)) {
        if (region->grown)
            split_if_large(table, region);
        region->grown = false;
    }
}

/* ---- the writer ---- */

/* User bytes a second that the writer may put, by the pace; 0: it waits. */
static double
paced_rate(const struct simulate_table *table)
{
    double memory = table->active + table->frozen, limit = (double)table->settings.memory_bytes / 2;
    double rate = user_rate(table, pace_share((uint64_t)memory, (uint64_t)limit, 0));

    if (memory >= limit && table->flush_count > 0)
        return 0;
    if (table->pressed == 0)
        return rate;
    for (const struct simulate_region *region = first_written(table); region != NULL;
         region = region_after(region)) {
        size_t runs = region->store.count + region->frozen;

        if (runs >= STORE_MOST_RUNS)
            return 0;
        if (region->pressed)
            rate = fmin(rate, table->run_rates[runs] / share_of_writes(table, region));
    }
    return rate;
}

static double
writer_rate(const struct simulate_table *table)
{
    const struct simulate_settings *settings = &table->settings;
    double rate = fmin(paced_rate(table), settings->puts * settings->cell_bytes);

    if (settings->offered > 0 && table->backlog < LEAST_BYTES)
        rate = fmin(rate, settings->offered);
    return rate;
}

static void
add_puts(struct simulate_table *table, double count, double seconds)
{
    bench_histogram_add_times(&table->puts, (uint64_t)(seconds * 1e9), (uint64_t)(count + 0.5));
}

/* Puts that come as the one before is done. What slows them is slept off when it is worth a
 * sleep. */
static void
note_puts_in_turn(struct simulate_table *table, double user, double rate)
{
    double count = user / table->settings.cell_bytes, alone = 1 / table->settings.puts;
    double slowed = table->settings.cell_bytes / rate - alone;
    double sleep = fmax(slowed, PACE_LEAST_SLEEP_US / 1e6);

    if (slowed < LEAST_SECONDS) {
        add_puts(table, count, alone);
        return;
    }
    add_puts(table, count * (1 - slowed / sleep), alone);
    add_puts(table, count * slowed / sleep, alone + sleep);
    table->longest_put = fmax(table->longest_put, alone + sleep);
}

/* The latency of puts that have come on a schedule counts from when they were due. */
static void
note_puts_on_schedule(struct simulate_table *table, double user, double backlog)
{
    double alone = 1 / table->settings.puts, waiting = backlog / table->settings.offered;

    add_puts(table, user / table->settings.cell_bytes, alone + waiting);
}

/* The writer waits at a cap. */
static void
wait_for(struct simulate_table *table, double seconds)
{
    table->stopped += seconds;
    table->longest_put = fmax(table->longest_put, table->stopped);
    table->backlog += table->settings.offered * seconds;
}

/* The writer during so many seconds. */
static void
write_for(struct simulate_table *table, double seconds, double rate)
{
    const struct simulate_settings *settings = &table->settings;
    double user = rate * seconds, before = table->backlog;

    if (table->stopped > 0 && settings->offered == 0)
        add_puts(table, 1, table->stopped);
    table->stopped = 0;
    table->user += user;
    table->log += user * settings->logged;
    table->active += memory_of(settings, user);
    if (settings->offered > 0) {
        table->backlog = fmax(before + settings->offered * seconds - user, 0);
        note_puts_on_schedule(table, user, fmax(before, table->backlog));
        return;
    }
    note_puts_in_turn(table, user, rate);
}

/* ---- time ---- */

/* Seconds until the writer has to be looked at. */
static double
seconds_of_writer(const struct simulate_table *table, double rate, double user)
{
    double full = (double)table->settings.memtable_bytes - table->active;
    double step = full / memory_of(&table->settings, 1), least = user - table->user;

    if (rate == 0)
        return INFINITY;
    if (table->active + table->frozen > (double)table->settings.memory_bytes / 4)
        step = fmin(step, (double)table->settings.memtable_bytes /
                              memory_of(&table->settings, PARTS_OF_FILLING));
    step = fmax(fmin(step, least), 1);
    if (table->backlog >= LEAST_BYTES && rate > table->settings.offered)
        return fmin(step / rate, table->backlog / (rate - table->settings.offered));
    return step / rate;
}

static void
look_at_ages(struct simulate_table *table)
{
    if (table->seconds < table->looked_at + SECONDS_OF_AGE)
        return;
    table->looked_at = table->seconds;
    for (struct simulate_region *region = table->first; region != NULL;
         region = region_after(region))
        simulate_compactor_note(&table->compactor, &region->store);
}

/* Up to what happens next: memtables are full, a flush or a job ends. The writer has until then
 * put `user` bytes, of all, at the most. */
static void
step(struct simulate_table *table, double rate, double user)
{
    struct simulate_flush *flush =
        table->flush_count > 0 ? &table->flushes[table->flush_first] : NULL;
    double seconds =
        fmin(seconds_of_writer(table, rate, user), simulate_compactor_next(&table->compactor));

    if (flush != NULL)
        seconds = fmin(seconds, flush->left);
    assert(seconds < INFINITY); /* else the writer would wait for ever */
    table->seconds += seconds;
    if (rate > 0)
        write_for(table, seconds, rate);
    else
        wait_for(table, seconds);
    simulate_compactor_pass(&table->compactor, seconds, live_bytes(table) - log_bytes(table),
                            note_store, table);
    if (flush != NULL) {
        flush->left -= seconds;
        if (flush->left <= LEAST_SECONDS)
            end_flush(table);
    }
    split_grown(table);
    if (table->active >= (double)table->settings.memtable_bytes &&
        table->flush_count < SIMULATE_MOST_FLUSHES)
        freeze_largest(table);
    look_at_ages(table);
    simulate_compactor_begin(&table->compactor);
}

void
simulate_table_grow(struct simulate_table *table, double user)
{
    while (table->user < user)
        step(table, writer_rate(table), user);
}

void
simulate_table_rest(struct simulate_table *table)
{
    struct simulate_settings offered = table->settings;

    table->settings.offered = 0;
    while (table->flush_count > 0 || simulate_compactor_next(&table->compactor) < INFINITY)
        step(table, 0, table->user);
    table->settings = offered;
}
