/*
 * bench_fill.c -- `kv-bench fill`: makes a key-value table, extends it or writes it anew, and tells what that costs: rates,
 * latencies, bytes written for each byte given, how writers were held up, and what is left when the background work has ended.
 */
#include "tools/bench_commands.h"
#include "tools/bench_options.h"
#include "tools/bench_process.h"
#include "tools/bench_runs.h"
#include "tools/bench_util.h"
#include "tools/bench_writers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB 1048576.0

struct settings {
    const char *directory, *order, *log;
    uint64_t cells, threads, families, seed;
    size_t value_bytes, key_bytes, memory, memtable, cache;
    double rate, delete_share, every;
    bool overwrite, no_compaction;
};

/* A fill that runs. */
struct fill {
    const struct settings *settings;
    petal_db *db;
    struct bench_dataset dataset;
    struct bench_writers writers;
    struct bench_process process_before;
    double began, seconds; /* of writing */
    /* of the progress printed last */
    double last_time;
    struct bench_histogram *last, *now, *difference;
};

/* ---- the library's log ---- */

static void
log_line(void *context, enum petal_log_level level, const char *line)
{
    static const char *const levels[] = {"", "info", "warning", "error"};
    struct timespec now;
    struct tm parts;
    char time[32];

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S", &parts);
    fprintf(context, "%s.%03ld %s: %s\n", time, now.tv_nsec / 1000000, levels[level & 3], line);
}

/* ---- what is printed ---- */

static double
ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void
print_progress(struct fill *fill)
{
    double now = bench_now(), elapsed = now - fill->last_time;
    struct bench_process process;
    struct bench_runs runs = {0};
    struct bench_histogram *swap = fill->last;
    petal_stats stats;

    memset(fill->now, 0, sizeof *fill->now);
    memset(fill->difference, 0, sizeof *fill->difference);
    bench_writers_latencies(&fill->writers, fill->now);
    bench_histogram_merge(fill->difference, fill->now);
    bench_histogram_subtract(fill->difference, fill->last);
    bench_process_get(&process);
    bench_runs_of_table(&runs, fill->dataset.table);
    petal_stats_get(fill->db, &stats);
    printf("%7.1f s %11" PRIu64
           " done %9.0f/s  p99 %8.3f ms  max %8.3f ms  runs %2zu  flushing %" PRIu64
           "  compacting %" PRIu64 "  memtables %.1f MiB  resident %.1f MiB\n",
           now - fill->began, bench_histogram_total(fill->now),
           (double)bench_histogram_total(fill->difference) / elapsed,
           ms(bench_histogram_share(fill->difference, 0.99)),
           ms(bench_histogram_greatest(fill->difference)), bench_runs_most(&runs),
           stats.flushes_waiting, stats.compactions_running, (double)stats.memtable_memory / MIB,
           (double)process.resident / MIB);
    fflush(stdout);
    free(runs.runs);
    fill->last = fill->now;
    fill->now = swap;
    fill->last_time = now;
}

static void
print_latencies(const struct fill *fill)
{
    const struct bench_histogram *all = fill->last;

    printf("latency of a write, %s:\n"
           "  p50 %.4f ms, p99 %.4f ms, p99.9 %.3f ms, max %.3f ms; above 10 ms: %" PRIu64
           ", above 100 ms: %" PRIu64 "\n",
           fill->settings->rate > 0 ? "from its time on the schedule" : "from its call",
           ms(bench_histogram_share(all, 0.5)), ms(bench_histogram_share(all, 0.99)),
           ms(bench_histogram_share(all, 0.999)), ms(bench_histogram_greatest(all)),
           bench_histogram_above(all, 10000000), bench_histogram_above(all, 100000000));
}

