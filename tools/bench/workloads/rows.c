/* rows.c -- see tools/bench/workloads/rows.h. */
#include "tools/bench/workloads/rows.h"

#include "tools/bench/harness/directory.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/workloads/workload.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define SEEK_PAIRS   10
#define SAMPLE_EVERY 16
#define LEAST_CACHE  ((size_t)1 << 20)
#define FIRST_GETS   300000 /* of a process: those that its user waits for */
#define COLD_SHARE   100    /* cold gets are so many-th of the gets: each may read the disk */
#define PUT_SHARE    5      /* puts of a row of their own are so many-th of the pairs */
#define BATCH        16     /* keys of a multi-get */

#define WRITTEN_SETTLED "bytes written / user bytes, settled"

#define BIT(row) (1u << BENCH_ROW_##row)

static const struct {
    const char *name, *meaning;
} rows_by_name[BENCH_ROW_COUNT] = {
    [BENCH_ROW_FILL] = {"fill", "puts in random order, Petal's log in its mapping; settled: and "
                                "until all is in files and the background rests"},
    [BENCH_ROW_BYTES] = {"bytes", "written and on the disk divided by those of keys and values, "
                                  "settled, and after a full compaction"},
    [BENCH_ROW_FIRST_SCAN] = {"first-scan", "a new process's, files as the fill's background left "
                                            "them and in the page cache, nothing else warm"},
    [BENCH_ROW_COLD_HIT] = {"cold-hit", "the first gets of a new process, page cache dropped as "
                                        "well; open: so until the store is open"},
    [BENCH_ROW_COLD_ABSENT] = {"cold-absent", "the same of keys that are not there"},
    [BENCH_ROW_FIRST_ABSENT] = {"first-absent", "the first 300,000 gets of a new process, files in "
                                                "the page cache, nothing else warm"},
    [BENCH_ROW_FIRST_HIT] = {"first-hit", "the first 300,000 gets of a process, after one scan"},
    [BENCH_ROW_HIT] = {"hit", "gets after a scan and at least a million gets"},
    [BENCH_ROW_ABSENT] = {"absent", "the same of keys that are not there"},
    [BENCH_ROW_MULTI_GET] = {"multi-get", "the same by calls for 16 keys; rates are of keys, "
                                          "latencies of calls"},
    [BENCH_ROW_SEEK] = {"seek",
                        "10 pairs from a key, after them; with a new cursor each, and with one"},
    [BENCH_ROW_SCAN] = {"scan", "all pairs, after them"},
    [BENCH_ROW_SMALL_CACHE] = {"small-cache", "gets, warm, with a cache of a tenth of the data"},
    [BENCH_ROW_PUT_WRITE] = {"put-write", "puts, Petal's log by write() as that of the others"},
    [BENCH_ROW_PUT_SYNCED] = {"put-synced", "puts, each on the medium before it returns"},
};

