/*
 * bench_quick.c -- `kv-bench quick`: the cost of single operations, Petal beside the rivals that were built in.
 *
 * Every store gets the same rows in the same order: 16-byte keys spread evenly over one range, values of 100 bytes
 * that compress to about half, everything cached. Rates come from loops without a clock in them; p50 and p99 from
 * every 16th operation, timed by itself (the clock costs some 40 ns, the same for all).
 */
#include "tools/bench_commands.h"
#include "tools/bench_store.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES  100
#define SAMPLE_EVERY 16
#define SEEK_STEPS   10

enum phase { PUT, FLUSH, GET_HIT, GET_ABSENT, SEEK, SCAN, PHASES };

static const char *const phase_names[PHASES] = {"put",        "flush",     "get hit",
                                                "get absent", "seek + 10", "scan"};

struct measurement {
    double per_second; /* operations; cells for flush and scan */
    double p50, p99;   /* microseconds; 0: not measured one by one */
};

struct settings {
    uint64_t rows, gets;
    struct bench_memory memory;
    unsigned repeats;
    const char *only; /* a store's name, or NULL */
};

/* One operation of a phase on key `number`. */
typedef void operation(const struct bench_store *store, void *handle, void *iterator,
                       uint64_t number);

static uint8_t sink[8];

static void
do_put(const struct bench_store *store, void *handle, void *iterator, uint64_t number)
{
    char key[BENCH_KEY_BYTES + 1];
    uint8_t value[VALUE_BYTES];

    (void)iterator;
    bench_key(key, number);
    bench_value(value, sizeof value, number);
    store->put(handle, (petal_slice){key, BENCH_KEY_BYTES}, (petal_slice){value, sizeof value});
}

static void
do_get(const struct bench_store *store, void *handle, void *iterator, uint64_t number)
{
    char key[BENCH_KEY_BYTES + 1];

    (void)iterator;
    bench_key(key, number);
    if (!store->get(handle, (petal_slice){key, BENCH_KEY_BYTES}, sink))
        bench_fail("get", "a key that was put is not there");
}

static void
do_get_absent(const struct bench_store *store, void *handle, void *iterator, uint64_t number)
{
    char key[BENCH_KEY_BYTES + 1];

    (void)iterator;
    bench_key(key, number | (uint64_t)1 << 40); /* in the same range, never put */
    if (store->get(handle, (petal_slice){key, BENCH_KEY_BYTES}, sink))
        bench_fail("get", "a key that was never put is there");
}

static void
do_seek(const struct bench_store *store, void *handle, void *iterator, uint64_t number)
{
    char key[BENCH_KEY_BYTES + 1];
    bool valid;

    (void)handle;
    bench_key(key, number);
    valid = store->seek(iterator, (petal_slice){key, BENCH_KEY_BYTES}, sink);
    for (int i = 1; valid && i < SEEK_STEPS; i++)
        valid = store->next(iterator, sink);
}

static struct measurement
run_operations(const struct bench_store *store, void *handle, operation *operate, uint64_t count,
               uint64_t rows, bool in_order)
{
    struct bench_random random = {7};
    struct bench_times times = {0};
    struct measurement measured;
    void *iterator = operate == do_seek ? store->iterate(handle) : NULL;
    double elapsed = 0;

    for (uint64_t done = 0; done < count;) {
        uint64_t batch = count - done < 4096 ? count - done : 4096;
        double began = bench_now();

        for (uint64_t i = 0; i < batch; i++, done++) {
            uint64_t number = in_order ? done : bench_random_below(&random, rows);

            if (done % SAMPLE_EVERY == 0) {
                double start = bench_now();

                operate(store, handle, iterator, number);
                bench_times_add(&times, bench_now() - start);
            } else {
                operate(store, handle, iterator, number);
            }
        }
        elapsed += bench_now() - began;
    }
    if (iterator != NULL)
        store->end_iterate(iterator);
    measured.per_second = (double)count / elapsed;
    measured.p50 = bench_times_share(&times, 0.5);
    measured.p99 = bench_times_share(&times, 0.99);
    bench_times_free(&times);
    return measured;
}

static struct measurement
run_scan(const struct bench_store *store, void *handle, uint64_t rows)
{
    void *iterator = store->iterate(handle);
    double began = bench_now();
    uint64_t count = 0;
    struct measurement measured = {0};

    for (bool valid = store->seek(iterator, (petal_slice){NULL, 0}, sink); valid;
         valid = store->next(iterator, sink))
        count++;
    measured.per_second = (double)count / (bench_now() - began);
    store->end_iterate(iterator);
    if (count != rows)
        bench_fail("scan", "the number of cells is not the number of rows put");
    return measured;
}

static void
run_store(const struct bench_store *store, const struct settings *settings,
          struct measurement measured[PHASES])
{
    char directory[512];
    void *handle;
    double began;

