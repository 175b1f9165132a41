/*
 * outcome.h -- what a workload came to: rates, latencies, bytes moved and kept, memory, processor time; as lines for people and as JSON.
 *
 * A report lies in memory that the stores' processes share with the one that prints (tools/bench/harness/child.h): so it holds no pointers.
 *
 *   write amplification   bytes written to files / bytes of keys and values given
 *   read amplification    bytes read from files / bytes of keys and values answered
 *   space amplification   what the directory takes on the disk / bytes of the keys and values that are there
 *
 * Bytes written and read: those of calls or those of the device, what is more (tools/bench/harness/process.h); background work counts where it falls.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_OUTCOME_H
#define PETAL_TOOLS_BENCH_RESULTS_OUTCOME_H

#include "tools/bench/harness/histogram.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/stores/store.h"

#include <jansson.h>

#define BENCH_MOST_WORKLOADS 64
#define BENCH_MOST_PARTS     4

/* Latencies of one kind of operation. */
struct bench_part {
    char operation[24];
    uint64_t count;
    bool timed; /* else what follows is 0 */
    double p50_us, p99_us, p999_us, max_us;
};

/* What a process used and moved. */
struct bench_usage {
    struct bench_io io;
    double cpu_seconds;
    uint64_t peak_bytes; /* of resident memory, pages of mapped files included */
};

struct bench_outcome {
    char workload[24];
    bool skipped; /* the engine has no such thing */
    unsigned threads;
    double seconds;
    struct bench_part all;
    struct bench_part parts[BENCH_MOST_PARTS]; /* where there are several kinds */
    size_t part_count;
    uint64_t found, wrong;    /* answers: with a value; other than they should be */
    uint64_t given, answered; /* bytes of keys and values, of deletions keys */
    struct bench_usage usage;
    uint64_t disk_bytes, live_bytes; /* behind it */
};

/* All that one store did. */
struct bench_tally {
    char name[24];
    char describe[512];
    uint64_t given;
    struct bench_usage usage; /* from opening to closing, both included */
    uint64_t disk_bytes, live_bytes;
    size_t outcome_count;
    struct bench_outcome outcomes[BENCH_MOST_WORKLOADS];
};

struct bench_report {
    size_t tally_count;
    struct bench_tally tallies[BENCH_MOST_STORES];
};

/* ---- measuring ---- */

/* Usage since `begin`; memory's peak begins anew with it, where the kernel lets us. */
struct bench_meter {
    struct bench_io io;
    double cpu_seconds;
};
void bench_meter_begin(struct bench_meter *meter);
void bench_meter_end(const struct bench_meter *meter, struct bench_usage *usage);

/* Latencies in nanoseconds; NULL: operations were not timed one by one. */
void bench_part_set(struct bench_part *part, const char *operation, uint64_t count,
                    const struct bench_histogram *latencies);

/* A new outcome of the tally, all zero but for its name; ends the program when there are too many. */
struct bench_outcome *bench_tally_add(struct bench_tally *tally, const char *workload,
                                      unsigned threads);

/* Add what the outcome gave and its peak of memory; and, at the end, print all that was used since the tally's own meter began. */
void bench_tally_add_usage(struct bench_tally *tally, const struct bench_outcome *outcome);
void bench_tally_end(struct bench_tally *tally, const struct bench_meter *meter,
                     uint64_t disk_bytes, uint64_t live_bytes);

/* A tally of the report for that store, with what the store says of itself. */
struct bench_tally *bench_report_add(struct bench_report *report, const struct bench_store *store,
                                     const struct bench_config *config);

/* ---- showing ---- */

/* The heading and what it means; a line for each outcome, below a store's name. */
void bench_outcome_heading(void);
void bench_outcome_print(const struct bench_outcome *outcome);

/* Answers that were other than they should be. */
uint64_t bench_report_wrong(const struct bench_report *report);

/*
 * Write `head` (tools/bench/harness/json.h), of kind "workloads", with the options as "settings", "stores" and "results"; ends the program when
 * that fails. `head` keeps its owner.
 */
void bench_report_write(const struct bench_report *report, json_t *head, const char *path,
                        const struct bench_option *options, size_t option_count);

#endif
