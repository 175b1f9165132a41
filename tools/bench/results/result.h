/*
 * result.h -- what kv-bench measured: series of named values.
 *
 * The room results: what was measured: kept, written, read, printed and compared.
 *
 * A series is what one operation came to in one store, with blocks of one size, a number of
 * threads, under one setting: of each metric one value a repeat. The repeats of all series of a run
 * are interleaved, so that value i of one series belongs to value i of another: ratios are taken
 * within repeats.
 *
 *   write amplification   bytes written to files / bytes of keys and values given
 *   read amplification    bytes read from files / bytes of keys and values answered
 *   space amplification   what the directory takes on the disk / bytes of what is there
 *
 * Bytes written and read: those of calls or those of the device, what is more
 * (tools/bench/harness/process.h); background work counts where it falls.
 *
 * Threads: a result belongs to one thread.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_RESULT_H
#define PETAL_TOOLS_BENCH_RESULTS_RESULT_H

#include "tools/bench/harness/driver.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/others.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/results/repeats.h"

#define BENCH_NAME_BYTES  48
#define BENCH_MOST_SERIES 4096
#define BENCH_SUBJECT     "petal" /* the store that the others are compared with */

/* Name, as files have it. Latencies are of single operations. */
#define BENCH_METRICS(X)                                                                           \
    X(PER_SECOND, "per_second")                                                                    \
    X(PER_UNIT, "per_unit")                                                                        \
    X(P50, "p50_us")                                                                               \
    X(P99, "p99_us")                                                                               \
    X(P999, "p999_us")                                                                             \
    X(MAX, "max_us")                                                                               \
    X(CPU_EACH, "cpu_us_per_operation")                                                            \
    X(OPERATIONS, "operations")                                                                    \
    X(SECONDS, "seconds")                                                                          \
    X(FOUND, "found")                                                                              \
    X(WRONG, "wrong")                                                                              \
    X(GIVEN, "given_bytes")                                                                        \
    X(ANSWERED, "answered_bytes")                                                                  \
    X(WRITTEN, "written_bytes")                                                                    \
    X(DEVICE_WRITTEN, "device_written_bytes")                                                      \
    X(READ, "read_bytes")                                                                          \
    X(DEVICE_READ, "device_read_bytes")                                                            \
    X(DISK, "disk_bytes")                                                                          \
    X(LIVE, "live_bytes")                                                                          \
    X(WRITE_AMPLIFICATION, "write_amplification")                                                  \
    X(READ_AMPLIFICATION, "read_amplification")                                                    \
    X(SPACE_AMPLIFICATION, "space_amplification")                                                  \
    X(PEAK, "peak_memory_bytes") /* resident, pages of mapped files included */                    \
    X(CPU, "cpu_seconds")                                                                          \
    X(BUSY, "busy_cpu_seconds")       /* of all processes, others' too, */                         \
    X(MACHINE, "machine_cpu_seconds") /* of what all processors had to give */

enum bench_metric {
#define BENCH_METRIC(name, text) BENCH_##name,
    BENCH_METRICS(BENCH_METRIC)
#undef BENCH_METRIC
        BENCH_METRIC_COUNT
};

struct bench_name {
    char operation[BENCH_NAME_BYTES], store[BENCH_NAME_BYTES];
    char setting[BENCH_NAME_BYTES]; /* what else tells series apart; "": nothing */
    uint64_t block_bytes;           /* 0: as the store has it */
    unsigned threads;
};

/* Of one repeat. It holds no pointers: stores' processes share it with the one that prints
 * (tools/bench/harness/child.h). */
struct bench_outcome {
    struct bench_name name;
    double values[BENCH_METRIC_COUNT]; /* NAN: not measured */
};

struct bench_series {
    struct bench_name name;
    size_t count; /* repeats */
    double values[BENCH_METRIC_COUNT][BENCH_MOST_REPEATS];
};

/* All zero: empty. */
struct bench_result {
    struct bench_series *series; /* in the order in which they came */
    size_t count, capacity;
};

/* ---- measuring ---- */

/* Usage since `begin`; memory's peak begins anew with it, where the kernel lets us. */
struct bench_meter {
    struct bench_io io;
    struct bench_machine machine;
};
void bench_meter_begin(struct bench_meter *meter);

/* A new outcome with nothing measured. */
void bench_outcome_init(struct bench_outcome *outcome, const char *operation, const char *store,
                        unsigned threads);

/* Set rate, operations, seconds; NULL: latencies were not taken. */
void bench_outcome_set_rate(struct bench_outcome *outcome, uint64_t operations, double seconds,
                            const struct bench_histogram *latencies);

/* Set what was used since; and, by what is set already or given here, the amplifications. */
void bench_outcome_set_usage(struct bench_outcome *outcome, const struct bench_meter *meter,
                             uint64_t disk_bytes, uint64_t live_bytes);

/* What a unit of Petal's work cost, counted, under that setting. */
struct bench_outcome bench_outcome_of_count(const char *operation, const char *setting,
                                            double per_unit);

/* ---- results ---- */

/* A new series, empty; NULL: there are BENCH_MOST_SERIES. */
struct bench_series *bench_result_append(struct bench_result *result,
                                         const struct bench_name *name);

/* Add a repeat to the series of that name, a new one if there is none; what is more than
 * BENCH_MOST_REPEATS of a series or BENCH_MOST_SERIES is dropped, and the answer false. */
bool bench_result_add(struct bench_result *result, const struct bench_outcome *outcome);

/* But for the store. */
bool bench_is_same_operation(const struct bench_name *a, const struct bench_name *b);

/* NULL: there is none. */
const struct bench_series *bench_result_find(const struct bench_result *result,
                                             const struct bench_name *name);
void bench_result_free(struct bench_result *result);

/* The median of its repeats; NAN: not measured. */
double bench_series_median(const struct bench_series *series, enum bench_metric metric);

/* What diff compares: rates, or counts. */
enum bench_metric bench_series_measure(const struct bench_series *series);

/* What a unit of Petal's work took, in time or as a count, divided by what one of the other's did,
 * within repeats: below 1 Petal is ahead. REQUIRES: both have the other's measure. */
struct bench_spread bench_series_ratio(const struct bench_series *petal,
                                       const struct bench_series *other);

/* The processor time that the machine had while this operation was measured, in all stores and
 * repeats, as far as others' is known; and the share of it that others took, NAN: not known. The
 * store of the name does not count. */
double bench_result_seconds(const struct bench_result *result, const struct bench_name *name);
double bench_result_others(const struct bench_result *result, const struct bench_name *name);

#endif
