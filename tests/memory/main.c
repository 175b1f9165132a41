/*
 * main.c -- does the memory limit hold for the process?  Writes, overwrites, deletes and reads
 * random rows with three threads, while resident memory is sampled twenty times a second; exits 1
 * when a sample is above 1.10 times the limit and what petal.h allows beside it.
 *
 * Usage: memory DIRECTORY MEGABYTES [LIMIT_MEGABYTES [BLOCK_BYTES]]: write so many, under
 * memory_bytes of LIMIT; without LIMIT none is given, and the limit is what petal.h promises of the
 * default. With BLOCK_BYTES blocks are of that size, and reading goes on after the writing, by
 * threads that come and go: malloc keeps what one gave back for its successors only.
 */
#include "engine/petal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIB         ((uint64_t)1 << 20)
#define WRITERS     2
#define VALUE_BYTES 1000
#define DEFAULT     (64 * MIB) /* petal.h, memory_bytes */
#define BESIDE      (24 * MIB) /* petal.h, memory_bytes */
#define READERS     4          /* that come and go, at once */

struct work {
    petal_db *db;
    petal_table *table;
    petal_family *family;
    uint64_t rows, bytes; /* to write, by each thread */
    uint64_t gets;        /* by each reader that comes and goes */
    unsigned rounds;      /* of readers that come and go */
    _Atomic(bool) stop, failed;
    _Atomic(uint64_t) seed;
};

static uint64_t
next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static petal_slice
slice(const void *data, size_t size)
{
    return (petal_slice){data, size};
}

static void
fail(struct work *work, const petal_error *error)
{
    fprintf(stderr, "memory: %s\n", error->text);
    atomic_store(&work->failed, true);
}

static petal_slice
random_row(const struct work *work, uint64_t *random, char *row)
{
    int length = snprintf(row, 32, "user%016" PRIx64,
                          (next_random(random) % work->rows) * 0x9E3779B97F4A7C15u);

    return slice(row, (size_t)length);
}

static void *
write_rows(void *argument)
{
    struct work *work = argument;
    uint64_t random = atomic_fetch_add(&work->seed, 1), written = 0;
    uint8_t value[VALUE_BYTES];
    petal_error error;
    char row[32];

    while (written < work->bytes && !atomic_load(&work->failed)) {
        petal_slice name = random_row(work, &random, row);
        size_t size = 100 + next_random(&random) % (VALUE_BYTES - 99);
        enum petal_status status;

        if (next_random(&random) % 10 == 0) {
            status = petal_delete(work->family, name, slice("q", 1), PETAL_LATEST,
                                  PETAL_DELETE_COLUMN, NULL, &error);
        } else {
            /* Half random, half not: as well compressed as most data. */
            memset(value, 'v', size);
            for (size_t i = 0; i + 8 <= size / 2; i += 8) {
                uint64_t word = next_random(&random);

                memcpy(value + i, &word, 8);
            }
            status = petal_put(work->family, name, slice("q", 1), PETAL_LATEST, slice(value, size),
                               NULL, &error);
        }
        if (status != PETAL_OK)
            fail(work, &error);
        written += name.size + size;
    }
    return NULL;
}

static void
read_rows(struct work *work, uint64_t gets)
{
    uint64_t random = atomic_fetch_add(&work->seed, 1);
    petal_result *result;
    petal_error error;
    char row[32];

    if (petal_result_new(work->db, &result, &error) != PETAL_OK)
        fail(work, &error);
    for (uint64_t i = 0; i < gets && !atomic_load(&work->stop) && !atomic_load(&work->failed);
         i++) {
        enum petal_status status =
            petal_get(work->table, random_row(work, &random, row), NULL, result, &error);

        if (status != PETAL_OK && status != PETAL_NOT_FOUND)
            fail(work, &error);
    }
    petal_result_free(result);
}

static void *
read_always(void *argument)
{
    read_rows(argument, UINT64_MAX);
    return NULL;
}

static void *
read_some(void *argument)
{
    struct work *work = argument;

    read_rows(work, work->gets);
    return NULL;
}