/* What is measured for a row, as files name it and as people do. */
static const struct {
    enum bench_row row;
    const char *operation, *words;
} operations[] = {
    {BENCH_ROW_FILL, "fill", "write pairs in random order"},
    {BENCH_ROW_FILL, "fill, settled", "write pairs until background work rests"},
    {BENCH_ROW_BYTES, WRITTEN_SETTLED, "bytes written per byte put"},
    {BENCH_ROW_BYTES, "disk / user bytes, settled", "bytes on disk per byte put"},
    {BENCH_ROW_BYTES, "bytes written / user bytes, compacted", "bytes written, compacted"},
    {BENCH_ROW_BYTES, "disk / user bytes, compacted", "bytes on disk, compacted"},
    {BENCH_ROW_FIRST_SCAN, "first scan", "scan all pairs, just opened"},
    {BENCH_ROW_COLD_HIT, "open, cold", "open, files on the disk alone"},
    {BENCH_ROW_COLD_HIT, "get hit, cold", "look up a key that is there, from disk"},
    {BENCH_ROW_COLD_ABSENT, "get absent, cold", "look up a missing key, from disk"},
    {BENCH_ROW_FIRST_ABSENT, "get absent, nothing warmed", "look up a missing key, just opened"},
    {BENCH_ROW_FIRST_HIT, "get hit, first gets", "look up a key that is there, first time"},
    {BENCH_ROW_HIT, "get hit", "look up a key that is there, warm"},
    {BENCH_ROW_ABSENT, "get absent", "look up a missing key, warm"},
    {BENCH_ROW_MULTI_GET, "multi-get, 16 keys", "look up 16 keys by one call, warm"},
    {BENCH_ROW_SEEK, "seek + 10, new cursor", "read 10 pairs from a key, new cursor"},
    {BENCH_ROW_SEEK, "seek + 10", "read 10 pairs from a key, same cursor"},
    {BENCH_ROW_SCAN, "scan", "scan all pairs, warm"},
    {BENCH_ROW_SMALL_CACHE, "get hit, small cache", "look up a key that is there, small cache"},
    {BENCH_ROW_SMALL_CACHE, "get absent, small cache", "look up a missing key, small cache"},
    {BENCH_ROW_PUT_WRITE, "put, log by write()", "write a pair, log by write()"},
    {BENCH_ROW_PUT_SYNCED, "put, synced", "write a pair, on the medium"},
};

/* A stage of a store's way, as a process has it. */
struct subject {
    const struct bench_rows *rows;
    struct bench_job *job;
    struct bench_config config; /* of the database at hand */
    struct bench_pairs pairs;
    struct bench_bed bed;
    char path[BENCH_JOB_PATH_BYTES + 16]; /* of the database at hand */
};

static bool
wants(const struct subject *subject, unsigned rows)
{
    return (subject->rows->wanted & rows) != 0;
}

static uint64_t
at_least_one(uint64_t count)
{
    return count > 0 ? count : 1;
}

size_t
bench_rows_small_cache(const struct bench_rows *rows)
{
    uint64_t bytes = rows->pairs * (BENCH_KEY_BYTES + BENCH_VALUE_BYTES) / 10;

    return bytes > LEAST_CACHE ? (size_t)bytes : LEAST_CACHE;
}

/* ---- what stages are made of ---- */

static void
open_database(struct subject *subject, const char *name)
{
    snprintf(subject->path, sizeof subject->path, "%s/%s", subject->job->directory, name);
    bench_need_directory(subject->path);
    subject->bed.opened = subject->job->store->open(subject->path, &subject->config);
}

static void
close_database(struct subject *subject)
{
    subject->job->store->close(subject->bed.opened);
}

/* The pairs that the fill left. */
static void
open_pairs(struct subject *subject)
{
    open_database(subject, "pairs");
    subject->bed.there = subject->rows->pairs;
}

static void
remove_database(struct subject *subject)
{
    close_database(subject);
    bench_remove_directory(subject->path);
    subject->bed.there = 0;
}

/* `operation` NULL: it only warms. */
static struct bench_outcome *
run(struct subject *subject, const char *workload, const char *operation, uint64_t threads,
    uint64_t count)
{
    const struct bench_workload *found = bench_workload_named(workload, strlen(workload));
    size_t outcomes = subject->job->tally->count;
    struct bench_outcome *outcome;

    subject->bed.load.threads = (unsigned)threads;
    subject->bed.load.writes = subject->bed.load.reads = count;
    outcome = bench_workload_run(found, &subject->bed, subject->job, operation, outcomes);
    if (operation == NULL)
        subject->job->tally->count = outcomes;
    return outcome;
}

/* The same with each number of threads, if the row is wanted. */
static void
run_row(struct subject *subject, unsigned rows, const char *workload, const char *operation,
        uint64_t count)
{
    const struct bench_list *threads = &subject->rows->threads;

    for (size_t i = 0; wants(subject, rows) && i < threads->count; i++)
        run(subject, workload, operation, threads->values[i], count);
}

/* A count in place of a rate. */
static void
add_count(struct subject *subject, const char *operation, double count)
{
    bench_job_begin(subject->job, operation, 1)->values[BENCH_PER_UNIT] = count;
}

