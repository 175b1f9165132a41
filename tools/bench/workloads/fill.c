/*
 * fill.c -- `kv-bench fill`: makes a key-value table, extends it or writes it anew, and tells what
 * that costs: rates, latencies, bytes written for each byte given, how writers were held up, and
 * what is left when the background work has ended.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/driver.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/harness/util.h"
#include "tools/bench/keys/dataset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB       1048576.0
#define MOST_RUNS 1024

struct settings {
    const char *directory, *order, *messages;
    uint64_t cells, threads, families, seed;
    size_t value_bytes, key_bytes, memory, write_buffer, cache;
    double rate, delete_share, every;
    bool overwrite, no_compaction, no_log_mapping;
};

/* A fill that runs. */
struct fill {
    const struct settings *settings;
    petal_db *db;
    struct bench_dataset dataset;
    const struct bench_pass *pass; /* the one at hand */
    struct bench_process process_before;
    double began;                /* of writing */
    uint64_t writes, given;      /* and bytes of keys and values; of deletions keys */
    struct bench_histogram *all; /* of the passes before the one at hand */
    /* Of the progress printed last. */
    double last_time;
    struct bench_histogram *last;
};

/* What a thread holds. */
struct hand {
    const struct fill *fill;
    uint8_t *value;
    char key[BENCH_MOST_KEY_BYTES];
};

/* ---- the library's messages ---- */

static void
write_message(void *context, enum petal_log_level level, const char *line)
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

/* Runs of the table; a family is known by the first bytes of its name, which is short. */
struct runs {
    struct {
        char family[8];
        uint64_t number;
    } runs[MOST_RUNS];
    size_t count, most; /* of a family */
};

static bool
count_run(void *argument, const petal_file_info *file)
{
    struct runs *runs = argument;
    char family[sizeof runs->runs->family] = "";
    size_t of_family = 1;

    memcpy(family, file->family.data,
           file->family.size < sizeof family ? file->family.size : sizeof family);
    for (size_t i = 0; i < runs->count; i++) {
        if (memcmp(runs->runs[i].family, family, sizeof family) != 0)
            continue;
        if (runs->runs[i].number == file->run)
            return true;
        of_family++;
    }
    if (runs->count == MOST_RUNS)
        return false;
    memcpy(runs->runs[runs->count].family, family, sizeof family);
    runs->runs[runs->count++].number = file->run;
    runs->most = of_family > runs->most ? of_family : runs->most;
    return true;
}

/* The greatest number of runs that a family has. */
static size_t
most_runs(const struct fill *fill)
{
    struct runs runs = {.count = 0};
    petal_error error;

    bench_check(petal_table_files(fill->dataset.table, count_run, &runs, &error), &error,
                "list store files");
    return runs.most;
}

/* `so_far`: of the pass at hand. */
static void
print_progress(void *argument, const struct bench_histogram *so_far)
{
    struct fill *fill = argument;
    double now = bench_now(), elapsed = now - fill->last_time;
    struct bench_histogram *all = bench_alloc(sizeof *all), *since = bench_alloc(sizeof *since);
    struct bench_process process;
    petal_stats stats;

    bench_histogram_merge(all, fill->all);
    bench_histogram_merge(all, so_far);
    bench_histogram_merge(since, all);
    bench_histogram_subtract(since, fill->last);
    bench_process_get(&process);
    petal_stats_get(fill->db, &stats);
    printf("%7.1f s %11" PRIu64
           " done %9.0f/s  p99 %8.3f ms  max %8.3f ms  runs %2zu  flushing %" PRIu64
           "  compacting %" PRIu64 "  memtables %.1f MiB  resident %.1f MiB\n",
           now - fill->began, bench_histogram_total(all),
           (double)bench_histogram_total(since) / elapsed, ms(bench_histogram_share(since, 0.99)),
           ms(bench_histogram_greatest(since)), most_runs(fill), stats.flushes_waiting,
           stats.compactions_running, (double)stats.memtable_memory / MIB,
           (double)process.resident / MIB);
    fflush(stdout);
    free(fill->last);
    free(since);
    fill->last = all;
    fill->last_time = now;
}

