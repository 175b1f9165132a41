/*
 * watch.h -- what statistics do not have of a database at work: the disk space beyond its data,
 * sampled, and the largest and the longest piece of work of a compaction, from its log lines.
 *
 * Beyond the data is all in the directory but the store files of the table: the log, outputs that
 * are not committed yet, files that are replaced and not removed yet, the manifest. Nothing is
 * written twice here, so the store files together are the data.
 *
 * Threads: a watch has one that takes the samples; grow_watch_log may be called by any.
 */
#ifndef PETAL_TOOLS_BENCH_GROW_WATCH_H
#define PETAL_TOOLS_BENCH_GROW_WATCH_H

#include "engine/petal.h"

#include <pthread.h>
#include <stdatomic.h>

struct grow_watch {
    const char *directory;
    petal_table *table;
    pthread_t thread;
    atomic_bool stopped;
    uint64_t most_beyond; /* bytes; read after grow_watch_stop */

    pthread_mutex_t lock; /* guards what follows */
    uint64_t job_bytes, job_ms;
};

/* Before the database is opened: from then on its log lines may come. */
void grow_watch_init(struct grow_watch *watch, const char *directory);

/* For petal_env; `watch` is the context. A compaction has a line for each part that it commits. */
void grow_watch_log(void *watch, enum petal_log_level level, const char *line);

/* Take samples of the table's database until grow_watch_stop. */
void grow_watch_start(struct grow_watch *watch, petal_table *table);
void grow_watch_stop(struct grow_watch *watch);

/* What the table's store files take, and their number; `count` may be NULL. */
uint64_t grow_file_bytes(petal_table *table, uint64_t *count);

#endif