/* ---- fill ---- */

/*
 * Some engines tell that their background rests only by not changing for a second. So that this
 * second is not counted, a thread looks when the process last worked: a fifth of the time between
 * two looks.
 */
struct watch {
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
    const struct bench_store *store = subject->job->store;
    struct watch watch = {0};
    double began = bench_now();
    pthread_t thread;

    if (store->flush != NULL)
        store->flush(subject->bed.opened);
    watch.last_busy = bench_now();
    if (store->wait != NULL) {
        if (pthread_create(&thread, NULL, run_watch, &watch) != 0)
            bench_fail("measure", "no thread");
        store->wait(subject->bed.opened);
        atomic_store(&watch.over, true);
        pthread_join(thread, NULL);
    }
    return watch.last_busy - began;
}

/* By this process so far. */
static double
written_bytes(const struct bench_job *job)
{
    const struct bench_io *before = &job->whole.io;
    struct bench_io io;

    bench_io_get(&io);
    io.written -= before->written;
    io.device_written -= before->device_written;
    return (double)bench_io_written(&io);
}

static double
user_bytes(const struct subject *subject)
{
    return (double)(subject->rows->pairs * (BENCH_KEY_BYTES + BENCH_VALUE_BYTES));
}

/* Puts all pairs into a new database; that of the last fill stays. */
static void
fill(struct subject *subject, uint64_t threads, bool stays)
{
    uint64_t pairs = subject->rows->pairs;
    size_t outcomes = subject->job->tally->count;
    struct bench_outcome *outcome;
    double seconds;

    open_database(subject, stays ? "pairs" : "other");
    seconds = run(subject, "fillseq", "fill", threads, pairs)->values[BENCH_SECONDS];
    outcome = bench_job_begin(subject->job, "fill, settled", (unsigned)threads);
    bench_outcome_set_rate(outcome, pairs, seconds + settle(subject), NULL);
    bench_job_end(subject->job, outcome, bench_bed_live_bytes(&subject->bed));
    if (!wants(subject, BIT(FILL)))
        subject->job->tally->count = outcomes;
    if (!stays) {
        remove_database(subject);
        return;
    }
    close_database(subject);
    bench_job_finish(subject->job, (uint64_t)user_bytes(subject));
    if (wants(subject, BIT(BYTES))) {
        add_count(subject, WRITTEN_SETTLED, written_bytes(subject->job) / user_bytes(subject));
        add_count(subject, "disk / user bytes, settled",
                  (double)bench_disk_bytes(subject->path) / user_bytes(subject));
    }
}

/* Through user bytes; 0: it was not asked for. */
static double
written_by_fill(const struct subject *subject)
{
    const struct bench_tally *tally = subject->job->tally;

    for (size_t i = 0; i < tally->count; i++) {
        if (strcmp(tally->outcomes[i].name.operation, WRITTEN_SETTLED) == 0)
            return tally->outcomes[i].values[BENCH_PER_UNIT];
    }
    return 0;
}

/* As far as the engine merges. Not timed: how much is left to merge differs by engine. */
static void
compact(struct subject *subject)
{
    const struct bench_store *store = subject->job->store;

    open_pairs(subject);
    if (store->compact != NULL)
        store->compact(subject->bed.opened);
    if (store->wait != NULL)
        store->wait(subject->bed.opened);
    close_database(subject);
    if (!wants(subject, BIT(BYTES)))
        return;
    add_count(subject, "bytes written / user bytes, compacted",
              written_by_fill(subject) + written_bytes(subject->job) / user_bytes(subject));
    add_count(subject, "disk / user bytes, compacted",
              (double)bench_disk_bytes(subject->path) / user_bytes(subject));
}

/* ---- reads ---- */

static void
first_scan(struct subject *subject)
{
    bench_read_files(subject->job->directory);
    open_pairs(subject);
    run(subject, "readseq", "first scan", 1, UINT64_MAX);
    close_database(subject);
}

