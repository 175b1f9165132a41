/* watch.c -- see tools/bench/grow/watch.h. */
#include "tools/bench/grow/watch.h"

#include "tools/bench/harness/process.h"
#include "tools/bench/harness/util.h"

#include <inttypes.h>
#include <string.h>

#define SAMPLE_NANOSECONDS 10000000

struct files {
    uint64_t bytes, count;
};

static bool
add_file(void *argument, const petal_file_info *file)
{
    struct files *files = argument;

    files->bytes += file->file_bytes;
    files->count++;
    return true;
}

uint64_t
grow_file_bytes(petal_table *table, uint64_t *count)
{
    struct files files = {0};

    BENCH_MUST("list the store files", petal_table_files(table, add_file, &files, &error));
    if (count != NULL)
        *count = files.count;
    return files.bytes;
}

void
grow_watch_init(struct grow_watch *watch, const char *directory)
{
    *watch = (struct grow_watch){.directory = directory};
    pthread_mutex_init(&watch->lock, NULL);
}

/* ---- log lines ---- */

static bool
read_job(const char *line, uint64_t *bytes, uint64_t *ms)
{
    const char *output = strstr(line, " cells out, "), *time = strrchr(line, ';');

    return strstr(line, " compaction, ") != NULL && output != NULL && time != NULL &&
           sscanf(output, " cells out, %" SCNu64 " bytes in", bytes) == 1 &&
           sscanf(time, "; %" SCNu64 " ms", ms) == 1;
}

void
grow_watch_log(void *context, enum petal_log_level level, const char *line)
{
    struct grow_watch *watch = context;
    uint64_t bytes, ms;

    if (level != PETAL_LOG_INFO)
        fprintf(stderr, "kv-bench: petal: %s\n", line);
    if (!read_job(line, &bytes, &ms))
        return;
    pthread_mutex_lock(&watch->lock);
    if (bytes > watch->job_bytes)
        watch->job_bytes = bytes;
    if (ms > watch->job_ms)
        watch->job_ms = ms;
    pthread_mutex_unlock(&watch->lock);
}

/* ---- samples ---- */

static void *
take_samples(void *argument)
{
    const struct timespec pause = {.tv_nsec = SAMPLE_NANOSECONDS};
    struct grow_watch *watch = argument;

    while (!atomic_load(&watch->stopped)) {
        uint64_t data = grow_file_bytes(watch->table, NULL);
        uint64_t disk = bench_disk_bytes(watch->directory);

        if (disk > data && disk - data > watch->most_beyond)
            watch->most_beyond = disk - data;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void
grow_watch_start(struct grow_watch *watch, petal_table *table)
{
    watch->table = table;
    if (pthread_create(&watch->thread, NULL, take_samples, watch) != 0)
        bench_fail("start a thread", "no resources");
}

void
grow_watch_stop(struct grow_watch *watch)
{
    atomic_store(&watch->stopped, true);
    pthread_join(watch->thread, NULL);
}