/* `heading`: at which moment. */
static void
print_cost(const struct fill *fill, const char *heading)
{
    double given = (double)bench_writers_bytes(&fill->writers);
    struct bench_runs runs = {0};
    struct bench_process process;
    petal_stats stats;

    petal_stats_get(fill->db, &stats);
    bench_process_get(&process);
    bench_runs_of_table(&runs, fill->dataset.table);
    printf("%s:\n", heading);
    printf("  written: %.1f MiB given; log %.1f, flushes %.1f (%" PRIu64
           "), compactions %.1f (%" PRIu64 ") MiB\n",
           given / MIB, (double)stats.log_bytes / MIB, (double)stats.flush_bytes / MIB,
           stats.flushes, (double)stats.compaction_bytes_out / MIB, stats.compactions);
    printf("  write amplification: %.2f with the log, %.2f in store files\n",
           (double)(stats.log_bytes + stats.flush_bytes + stats.compaction_bytes_out) / given,
           (double)(stats.flush_bytes + stats.compaction_bytes_out) / given);
    printf("  writers: %" PRIu64 " groups slowed for %.1f ms together, %" PRIu64
           " stopped for %.1f ms\n",
           stats.delayed_writes, (double)stats.delay_us / 1e3, stats.stopped_writes,
           (double)stats.stop_us / 1e3);
    printf("  runs: %zu; disk: %.1f MiB; background failures: %" PRIu64 "\n",
           bench_runs_most(&runs), (double)bench_disk_bytes(fill->settings->directory) / MIB,
           stats.background_failures);
    printf(
        "  memory: resident %.1f MiB, at most %.1f; limit %.1f, memtables %.1f, files %.1f MiB\n",
        (double)process.resident / MIB, (double)process.resident_peak / MIB,
        (double)stats.memory_limit / MIB, (double)stats.memtable_memory / MIB,
        (double)stats.file_memory / MIB);
    printf("  processor: %.1f s in the program, %.1f s in the kernel\n",
           process.user_seconds - fill->process_before.user_seconds,
           process.system_seconds - fill->process_before.system_seconds);
    free(runs.runs);
}

/* ---- filling ---- */

static void
run_pass(struct fill *fill, struct bench_pass *pass)
{
    struct timespec moment = {.tv_nsec = 20000000};

    pass->index = fill->dataset.pass_count;
    bench_dataset_record(&fill->dataset, pass);
    bench_writers_begin(&fill->writers, pass);
    while (bench_writers_running(&fill->writers)) {
        nanosleep(&moment, NULL);
        if (bench_now() - fill->last_time >= fill->settings->every)
            print_progress(fill);
    }
    bench_writers_join(&fill->writers);
    pass->complete = true;
    bench_dataset_record(&fill->dataset, pass);
}

/* New cells in one pass; overwriting in as many as there are times all. */
static void
run_passes(struct fill *fill)
{
    const struct settings *settings = fill->settings;
    uint64_t left = settings->cells;

    while (left > 0) {
        struct bench_pass pass = {.seed = fill->dataset.seed,
                                  .delete_share = settings->delete_share,
                                  .random_order = strcmp(settings->order, "random") == 0,
                                  .overwrite = settings->overwrite};

        pass.first = settings->overwrite ? 0 : fill->dataset.count;
        pass.range = settings->overwrite ? fill->dataset.count : left;
        pass.cells = left < pass.range ? left : pass.range;
        left -= pass.cells;
        run_pass(fill, &pass);
    }
}

static void
open_fill(struct fill *fill, petal_env *env)
{
    const struct settings *settings = fill->settings;
    petal_options options = {.create = true,
                             .memory_bytes = settings->memory,
                             .memtable_bytes = settings->memtable,
                             .cache_bytes = settings->cache,
                             .no_compaction = settings->no_compaction,
                             .env = env};
    petal_error error;

    bench_check(petal_open(settings->directory, &options, &fill->db, &error), &error, "open");
    fill->dataset = (struct bench_dataset){.seed = settings->seed,
                                           .key_bytes = settings->key_bytes,
                                           .value_bytes = settings->value_bytes,
                                           .family_count = (size_t)settings->families};
    bench_dataset_load_or_make(&fill->dataset, fill->db);
    if (settings->overwrite && fill->dataset.count == 0)
        bench_fail("overwrite", "no cells there");
    fill->last = bench_alloc(sizeof *fill->last);
    fill->now = bench_alloc(sizeof *fill->now);
    fill->difference = bench_alloc(sizeof *fill->difference);
}

static void
close_fill(struct fill *fill)
{
    petal_error error;

    bench_writers_free(&fill->writers);
    bench_dataset_free(&fill->dataset);
    free(fill->last);
    free(fill->now);
    free(fill->difference);
    bench_check(petal_close(fill->db, &error), &error, "close");
}