static void
read_cold(struct subject *subject, const char *workload, const char *operation, bool shows_opening)
{
    double kept = bench_drop_files(subject->job->directory), began = bench_now();

    if (kept > 0.01)
        fprintf(stderr, "kv-bench: %s: %.0f %% of the files stayed in the page cache\n", operation,
                100 * kept);
    open_pairs(subject);
    if (shows_opening) {
        struct bench_outcome *outcome = bench_job_begin(subject->job, "open, cold", 1);

        bench_outcome_set_rate(outcome, 1, bench_now() - began, NULL);
        bench_job_end(subject->job, outcome, 0);
    }
    run(subject, workload, operation, 1, at_least_one(subject->rows->gets / COLD_SHARE));
    close_database(subject);
}

static void
cold_hit(struct subject *subject)
{
    read_cold(subject, "readrandom", "get hit, cold", true);
}

static void
cold_absent(struct subject *subject)
{
    read_cold(subject, "readmissing", "get absent, cold", false);
}

static uint64_t
first_gets(const struct subject *subject)
{
    return subject->rows->gets < FIRST_GETS ? subject->rows->gets : FIRST_GETS;
}

static void
first_absent(struct subject *subject)
{
    bench_read_files(subject->job->directory);
    open_pairs(subject);
    run(subject, "readmissing", "get absent, nothing warmed", 1, first_gets(subject));
    close_database(subject);
}

static void
read_cached(struct subject *subject)
{
    uint64_t gets = subject->rows->gets, seeks = (gets + 3) / 4;

    open_pairs(subject);
    run(subject, "readseq", NULL, 1, UINT64_MAX);
    run(subject, "readrandom", wants(subject, BIT(FIRST_HIT)) ? "get hit, first gets" : NULL, 1,
        first_gets(subject));
    run(subject, "readrandom", NULL, 1, gets);
    run_row(subject, BIT(HIT), "readrandom", "get hit", gets);
    run_row(subject, BIT(ABSENT), "readmissing", "get absent", gets);
    run_row(subject, BIT(MULTI_GET), "multireadrandom", "multi-get, 16 keys", gets);
    run_row(subject, BIT(SEEK), "seekrandom", "seek + 10, new cursor", seeks);
    subject->bed.load.keeps_iterator = true;
    run_row(subject, BIT(SEEK), "seekrandom", "seek + 10", seeks);
    run_row(subject, BIT(SCAN), "readseq", "scan", UINT64_MAX);
    close_database(subject);
}

/* What is not in the cache comes from the kernel's page cache. */
static void
read_small_cache(struct subject *subject)
{
    uint64_t gets = subject->rows->gets;

    subject->config.cache_bytes = bench_rows_small_cache(subject->rows);
    open_pairs(subject);
    run(subject, "readrandom", NULL, 1, (gets + 3) / 4);
    run_row(subject, BIT(SMALL_CACHE), "readrandom", "get hit, small cache", gets);
    run_row(subject, BIT(SMALL_CACHE), "readmissing", "get absent, small cache", gets);
    close_database(subject);
}

/* ---- puts into new databases, so that nothing but the log is in the way ---- */

static void
put_new(struct subject *subject, const char *operation, uint64_t count)
{
    const struct bench_list *threads = &subject->rows->threads;

    for (size_t i = 0; count > 0 && i < threads->count; i++) {
        open_database(subject, "puts");
        run(subject, "fillseq", operation, threads->values[i], count);
        remove_database(subject);
    }
}

static void
put_write(struct subject *subject)
{
    subject->config.log_unmapped = true;
    put_new(subject, "put, log by write()", at_least_one(subject->rows->pairs / PUT_SHARE));
}

static void
put_synced(struct subject *subject)
{
    subject->config.sync = true;
    put_new(subject, "put, synced", subject->rows->synced_puts);
}

/* ---- stages ---- */

#define CACHED (BIT(FIRST_HIT) | BIT(HIT) | BIT(ABSENT) | BIT(MULTI_GET) | BIT(SEEK) | BIT(SCAN))
#define COMPACTED                                                                                  \
    (BIT(BYTES) | BIT(COLD_HIT) | BIT(COLD_ABSENT) | BIT(FIRST_ABSENT) | CACHED | BIT(SMALL_CACHE))

