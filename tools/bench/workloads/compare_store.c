/* compare_store.c -- what `kv-bench compare` does with one store, in a process of its own; see tools/bench/workloads/compare.h. */
#include "tools/bench/harness/child.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/workloads/drive.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define CHECKED_KEYS     1000
#define CHECKED_SEEKS    100
#define LEAST_CACHE      ((size_t)1 << 20)
#define FNV_OFFSET_BASIS 0xcbf29ce484222325u
#define FNV_PRIME        0x100000001b3u

struct subject {
    const struct bench_compare *compare;
    const struct bench_store *store;
    struct bench_config config;
    struct bench_compare_outcome *outcome;
    void *opened;
    char directory[512]; /* for the databases, each in one of its own below it */
};

size_t
bench_compare_small_cache(const struct bench_compare *compare)
{
    uint64_t bytes = compare->rows * (BENCH_KEY_BYTES + BENCH_VALUE_BYTES) / 10;

    return bytes > LEAST_CACHE ? (size_t)bytes : LEAST_CACHE;
}

static void
add_line(struct subject *subject, const char *operation, unsigned threads,
         const struct bench_measurement *measured)
{
    struct bench_compare_outcome *outcome = subject->outcome;
    struct bench_compare_line *line = &outcome->lines[outcome->count];

    if (outcome->count == BENCH_COMPARE_LINES)
        bench_fail("compare", "too many numbers of threads");
    outcome->count++;
    snprintf(line->operation, sizeof line->operation, "%s", operation);
    line->threads = threads;
    line->measured = *measured;
}

/* ---- directories ---- */

static void
database_path(const struct subject *subject, const char *name, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/%s", subject->directory, name);
}

static void
open_database(struct subject *subject, const char *name)
{
    char path[600];

    database_path(subject, name, path, sizeof path);
    bench_need_directory(path);
    subject->opened = subject->store->open(path, &subject->config);
}

static void
close_database(struct subject *subject)
{
    subject->store->close(subject->opened);
    subject->opened = NULL;
}

static void
remove_database(const struct subject *subject, const char *name)
{
    char path[600];

    database_path(subject, name, path, sizeof path);
    bench_remove_directory(path);
}

/* ---- phases ---- */

static void
drive(struct subject *subject, enum bench_drive_kind kind, unsigned threads, uint64_t count,
      struct bench_measurement *measured)
{
    struct bench_drive work = {.store = subject->store,
                               .opened = subject->opened,
                               .kind = kind,
                               .threads = threads,
                               .count = count,
                               .rows = subject->compare->rows,
                               .seed = 7 + (uint64_t)kind};

    bench_drive_run(&work, measured);
}

/*
 * Some engines tell that their background rests only by not changing for a second.  So that this second is not counted, a thread looks when the
 * process last worked: a fifth of the time between two looks.
 */
struct watch {
    pthread_t thread;
    atomic_bool over;
    double last_busy; /* bench_now(); of the watching thread until it is joined */
};

static void *
run_watch(void *argument)
{
    const struct timespec pause = {0, 5000000};
    struct watch *watch = argument;
    double cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID), looked = bench_now();

    while (!atomic_load(&watch->over)) {
        double cpu_before = cpu, looked_before = looked;

        nanosleep(&pause, NULL);
        cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        looked = bench_now();
        if (cpu - cpu_before > (looked - looked_before) / 5)
            watch->last_busy = looked;
    }
    return NULL;
}

/* All to files, and until the background rests; the seconds that took. */
static double
settle(const struct subject *subject)
{
    struct watch watch = {0};
    double began = bench_now();

    if (subject->store->flush != NULL)
        subject->store->flush(subject->opened);
    watch.last_busy = bench_now();
    if (subject->store->wait != NULL) {
        if (pthread_create(&watch.thread, NULL, run_watch, &watch) != 0)
            bench_fail("measure", "no thread");
        subject->store->wait(subject->opened);
        atomic_store(&watch.over, true);
        pthread_join(watch.thread, NULL);
    }
    return watch.last_busy - began;
}

/* Puts all rows into a new database, which stays open. */
static void
fill(struct subject *subject, const char *name, unsigned threads)
{
    struct bench_measurement measured, settled = {0};
    uint64_t rows = subject->compare->rows;

    open_database(subject, name);
    drive(subject, BENCH_DRIVE_PUT, threads, rows, &measured);
    add_line(subject, "fill", threads, &measured);
    settled.per_second = (double)rows / ((double)rows / measured.per_second + settle(subject));
    add_line(subject, "fill, settled", threads, &settled);
}

/* The first number of threads comes last: what it wrote is what is read. */
static void
fill_with_each(struct subject *subject)
{
    const struct bench_compare *compare = subject->compare;

    for (size_t i = compare->threads.count; i-- > 1;) {
        fill(subject, "other", (unsigned)compare->threads.values[i]);
        close_database(subject);
        remove_database(subject, "other");
    }
    fill(subject, "rows", (unsigned)compare->threads.values[0]);
}

/* As far as the engine merges.  Not timed: how much is left to merge by now differs by engine. */
static void
compact(struct subject *subject)
{
    if (subject->compare->as_written || subject->store->compact == NULL)
        return;
    subject->store->compact(subject->opened);
    if (subject->store->wait != NULL)
        subject->store->wait(subject->opened);
}

