/*
 * rows.h -- the rows of `kv-bench compare`: what is measured of each store, and in which state of
 * process, caches and files.
 *
 * A store goes through stages, each in a process of its own on the files that the stage before left
 * behind: so the first reads of a process are those, and what one stage warmed the next finds cold.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_ROWS_H
#define PETAL_TOOLS_BENCH_WORKLOADS_ROWS_H

#include "tools/bench/workloads/job.h"

#define BENCH_VALUE_BYTES 100

enum bench_row {
    BENCH_ROW_FILL,
    BENCH_ROW_BYTES,
    BENCH_ROW_FIRST_SCAN,
    BENCH_ROW_COLD_HIT,
    BENCH_ROW_COLD_ABSENT,
    BENCH_ROW_FIRST_ABSENT,
    BENCH_ROW_FIRST_HIT,
    BENCH_ROW_HIT,
    BENCH_ROW_ABSENT,
    BENCH_ROW_MULTI_GET,
    BENCH_ROW_SEEK,
    BENCH_ROW_SCAN,
    BENCH_ROW_SMALL_CACHE,
    BENCH_ROW_PUT_WRITE,
    BENCH_ROW_PUT_SYNCED,
    BENCH_ROW_COUNT
};

/* How much of it, on how many threads. */
struct bench_rows {
    uint64_t wanted; /* 1 << enum bench_row each */
    uint64_t pairs, gets, synced_puts;
    struct bench_list threads;
    uint64_t seed;
};

/* Those that a list with commas names, "all" is all; false, with words to bench_complain, when
 * there is no such row. */
bool bench_rows_named(const char *list, uint64_t *wanted);

/* The row that an operation is of, and what people call it; both are constant texts. */
void bench_rows_name(const char *operation, const char **row, const char **words);

/* Name, words and meaning of each, on stderr. */
void bench_rows_list(void);

/* Bytes of the cache of the small-cache row: a tenth of keys and values. */
size_t bench_rows_small_cache(const struct bench_rows *rows);

/* How many stages there are; and the work of stage job->stage, by the plan's settings, a struct
 * bench_rows. */
unsigned bench_rows_stages(const struct bench_rows *rows);
void bench_rows_work(struct bench_job *job);

#endif