static uint64_t
resident_bytes(void)
{
    unsigned long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file != NULL && fscanf(file, "%llu %llu", &total, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct sampler {
    struct work *work;
    uint64_t most;
    petal_stats at_most;
};

static void *
sample(void *argument)
{
    struct sampler *sampler = argument;

    while (!atomic_load(&sampler->work->stop)) {
        uint64_t resident = resident_bytes();

        if (resident > sampler->most) {
            sampler->most = resident;
            petal_stats_get(sampler->work->db, &sampler->at_most);
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return NULL;
}

static void
read_in_rounds(struct work *work)
{
    pthread_t readers[READERS];

    for (unsigned round = 0; round < work->rounds; round++) {
        for (int i = 0; i < READERS; i++)
            pthread_create(&readers[i], NULL, read_some, work);
        for (int i = 0; i < READERS; i++)
            pthread_join(readers[i], NULL);
    }
}

static void
run(struct work *work, struct sampler *sampler)
{
    pthread_t writers[WRITERS], reader, watcher;

    pthread_create(&reader, NULL, read_always, work);
    pthread_create(&watcher, NULL, sample, sampler);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, write_rows, work);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    if (work->rounds > 0)
        read_in_rounds(work);
    atomic_store(&work->stop, true);
    pthread_join(reader, NULL);
    pthread_join(watcher, NULL);
}

static bool
report(struct work *work, const struct sampler *sampler, uint64_t limit, uint64_t before)
{
    uint64_t allowed = limit + limit / 10 + BESIDE, cached = 0;
    const petal_stats *then = &sampler->at_most;
    petal_stats stats;

    petal_stats_get(work->db, &stats);
    for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
        cached += then->cache_bytes[kind];
    printf("limit %" PRIu64
           " MiB, resident %.1f MiB at most (%.1f before opening), allowed %.1f MiB\n",
           limit / MIB, (double)sampler->most / MIB, (double)before / MIB, (double)allowed / MIB);
    printf("then: memtables %.1f MiB, files %.1f MiB, cache %.1f of %.1f MiB, %" PRIu64
           " flushes waiting\n",
           (double)then->memtable_memory / MIB, (double)then->file_memory / MIB,
           (double)cached / MIB, (double)then->cache_capacity / MIB, then->flushes_waiting);
    printf("%" PRIu64 " flushes, %" PRIu64 " compactions, %" PRIu64 " groups slowed for %" PRIu64
           " ms, %" PRIu64 " stopped for %" PRIu64 " ms, %" PRIu64 " gets\n",
           stats.flushes, stats.compactions, stats.delayed_writes, stats.delay_us / 1000,
           stats.stopped_writes, stats.stop_us / 1000, stats.gets);
    return sampler->most <= allowed;
}

int
main(int argc, char **argv)
{
    uint64_t given = argc > 3 ? strtoull(argv[3], NULL, 10) * MIB : 0;
    uint64_t limit = given != 0 ? given : DEFAULT;
    petal_options options = {.size = sizeof options, .create = true, .memory_bytes = given};
    petal_family_options family = {.size = sizeof family, .name = slice("f", 1)};
    petal_table_options table = {
        .size = sizeof table, .name = slice("t", 1), .families = &family, .family_count = 1};
    struct work work = {.seed = 1};
    struct sampler sampler = {.work = &work};
    uint64_t before = resident_bytes();
    petal_error error;
    bool fine;

    if (argc < 3)
        return 2;
    work.bytes = strtoull(argv[2], NULL, 10) * MIB / WRITERS;
    work.rows = work.bytes / 1000 + 1;
    if (argc > 4) {
        family.block_bytes = (uint32_t)strtoul(argv[4], NULL, 10);
        work.rounds = 6;
        work.gets = limit / 4096; /* together more than the cache holds */
    }
    if (petal_open(argv[1], &options, &work.db, &error) != PETAL_OK ||
        petal_table_create(work.db, &table, &work.table, &error) != PETAL_OK ||
        petal_table_family(work.table, slice("f", 1), &work.family, &error) != PETAL_OK) {
        fprintf(stderr, "memory: %s\n", error.text);
        return 2;
    }
    run(&work, &sampler);
    fine = report(&work, &sampler, limit, before) && !atomic_load(&work.failed);
    if (petal_close(work.db, &error) != PETAL_OK)
        fine = false;
    return fine ? 0 : 1;
}