static void
run_fill(const struct settings *settings)
{
    struct fill fill = {.settings = settings};
    petal_env env = {.log = log_line};
    petal_error error;
    char heading[64];
    double idle;

    if (settings->log != NULL) {
        env.log_context = fopen(settings->log, "a");
        if (env.log_context == NULL)
            bench_fail("write", settings->log);
        setvbuf(env.log_context, NULL, _IOLBF, BUFSIZ);
    }
    open_fill(&fill, settings->log != NULL ? &env : NULL);
    printf("%s %" PRIu64 " cells in %s order, %zu + %zu bytes, %" PRIu64
           " threads, %zu families, seed %" PRIu64 "; %" PRIu64 " cells before\n",
           settings->overwrite ? "overwriting" : "making", settings->cells, settings->order,
           fill.dataset.key_bytes, fill.dataset.value_bytes, settings->threads,
           fill.dataset.family_count, fill.dataset.seed, fill.dataset.count);
    bench_process_get(&fill.process_before);
    bench_writers_init(&fill.writers, &fill.dataset, (unsigned)settings->threads, settings->rate);
    fill.began = fill.last_time = bench_now();
    run_passes(&fill);
    fill.seconds = bench_now() - fill.began;
    print_progress(&fill);
    printf("%.0f writes a second over %.1f s\n",
           (double)bench_histogram_total(fill.last) / fill.seconds, fill.seconds);
    print_latencies(&fill);
    print_cost(&fill, "when the last was written");
    idle = bench_now();
    bench_check(petal_wait_idle(fill.db, &error), &error, "wait for the background");
    snprintf(heading, sizeof heading, "settled, %.1f s later", bench_now() - idle);
    print_cost(&fill, heading);
    close_fill(&fill);
    if (env.log_context != NULL)
        fclose(env.log_context);
}

static int
usage(void)
{
    fputs("usage: kv-bench fill --db DIR --cells N [--threads T] [--order random|sequential]\n"
          "                     [--value-bytes 100] [--key-bytes 16] [--families 1] [--seed S]\n"
          "                     [--overwrite] [--delete-share X] [--rate OPERATIONS_PER_SECOND]\n"
          "                     [--memory BYTES] [--memtable BYTES] [--cache BYTES]\n"
          "                     [--no-compaction] [--every SECONDS] [--log FILE]\n"
          "sizes and seed are those of the first fill of DIR; 20k and 3M are counts, 64K and 1G "
          "bytes\n",
          stderr);
    return 2;
}

static bool
settings_are_right(const struct settings *settings)
{
    return settings->directory != NULL && settings->cells > 0 && settings->threads > 0 &&
           settings->threads <= 256 && settings->families > 0 &&
           settings->families <= BENCH_MOST_FAMILIES && settings->key_bytes >= 12 &&
           settings->key_bytes <= BENCH_MOST_KEY_BYTES && settings->rate >= 0 &&
           settings->every > 0 && settings->delete_share >= 0 && settings->delete_share <= 1 &&
           settings->value_bytes <= PETAL_MAX_VALUE_BYTES && settings->cells <= 100000000000 &&
           (strcmp(settings->order, "random") == 0 || strcmp(settings->order, "sequential") == 0);
}

int
bench_fill_main(int argc, char **argv)
{
    struct settings settings = {.order = "random",
                                .threads = 1,
                                .families = 1,
                                .seed = 1,
                                .value_bytes = 100,
                                .key_bytes = BENCH_KEY_BYTES,
                                .every = 5};
    const struct bench_option options[] = {
        {"--db", BENCH_TEXT, &settings.directory},
        {"--cells", BENCH_COUNT, &settings.cells},
        {"--threads", BENCH_COUNT, &settings.threads},
        {"--value-bytes", BENCH_BYTES, &settings.value_bytes},
        {"--key-bytes", BENCH_BYTES, &settings.key_bytes},
        {"--order", BENCH_TEXT, &settings.order},
        {"--memory", BENCH_BYTES, &settings.memory},
        {"--memtable", BENCH_BYTES, &settings.memtable},
        {"--cache", BENCH_BYTES, &settings.cache},
        {"--rate", BENCH_NUMBER, &settings.rate},
        {"--overwrite", BENCH_FLAG, &settings.overwrite},
        {"--no-compaction", BENCH_FLAG, &settings.no_compaction},
        {"--delete-share", BENCH_NUMBER, &settings.delete_share},
        {"--families", BENCH_COUNT, &settings.families},
        {"--every", BENCH_NUMBER, &settings.every},
        {"--log", BENCH_TEXT, &settings.log},
        {"--seed", BENCH_COUNT, &settings.seed},
    };

    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv) ||
        !settings_are_right(&settings))
        return usage();
    run_fill(&settings);
    return 0;
}
