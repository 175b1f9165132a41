/* outcome.c -- see tools/bench/results/outcome.h. */
#include "tools/bench/results/outcome.h"

#include <inttypes.h>
#include <string.h>

#define MIB 1048576.0

/* ---- measuring ---- */

static double
cpu_seconds(const struct bench_process *process)
{
    return process->user_seconds + process->system_seconds;
}

void
bench_meter_begin(struct bench_meter *meter)
{
    struct bench_process process;

    bench_process_reset_peak();
    bench_process_get(&process);
    meter->cpu_seconds = cpu_seconds(&process);
    bench_io_get(&meter->io);
}

void
bench_meter_end(const struct bench_meter *meter, struct bench_usage *usage)
{
    struct bench_process process;
    struct bench_io io;

    bench_io_get(&io);
    bench_process_get(&process);
    usage->io = (struct bench_io){.written = io.written - meter->io.written,
                                  .read = io.read - meter->io.read,
                                  .device_written = io.device_written - meter->io.device_written,
                                  .device_read = io.device_read - meter->io.device_read};
    usage->cpu_seconds = cpu_seconds(&process) - meter->cpu_seconds;
    usage->peak_bytes = process.resident_peak;
}

void
bench_part_set(struct bench_part *part, const char *operation, uint64_t count,
               const struct bench_histogram *latencies)
{
    *part = (struct bench_part){.count = count, .timed = latencies != NULL};
    snprintf(part->operation, sizeof part->operation, "%s", operation);
    if (latencies == NULL)
        return;
    part->p50_us = (double)bench_histogram_share(latencies, 0.5) / 1e3;
    part->p99_us = (double)bench_histogram_share(latencies, 0.99) / 1e3;
    part->p999_us = (double)bench_histogram_share(latencies, 0.999) / 1e3;
    part->max_us = (double)bench_histogram_greatest(latencies) / 1e3;
}

struct bench_outcome *
bench_tally_add(struct bench_tally *tally, const char *workload, unsigned threads)
{
    struct bench_outcome *outcome = &tally->outcomes[tally->outcome_count];

    if (tally->outcome_count == BENCH_MOST_WORKLOADS)
        bench_fail("run the workloads", "too many of them");
    *outcome = (struct bench_outcome){.threads = threads};
    snprintf(outcome->workload, sizeof outcome->workload, "%s", workload);
    tally->outcome_count++;
    return outcome;
}

void
bench_tally_add_usage(struct bench_tally *tally, const struct bench_outcome *outcome)
{
    tally->given += outcome->given;
    if (outcome->usage.peak_bytes > tally->usage.peak_bytes)
        tally->usage.peak_bytes = outcome->usage.peak_bytes;
}

struct bench_tally *
bench_report_add(struct bench_report *report, const struct bench_store *store,
                 const struct bench_config *config)
{
    struct bench_tally *tally = &report->tallies[report->tally_count++];

    *tally = (struct bench_tally){0};
    snprintf(tally->name, sizeof tally->name, "%s", store->name);
    store->describe(config, tally->describe, sizeof tally->describe);
    return tally;
}

uint64_t
bench_report_wrong(const struct bench_report *report)
{
    uint64_t wrong = 0;

    for (size_t i = 0; i < report->tally_count; i++) {
        for (size_t j = 0; j < report->tallies[i].outcome_count; j++)
            wrong += report->tallies[i].outcomes[j].wrong;
    }
    return wrong;
}

/* ---- showing ---- */

void
bench_outcome_heading(void)
{
    printf("p50, p99, p99.9, max: latencies in microseconds; cpu: seconds\n"
           "written, read: MiB by calls or at the device, what is more (of mapped files: at it)\n"
           "w.amp, r.amp: bytes written and read per byte of keys and values given and answered\n"
           "s.amp: bytes on the disk, preallocated logs included, per byte that is there\n"
           "peak: MiB of resident memory, pages of mapped files included\n"
           "%-16s %3s %10s %10s %9s %9s %9s %9s %10s %6s %10s %6s %6s %7s %7s  %s\n",
           "workload", "thr", "operations", "per second", "p50", "p99", "p99.9", "max", "written",
           "w.amp", "read", "r.amp", "s.amp", "peak", "cpu", "found");
}

static void
print_latencies(const struct bench_part *part)
{
    if (!part->timed || part->count == 0)
        printf(" %9s %9s %9s %9s", "-", "-", "-", "-");
    else
        printf(" %9.2f %9.2f %9.2f %9.0f", part->p50_us, part->p99_us, part->p999_us, part->max_us);
}

static void
print_share(uint64_t bytes, uint64_t of)
{
    if (of == 0)
        printf(" %6s", "-");
    else
        printf(" %6.2f", (double)bytes / (double)of);
}

static void
print_usage(const struct bench_usage *usage, uint64_t given, uint64_t answered, uint64_t disk,
            uint64_t live)
{
    printf(" %10.1f", (double)bench_io_written(&usage->io) / MIB);
    print_share(bench_io_written(&usage->io), given);
    printf(" %10.1f", (double)bench_io_read(&usage->io) / MIB);
    print_share(bench_io_read(&usage->io), answered);
    print_share(disk, live);
    printf(" %7.1f %7.2f", (double)usage->peak_bytes / MIB, usage->cpu_seconds);
}

void
bench_outcome_print(const struct bench_outcome *outcome)
{
    if (outcome->skipped) {
        printf("%-16s %3s there is no such thing in this store\n", outcome->workload, "-");
        return;
    }
    printf("%-16s %3u %10" PRIu64 " %10.0f", outcome->workload, outcome->threads,
           outcome->all.count, (double)outcome->all.count / outcome->seconds);
    print_latencies(&outcome->all);
    print_usage(&outcome->usage, outcome->given, outcome->answered, outcome->disk_bytes,
                outcome->live_bytes);
    if (outcome->answered > 0 || outcome->found > 0)
        printf("  %" PRIu64, outcome->found);
    if (outcome->wrong > 0)
        printf("  WRONG: %" PRIu64, outcome->wrong);
    putchar('\n');
    for (size_t i = 0; i < outcome->part_count; i++) {
        const struct bench_part *part = &outcome->parts[i];

        printf("  %-18s %10" PRIu64 " %10.0f", part->operation, part->count,
               (double)part->count / outcome->seconds);
        print_latencies(part);
        putchar('\n');
    }
    fflush(stdout);
}

static void
print_tally(const struct bench_tally *tally)
{
    printf("%-82s", "from opening to closing");
    print_usage(&tally->usage, tally->given, 0, tally->disk_bytes, tally->live_bytes);
    printf("\n\n");
    fflush(stdout);
}

void
bench_tally_end(struct bench_tally *tally, const struct bench_meter *meter, uint64_t disk_bytes,
                uint64_t live_bytes)
{
    uint64_t peak = tally->usage.peak_bytes;

    bench_meter_end(meter, &tally->usage);
    if (tally->usage.peak_bytes < peak)
        tally->usage.peak_bytes = peak;
    tally->disk_bytes = disk_bytes;
    tally->live_bytes = live_bytes;
    print_tally(tally);
}