static void
read_everything(struct subject *subject)
{
    const struct bench_compare *compare = subject->compare;
    struct bench_measurement measured;

    drive(subject, BENCH_DRIVE_SCAN, 1, compare->rows, &measured); /* fills the cache */
    for (size_t i = 0; i < compare->threads.count; i++) {
        unsigned threads = (unsigned)compare->threads.values[i];

        drive(subject, BENCH_DRIVE_GET_HIT, threads, compare->gets, &measured);
        add_line(subject, "get hit", threads, &measured);
        drive(subject, BENCH_DRIVE_GET_ABSENT, threads, compare->gets, &measured);
        add_line(subject, "get absent", threads, &measured);
        drive(subject, BENCH_DRIVE_SEEK, threads, (compare->gets + 3) / 4, &measured);
        add_line(subject, "seek + 10", threads, &measured);
        drive(subject, BENCH_DRIVE_SCAN, threads, compare->rows, &measured);
        add_line(subject, "scan", threads, &measured);
    }
}

/* What is not in the cache comes from the kernel's page cache. */
static void
read_with_small_cache(struct subject *subject)
{
    const struct bench_compare *compare = subject->compare;
    struct bench_measurement measured;
    size_t cache = subject->config.cache_bytes;

    subject->config.cache_bytes = bench_compare_small_cache(compare);
    open_database(subject, "rows");
    drive(subject, BENCH_DRIVE_GET_HIT, 1, (compare->gets + 3) / 4, &measured); /* warms it */
    for (size_t i = 0; i < compare->threads.count; i++) {
        unsigned threads = (unsigned)compare->threads.values[i];

        drive(subject, BENCH_DRIVE_GET_HIT, threads, compare->gets, &measured);
        add_line(subject, "get hit, small cache", threads, &measured);
        drive(subject, BENCH_DRIVE_GET_ABSENT, threads, compare->gets, &measured);
        add_line(subject, "get absent, small cache", threads, &measured);
    }
    close_database(subject);
    subject->config.cache_bytes = cache;
}

/* Into a new database each, so that nothing but the sync is in the way. */
static void
put_synced(struct subject *subject)
{
    const struct bench_compare *compare = subject->compare;
    struct bench_measurement measured;

    subject->config.sync = true;
    for (size_t i = 0; compare->synced_puts > 0 && i < compare->threads.count; i++) {
        open_database(subject, "synced");
        drive(subject, BENCH_DRIVE_PUT, (unsigned)compare->threads.values[i], compare->synced_puts,
              &measured);
        add_line(subject, "put, synced", (unsigned)compare->threads.values[i], &measured);
        close_database(subject);
        remove_database(subject, "synced");
    }
    subject->config.sync = false;
}

/* ---- do all stores answer alike? ---- */

static void
mix(uint64_t *hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * FNV_PRIME;
}

static void
mix_slice(uint64_t *hash, petal_slice slice)
{
    mix(hash, &slice.size, sizeof slice.size);
    mix(hash, slice.data, slice.size);
}

/* Random keys, every second of them absent but by an unlikely chance. */
static petal_slice
checked_key(const struct subject *subject, struct bench_random *random, unsigned index, char *key)
{
    uint64_t number = index % 2 == 0 ? bench_random_below(random, subject->compare->rows)
                                     : bench_random_next(random);

    bench_key(key, number);
    return (petal_slice){key, BENCH_KEY_BYTES};
}

static void
check_answers(struct subject *subject)
{
    const struct bench_store *store = subject->store;
    void *session = store->attach(subject->opened), *iterator;
    struct bench_random random = {99};
    uint64_t hash = FNV_OFFSET_BASIS;
    char key[BENCH_KEY_BYTES + 1];
    struct bench_pair pair;
    petal_slice value;

    for (unsigned i = 0; i < CHECKED_KEYS; i++) {
        bool found = store->get(session, checked_key(subject, &random, i, key), &value);

        mix(&hash, &found, sizeof found);
        if (found)
            mix_slice(&hash, value);
    }
    iterator = store->iterate(session);
    for (unsigned i = 0; i < CHECKED_SEEKS; i++) {
        bool valid = store->seek(iterator, checked_key(subject, &random, i, key), &pair);

        for (unsigned step = 0; valid && step < BENCH_SEEK_STEPS; step++) {
            mix_slice(&hash, pair.key);
            mix_slice(&hash, pair.value);
            valid = store->next(iterator, &pair);
        }
        mix(&hash, &valid, sizeof valid);
    }
    store->end_iterate(iterator);
    store->detach(session);
    subject->outcome->answers = hash;
}

/* ---- the process ---- */

static void
work_on(void *argument)
{
    struct subject *subject = argument;
    struct bench_process process;

    fill_with_each(subject);
    compact(subject);
    subject->outcome->disk_bytes = bench_disk_bytes(subject->directory);
    check_answers(subject);
    read_everything(subject);
    close_database(subject);
    read_with_small_cache(subject);
    remove_database(subject, "rows");
    put_synced(subject);
    bench_process_get(&process);
    subject->outcome->resident_peak = process.resident_peak;
}

void
bench_compare_in_child(const struct bench_compare *compare, const struct bench_store *store,
                       const struct bench_config *config, struct bench_compare_outcome *outcome)
{
    struct subject subject = {
        .compare = compare, .store = store, .config = *config, .outcome = outcome};
    int status;

    *outcome = (struct bench_compare_outcome){0};
    bench_make_directory(subject.directory, sizeof subject.directory);
    status = bench_child_run(work_on, &subject);
    bench_remove_directory(subject.directory);
    if (status != 0)
        bench_fail("measure", store->name);
}