    bench_make_directory(directory, sizeof directory);
    handle = store->open(directory, &settings->memory);
    measured[PUT] = run_operations(store, handle, do_put, settings->rows, settings->rows, true);
    measured[FLUSH] = (struct measurement){0};
    if (store->flush != NULL) {
        began = bench_now();
        store->flush(handle);
        measured[FLUSH].per_second = (double)settings->rows / (bench_now() - began);
    }
    run_scan(store, handle, settings->rows); /* fills the cache */
    measured[GET_HIT] =
        run_operations(store, handle, do_get, settings->gets, settings->rows, false);
    measured[GET_ABSENT] =
        run_operations(store, handle, do_get_absent, settings->gets, settings->rows, false);
    measured[SEEK] =
        run_operations(store, handle, do_seek, settings->gets / 4, settings->rows, false);
    measured[SCAN] = run_scan(store, handle, settings->rows);
    store->close(handle);
    bench_remove_directory(directory);
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double
median(const struct measurement *runs, unsigned repeats, unsigned stride, size_t field)
{
    double values[64];

    for (unsigned i = 0; i < repeats; i++)
        memcpy(&values[i], (const char *)&runs[i * stride] + field, sizeof(double));
    qsort(values, repeats, sizeof *values, compare_doubles);
    return values[repeats / 2];
}

static void
print_report(const struct bench_store *const *stores, size_t count,
             const struct measurement *measured, const struct settings *settings)
{
    printf("%-12s %-10s %12s %10s %10s   %s\n", "operation", "store", "per second", "p50 us",
           "p99 us", "time of petal / time of this");
    for (int phase = 0; phase < PHASES; phase++) {
        double petal = 0;

        for (size_t s = 0; s < count; s++) {
            const struct measurement *runs = &measured[s * settings->repeats * PHASES] + phase;
            double rate =
                median(runs, settings->repeats, PHASES, offsetof(struct measurement, per_second));

            if (s == 0)
                petal = rate;
            printf("%-12s %-10s ", s == 0 ? phase_names[phase] : "", stores[s]->name);
            if (rate == 0) {
                printf("%12s\n", "-");
                continue;
            }
            printf("%12.0f %10.2f %10.2f", rate,
                   median(runs, settings->repeats, PHASES, offsetof(struct measurement, p50)),
                   median(runs, settings->repeats, PHASES, offsetof(struct measurement, p99)));
            if (s > 0 && petal > 0)
                printf("   %.2f", rate / petal);
            printf("\n");
        }
    }
}

static int
usage(void)
{
    fputs("usage: kv-bench quick [--rows N] [--gets N] [--repeats N] [--memtable MIB]\n"
          "                      [--only STORE]\n",
          stderr);
    return 2;
}

int
bench_quick_main(int argc, char **argv)
{
    struct settings settings = {
        .rows = 1000000,
        .gets = 1000000,
        .repeats = 3,
        .memory = {.cache_bytes = (size_t)1 << 30, .write_buffer_bytes = (size_t)512 << 20}};
    const struct bench_store *chosen[8];
    const struct bench_store *const *stores;
    struct measurement *measured;
    size_t count, used = 0;

    for (int i = 0; i < argc; i++) {
        if (i + 1 >= argc)
            return usage();
        if (strcmp(argv[i], "--rows") == 0)
            settings.rows = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--gets") == 0)
            settings.gets = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--repeats") == 0)
            settings.repeats = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--memtable") == 0)
            settings.memory.write_buffer_bytes = (size_t)strtoull(argv[++i], NULL, 10) << 20;
        else if (strcmp(argv[i], "--only") == 0)
            settings.only = argv[++i];
        else
            return usage();
    }
    if (settings.rows == 0 || settings.gets < 4 || settings.repeats == 0 || settings.repeats > 64)
        return usage();
    stores = bench_stores(&count);
    for (size_t i = 0; i < count; i++) {
        if (settings.only == NULL || strcmp(settings.only, stores[i]->name) == 0)
            chosen[used++] = stores[i];
    }
    if (used == 0)
        return usage();
    printf("%llu rows of %d + %d bytes, %llu gets, all cached, medians of %u interleaved runs;\n"
           "write buffers of %zu MiB (one sorted file where the rows fit)\n",
           (unsigned long long)settings.rows, BENCH_KEY_BYTES, VALUE_BYTES,
           (unsigned long long)settings.gets, settings.repeats,
           settings.memory.write_buffer_bytes >> 20);
    for (size_t i = 0; i < used; i++)
        printf("  %s: %s\n", chosen[i]->name, chosen[i]->settings);
    fflush(stdout);
    measured = bench_alloc(used * settings.repeats * PHASES * sizeof *measured);
    for (unsigned repeat = 0; repeat < settings.repeats; repeat++) {
        for (size_t s = 0; s < used; s++)
            run_store(chosen[s], &settings, &measured[(s * settings.repeats + repeat) * PHASES]);
    }
    print_report(chosen, used, measured, &settings);
    free(measured);
    return 0;
}