static void
print_latencies(const struct fill *fill)
{
    const struct bench_histogram *all = fill->all;

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
    double given = (double)fill->given;
    struct bench_process process;
    petal_stats stats;

    petal_stats_get(fill->db, &stats);
    bench_process_get(&process);
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
    printf("  runs: %zu; disk: %.1f MiB; background failures: %" PRIu64 "\n", most_runs(fill),
           (double)bench_disk_bytes(fill->settings->directory) / MIB, stats.background_failures);
    printf(
        "  memory: resident %.1f MiB, at most %.1f; limit %.1f, memtables %.1f, files %.1f MiB\n",
        (double)process.resident / MIB, (double)process.resident_peak / MIB,
        (double)stats.memory_limit / MIB, (double)stats.memtable_memory / MIB,
        (double)stats.file_memory / MIB);
    printf("  processor: %.1f s in the program, %.1f s in the kernel\n",
           process.user_seconds - fill->process_before.user_seconds,
           process.system_seconds - fill->process_before.system_seconds);
}

/* ---- filling ---- */

static void *
begin(void *argument, unsigned index)
{
    const struct fill *fill = argument;
    struct hand *hand = bench_alloc(sizeof *hand);

    (void)index;
    hand->fill = fill;
    hand->value = bench_alloc(fill->dataset.value_bytes + 1);
    return hand;
}

static void
end(void *own)
{
    free(((struct hand *)own)->value);
    free(own);
}

/* A pass that makes cells deletes some behind their put; one that overwrites does it instead. */
static uint64_t
write_cell(struct bench_worker *worker, uint64_t position)
{
    struct hand *hand = worker->own;
    const struct bench_dataset *dataset = &hand->fill->dataset;
    const struct bench_pass *pass = hand->fill->pass;
    uint64_t number = bench_pass_number(pass, position);
    bool deletes = pass->delete_share > 0 && bench_pass_deletes(pass, number);
    bool puts = !deletes || !pass->overwrite;
    petal_family *family = bench_dataset_family(dataset, number);
    petal_slice key = {hand->key, dataset->key_bytes}, none = {NULL, 0};
    petal_slice value = {hand->value, dataset->value_bytes};
    petal_error error;

    bench_dataset_key(dataset, number, false, hand->key);
    if (puts) {
        bench_dataset_value(dataset, pass, number, hand->value);
        bench_check(petal_put(family, key, none, PETAL_LATEST, value, NULL, &error), &error, "put");
        worker->given += key.size + value.size;
    }
    if (deletes) {
        bench_check(
            petal_delete(family, key, none, PETAL_LATEST, PETAL_DELETE_COLUMN, NULL, &error),
            &error, "delete");
        worker->given += key.size;
    }
    return (uint64_t)puts + deletes;
}

static void
run_pass(struct fill *fill, struct bench_pass *pass)
{
    const struct settings *settings = fill->settings;
    struct bench_driven *driven = bench_alloc(sizeof *driven);
    const struct bench_drive drive = {.argument = fill,
                                      .threads = (unsigned)settings->threads,
                                      .operations = pass->cells,
                                      .rate = settings->rate,
                                      .kinds = 1,
                                      .sample = 1,
                                      .begin = begin,
                                      .end = end,
                                      .operate = write_cell,
                                      .every = settings->every,
                                      .progress = print_progress};

    pass->index = fill->dataset.pass_count;
    bench_dataset_record(&fill->dataset, pass);
    fill->pass = pass;
    bench_drive_run(&drive, driven);
    pass->complete = true;
    bench_dataset_record(&fill->dataset, pass);
    bench_histogram_merge(fill->all, &driven->latencies[0]);
    fill->given += driven->given;
    fill->writes += driven->counts[0];
    free(driven);
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
                             .memtable_bytes = settings->write_buffer,
                             .cache_bytes = settings->cache,
                             .no_compaction = settings->no_compaction,
                             .no_log_mapping = settings->no_log_mapping,
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
}

static void
run_fill(const struct settings *settings)
{
    struct fill fill = {.settings = settings,
                        .all = bench_alloc(sizeof *fill.all),
                        .last = bench_alloc(sizeof *fill.last)};
    struct bench_histogram *none = bench_alloc(sizeof *none);
    petal_env env = {.log = write_message};
    petal_error error;
    char heading[64];
    double seconds, idle;

    if (settings->messages != NULL) {
        env.log_context = fopen(settings->messages, "a");
        if (env.log_context == NULL)
            bench_fail("write", settings->messages);
        setvbuf(env.log_context, NULL, _IOLBF, BUFSIZ);
    }
    open_fill(&fill, settings->messages != NULL ? &env : NULL);
    printf("%s %" PRIu64 " cells in %s order, %zu + %zu bytes, %" PRIu64
           " threads, %zu families, seed %" PRIu64 "; %" PRIu64 " cells before\n",
           settings->overwrite ? "overwriting" : "making", settings->cells, settings->order,
           fill.dataset.key_bytes, fill.dataset.value_bytes, settings->threads,
           fill.dataset.family_count, fill.dataset.seed, fill.dataset.count);
    bench_process_get(&fill.process_before);
    fill.began = fill.last_time = bench_now();
    run_passes(&fill);
    seconds = bench_now() - fill.began;
    print_progress(&fill, none);
    printf("%.0f writes a second over %.1f s\n", (double)fill.writes / seconds, seconds);
    print_latencies(&fill);
    print_cost(&fill, "when the last was written");
    idle = bench_now();
    bench_check(petal_wait_idle(fill.db, &error), &error, "wait for the background");
    snprintf(heading, sizeof heading, "settled, %.1f s later", bench_now() - idle);
    print_cost(&fill, heading);
    bench_dataset_free(&fill.dataset);
    free(fill.all);
    free(fill.last);
    free(none);
    bench_check(petal_close(fill.db, &error), &error, "close");
    if (env.log_context != NULL)
        fclose(env.log_context);
}