/* After the fills, one for each number of threads. */
static const struct {
    void (*work)(struct subject *subject);
    unsigned rows; /* it is for these */
} stages[] = {
    {first_scan, BIT(FIRST_SCAN)},
    {compact, COMPACTED},
    {cold_hit, BIT(COLD_HIT)},
    {cold_absent, BIT(COLD_ABSENT)},
    {first_absent, BIT(FIRST_ABSENT)},
    {read_cached, CACHED},
    {read_small_cache, BIT(SMALL_CACHE)},
    {put_write, BIT(PUT_WRITE)},
    {put_synced, BIT(PUT_SYNCED)},
};

unsigned
bench_rows_stages(const struct bench_rows *rows)
{
    return (unsigned)(rows->threads.count + sizeof stages / sizeof *stages);
}

/* The first number of threads comes last: what it wrote is what is read. */
static void
work_stage(struct subject *subject)
{
    const struct bench_list *threads = &subject->rows->threads;
    unsigned stage = subject->job->stage;
    size_t fills = threads->count;

    assert(stage < bench_rows_stages(subject->rows));
    if (stage >= fills) {
        if (wants(subject, stages[stage - fills].rows))
            stages[stage - fills].work(subject);
    } else if (stage == fills - 1 ? wants(subject, BIT(FILL) | BIT(FIRST_SCAN) | COMPACTED)
                                  : wants(subject, BIT(FILL))) {
        fill(subject, threads->values[fills - 1 - stage], stage == fills - 1);
    }
}

void
bench_rows_work(struct bench_job *job)
{
    const struct bench_rows *rows = job->plan->settings;
    struct subject subject = {.rows = rows, .job = job, .config = job->config};

    subject.pairs = (struct bench_pairs){
        .key_bytes = BENCH_KEY_BYTES, .value_bytes = BENCH_VALUE_BYTES, .spread = true};
    subject.bed = (struct bench_bed){.store = job->store,
                                     .pairs = &subject.pairs,
                                     .load = {.keys = rows->pairs,
                                              .nexts = SEEK_PAIRS - 1,
                                              .batch = BATCH,
                                              .sample = SAMPLE_EVERY,
                                              .seed = rows->seed}};
    work_stage(&subject);
}

/* ---- names ---- */

bool
bench_rows_named(const char *list, uint64_t *wanted)
{
    const char *names[BENCH_ROW_COUNT];

    *wanted = (UINT64_C(1) << BENCH_ROW_COUNT) - 1;
    for (size_t row = 0; row < BENCH_ROW_COUNT; row++)
        names[row] = rows_by_name[row].name;
    return strcmp(list, "all") == 0 ||
           bench_names_read("--rows", list, names, BENCH_ROW_COUNT, wanted);
}

void
bench_rows_name(const char *operation, const char **row, const char **words)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].operation, operation) == 0) {
            *row = rows_by_name[operations[i].row].name;
            *words = operations[i].words;
            return;
        }
    }
    assert(false); /* each operation of a row has words */
}

/* A line each of what is measured, then what that means, in lines of at most 80 columns. */
static void
print_row(enum bench_row row)
{
    const char *name = rows_by_name[row].name, *text = rows_by_name[row].meaning;
    int column = 80;

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (operations[i].row == row) {
            fprintf(stderr, "  %-12s %s\n", name, operations[i].words);
            name = "";
        }
    }
    for (int size; *text != '\0'; text += size + (text[size] == ' ')) {
        size = (int)strcspn(text, " ");
        if (column + 1 + size > 79)
            column = fprintf(stderr, "%s%16s", column < 80 ? "\n" : "", "") - (column < 80);
        column += fprintf(stderr, " %.*s", size, text);
    }
    fputc('\n', stderr);
}

void
bench_rows_list(void)
{
    for (size_t row = 0; row < BENCH_ROW_COUNT; row++)
        print_row((enum bench_row)row);
}