static void
usage(void)
{
    fputs("usage: kv-bench fill --db DIR --cells N [options]\n"
          "Makes a table of Petal, extends it or writes it anew.  Options, with their\n"
          "defaults:\n"
          "  --order ORDER          random, sequential; random\n"
          "  --threads N            1\n"
          "  --key-size BYTES, --value-size BYTES, --families N, --seed N\n"
          "                         16, 100, 1, 1; those of the first fill of DIR hold\n"
          "  --overwrite            cells that are there; else new ones\n"
          "  --delete-share X       of what it writes, it deletes; 0\n"
          "  --rate N               writes a second, on a schedule; as many as possible\n"
          "  --write-buffer BYTES, --cache BYTES\n"
          "                         64M each\n"
          "  --memory BYTES         the limit of both together, which are shares of it then\n"
          "  --no-compaction, --no-log-mapping\n"
          "  --every SECONDS        between lines of progress; 5\n"
          "  --messages FILE        what Petal says of its background work\n",
          stderr);
}

static bool
settings_are_right(const struct settings *settings)
{
    return !bench_refused(settings->directory == NULL, "--db is needed") &&
           !bench_refused(settings->cells == 0 || settings->cells > 100000000000,
                          "--cells is a number from 1 to 100G") &&
           !bench_refused(settings->threads == 0 || settings->threads > BENCH_MOST_THREADS,
                          "--threads is a number from 1 to 256") &&
           !bench_refused(settings->families == 0 || settings->families > BENCH_MOST_FAMILIES,
                          "--families is a number from 1 to 16") &&
           !bench_refused(settings->key_bytes < 12 || settings->key_bytes > BENCH_MOST_KEY_BYTES,
                          "--key-size is from 12 to 1K") &&
           !bench_refused(settings->value_bytes > PETAL_MAX_VALUE_BYTES,
                          "--value-size is up to 10M") &&
           !bench_refused(!(settings->rate >= 0), "--rate is a number from 0 on") &&
           !bench_refused(!(settings->every > 0), "--every is a number above 0") &&
           !bench_refused(!(settings->delete_share >= 0 && settings->delete_share <= 1),
                          "--delete-share is a number from 0 to 1") &&
           !bench_refused(strcmp(settings->order, "random") != 0 &&
                              strcmp(settings->order, "sequential") != 0,
                          "--order is random or sequential");
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
        {"--value-size", BENCH_BYTES, &settings.value_bytes},
        {"--key-size", BENCH_BYTES, &settings.key_bytes},
        {"--order", BENCH_TEXT, &settings.order},
        {"--memory", BENCH_BYTES, &settings.memory},
        {"--write-buffer", BENCH_BYTES, &settings.write_buffer},
        {"--cache", BENCH_BYTES, &settings.cache},
        {"--rate", BENCH_NUMBER, &settings.rate},
        {"--overwrite", BENCH_FLAG, &settings.overwrite},
        {"--no-compaction", BENCH_FLAG, &settings.no_compaction},
        {"--no-log-mapping", BENCH_FLAG, &settings.no_log_mapping},
        {"--delete-share", BENCH_NUMBER, &settings.delete_share},
        {"--families", BENCH_COUNT, &settings.families},
        {"--every", BENCH_NUMBER, &settings.every},
        {"--messages", BENCH_TEXT, &settings.messages},
        {"--seed", BENCH_COUNT, &settings.seed},
    };

    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv))
        return bench_options_explain(usage);
    if (!settings_are_right(&settings))
        return 2;
    if (settings.memory == 0 && settings.write_buffer == 0)
        settings.write_buffer = BENCH_DATASET_MEMORY;
    if (settings.memory == 0 && settings.cache == 0)
        settings.cache = BENCH_DATASET_MEMORY;
    run_fill(&settings);
    return 0;
}
